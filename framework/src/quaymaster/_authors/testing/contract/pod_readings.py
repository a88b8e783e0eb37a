"""Finds plugins that read no pods apart from the one that they decide about."""

from contextlib import ExitStack
from typing import Final

from quaymaster._api.objects import Pod
from quaymaster._authors.testing.contract.answers import Answers, answers
from quaymaster._authors.testing.contract.bench import Bench
from quaymaster._authors.testing.contract.replacing import replacing
from quaymaster._authors.testing.contract.small_cluster import SmallCluster
from quaymaster._authors.testing.contract.subject import Subject
from quaymaster._authors.testing.fixed_objects import FixedObjects
from quaymaster._core.contract.declarations import PodUse
from quaymaster._core.engine.handle import EngineHandle
from quaymaster._core.state.node_info import NodeInfo

__all__ = ["answers_and_reads", "may_read_pods"]

_OF_NODES: Final = (
    "generation",
    "non_zero_memory",
    "non_zero_milli_cpu",
    "pods",
    "requested",
    "usage_of",
    "used_ports",
)
"""The attributes of `NodeInfo` that depend on its pods."""
_OF_HANDLES: Final = (
    "nominated_pods",
    "pod_groups",
    "shared",
    "snapshot",
    "trial",
    "waiting_pod",
    "waiting_pods",
)
_OF_INFORMERS: Final = ("changes", "get", "index", "list", "on_change")
_OF_CONSTRUCTORS: Final = frozenset((*_OF_HANDLES, "index", "on_change"))
"""What only a plugin uses while a bench is built."""
_HOOKS: Final = ("reserve", "permit", "add_pod", "remove_pod", "post_bind")
"""A plugin with one of these may remember pods."""


def may_read_pods(subject: Subject) -> bool:
    """Return whether a plugin may read pods where `answers_and_reads` sees nothing."""
    if subject.pod_use is PodUse.NONE:
        return False
    has_table = subject.has("pre_filter") and "nodes" in subject.parameters(
        "pre_filter"
    )
    return has_table or any(map(subject.has, _HOOKS))


def answers_and_reads(
    subject: Subject, cluster: SmallCluster, pod: Pod
) -> tuple[Answers, bool]:
    """Return the answers of a new instance, and whether it has read other pods."""
    reads: list[str] = []
    with ExitStack() as stack:
        for replaced in (
            *(replacing(NodeInfo, name, _slot(name, reads)) for name in _OF_NODES),
            *(replacing(EngineHandle, name, _of(name, reads)) for name in _OF_HANDLES),
            *(
                replacing(FixedObjects, name, _of_informers(name, reads))
                for name in _OF_INFORMERS
            ),
        ):
            stack.enter_context(replaced)
        bench = Bench(subject, cluster)
        reads[:] = [name for name in reads if name in _OF_CONSTRUCTORS]
        actual = answers(bench, pod)
    return actual, bool(reads)


def _slot(name: str, reads: list[str]) -> property:
    """Return an attribute of nodes that notes its reads."""
    slot = vars(NodeInfo)[name]

    def read(info: NodeInfo) -> object:
        reads.append(name)
        value: object = slot.__get__(info)
        return value

    return property(read, slot.__set__)


def _of(name: str, reads: list[str]) -> object:
    """Return an attribute of handles that notes its uses."""
    own = vars(EngineHandle)[name]
    if isinstance(own, property):

        def read(handle: EngineHandle) -> object:
            reads.append(name)
            value: object = own.__get__(handle)
            return value

        return property(read)

    def call(handle: EngineHandle, *args: object, **options: object) -> object:
        reads.append(name)
        answer: object = own(handle, *args, **options)
        return answer

    return call


def _of_informers(name: str, reads: list[str]) -> object:
    """Return a method of informers that notes its calls about pods."""
    own = vars(FixedObjects)[name]

    def call(
        informers: FixedObjects, kind: type, *args: object, **options: object
    ) -> object:
        if kind is Pod:
            reads.append(name)
        answer: object = own(informers, kind, *args, **options)
        return answer

    return call
