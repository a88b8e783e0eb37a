"""A check: pods that another plugin rejects are not tried again without a pause."""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from functools import wraps
from typing import Final

from msgspec.structs import replace

from quaymaster._api.objects import Pod
from quaymaster._authors.testing.contract.attempts import copies_of
from quaymaster._authors.testing.contract.check import Check, fail
from quaymaster._authors.testing.contract.replacing import replacing
from quaymaster._authors.testing.contract.small_cluster import SmallCluster
from quaymaster._authors.testing.contract.subject import Subject
from quaymaster._authors.testing.profile_config import profile_config
from quaymaster._authors.testing.scheduler_harness import SchedulerHarness
from quaymaster._base.errors import EndlessLoopError, QuaymasterError
from quaymaster._core.contract.handle import Handle
from quaymaster._core.contract.hook_marks import hookimpl
from quaymaster._core.contract.queueing import QueuedPodInfo
from quaymaster._core.contract.status import Status
from quaymaster._core.engine.handle import EngineHandle

__all__ = ["ENDLESS_ATTEMPTS"]

_MOST_RUNS: Final = 16
"""The runs of all clusters in which pods are tried; each has its own scheduler."""
_SIZES: Final = (2, 3)
"""The pods of a run, which may be a group."""
_SECONDS: Final = (1, 10, 60)
_REJECTED: Final = "contract.quaymaster/rejected"
"""The annotation of the pod that the other plugin rejects."""


class OrderOfTheContract:
    """Sorts pods by their priority, and by the time at which they were queued."""

    def __init__(self, args: object, handle: object) -> None:
        pass

    @hookimpl
    def queue_sort(self, queued: QueuedPodInfo) -> tuple[int, float]:
        return -queued.pod.priority, queued.timestamp


class BinderOfTheContract:
    """Binds pods."""

    def __init__(self, _args: object, handle: Handle) -> None:
        self._handle = handle

    @hookimpl
    def bind(self, pod: Pod) -> None:
        self._handle.cluster.bind(pod, pod.node_name)


class RejectionsOfTheContract:
    """Rejects some pods in Reserve, each time."""

    def __init__(self, args: object, handle: object) -> None:
        pass

    @hookimpl
    def reserve(self, pod: Pod) -> Status | None:
        is_rejected = _REJECTED in pod.annotations
        return (
            Status.unschedulable("rejected by another plugin") if is_rejected else None
        )


def _ask(subject: Subject, cluster: SmallCluster, _other: SmallCluster) -> None:
    for pod in cluster.pending:
        for size in _SIZES:
            if subject.exercised[_WHAT] >= _MOST_RUNS:
                return
            *pods, last = copies_of(pod, size)
            pods.append(_annotated(last))
            _run(subject, cluster, pods)


def _annotated(pod: Pod) -> Pod:
    annotations = {**pod.annotations, _REJECTED: "yes"}
    return replace(pod, metadata=replace(pod.metadata, annotations=annotations))


def _run(subject: Subject, cluster: SmallCluster, pods: Sequence[Pod]) -> None:
    """Schedule pods of which another plugin rejects the last one.

    Raises:
        Finding: One of them is tried again and again at one moment.
    """
    try:
        harness = _harness(subject, cluster, pods)
    except QuaymasterError:
        return  # no API server accepts the objects, or another check reports it
    calls = Counter[str]()
    try:
        with harness, _counting(calls):
            for seconds in _SECONDS:
                harness.advance(seconds)
        subject.exercised[_WHAT] += bool(harness.attempts)
    except EndlessLoopError:
        if not calls:
            return  # events of the cluster do it
        text = (
            f"pod '{harness.attempts[-1]}' and others are tried again and again at one "
            f"moment, because another plugin rejects pod '{pods[-1].key}' in Reserve: "
            f"{_REMEDY}"
        )
        fail("", text, pods, cluster.nodes)
    except QuaymasterError:
        return  # another check reports failures


@contextmanager
def _counting(calls: Counter[str]) -> Iterator[None]:
    """Count in the block the calls by which plugins have pods tried again.

    Args:
        calls: Gets the names of the methods.
    """
    with ExitStack() as stack:
        for name in _REQUEUEING:
            counted = _counted(vars(EngineHandle)[name], calls)
            stack.enter_context(replacing(EngineHandle, name, counted))
        yield


def _counted(own: Callable[..., object], calls: Counter[str]) -> Callable[..., object]:
    @wraps(own)
    def call(*args: object, **options: object) -> object:
        calls[own.__name__] += 1
        return own(*args, **options)

    return call


def _harness(
    subject: Subject, cluster: SmallCluster, pods: Sequence[Pod]
) -> SchedulerHarness:
    """Return a scheduler of the plugin under test, without the usual plugins."""
    companions = [
        companion
        for hook, companion in (
            ("queue_sort", OrderOfTheContract),
            ("bind", BinderOfTheContract),
            ("", RejectionsOfTheContract),
        )
        if not hook or not subject.has(hook)
    ]
    plugins = [subject.plugin, *companions]
    config = profile_config(
        enable=[plugin.__name__ for plugin in plugins],
        disable=["*"],
        args={} if subject.args is None else {subject.plugin: subject.args},
    )
    return SchedulerHarness(
        [*cluster.objects, *cluster.nodes, *cluster.pods, *pods],
        plugins={plugin.__name__: plugin for plugin in plugins},
        config=config,
        kubernetes=subject.kubernetes,
    )


_REQUEUEING: Final = ("activate", "changed", "waiting_pod", "waiting_pods")
"""The methods of handles by which plugins have pods tried again."""
_WHAT: Final = "schedulers with a plugin that rejects a pod"
_REMEDY: Final = (
    "Handle.activate and pods_to_activate skip the backoff, also of a pod that is in "
    "its attempt or waits on Permit, as soon as it is rejected. Activate only pods "
    "that neither wait nor are the pod itself, once for a group, and none from "
    "unreserve"
)
ENDLESS_ATTEMPTS: Final = Check(
    name="endless attempts",
    promise="pods that another plugin rejects are tried again with pauses",
    ask=_ask,
    hooks=frozenset({"reserve", "permit", "unreserve", "post_bind", "post_filter"}),
)
