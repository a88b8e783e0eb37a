"""A check: Unreserve leaves the objects that a bound pod needs."""

from collections.abc import Sequence
from typing import Final

from quaymaster._api.objects import ApiObject, Pod
from quaymaster._authors.testing.contract.bench import Bench
from quaymaster._authors.testing.contract.binding_runs import (
    begin,
    content_of,
    open_nodes,
)
from quaymaster._authors.testing.contract.check import Check, fail
from quaymaster._authors.testing.contract.small_cluster import SmallCluster
from quaymaster._authors.testing.contract.subject import Subject
from quaymaster._core.contract.results import PreBindWait
from quaymaster._core.contract.status import Status
from quaymaster._core.registry.access import writes_of_plugin

__all__ = ["BOUND_PODS"]


def _ask(subject: Subject, cluster: SmallCluster, _other: SmallCluster) -> None:
    for pod in cluster.pending:
        nodes = open_nodes(Bench(subject, cluster), pod)
        if nodes:
            _ask_pod(subject, cluster, pod, nodes[0])


def _ask_pod(subject: Subject, cluster: SmallCluster, pod: Pod, node_name: str) -> None:
    """Compare what Unreserve leaves of a bound pod with what PostBind leaves."""
    left: dict[str, dict[tuple[type, str], ApiObject | None]] = {}
    written: Sequence[ApiObject] = ()
    for hook in ("post_bind", "unreserve"):
        bench = Bench(subject, cluster)
        run = begin(bench, pod, node_name)
        if run is None:
            return
        answer = run.pre_bind()
        if isinstance(answer, Status) or not run.written:
            return
        if isinstance(answer, PreBindWait):
            answer.check()
        written = run.written
        run.bind()
        run.end(hook)
        left[hook] = {
            (type(obj), obj.key): content_of(bench.stored(obj)) for obj in written
        }
    for obj in written:
        place = type(obj), obj.key
        expected, actual = left["post_bind"][place], left["unreserve"][place]
        if actual == expected or expected != content_of(obj):
            continue
        verb = "deletes" if actual is None else "changes"
        text = (
            f"{verb} {obj.kind} '{obj.key}', which pre_bind has written for a pod that "
            "is bound: if the answer to a bind was lost, unreserve is called although "
            "the pod has its node, so look it up with handle.informers.get before you "
            "undo anything"
        )
        fail("unreserve", text, pod, obj)


BOUND_PODS: Final = Check(
    name="bound pods",
    promise="unreserve leaves the objects that a bound pod needs",
    ask=_ask,
    hooks=frozenset({"unreserve"}),
    only_for=lambda plugin: bool(writes_of_plugin(plugin)),
)
