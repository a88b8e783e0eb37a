"""A check: namespaces are kept apart, whatever the names and labels of objects."""

from typing import Final

import attrs
from msgspec.structs import replace

from quaymaster._api.objects import Pod
from quaymaster._authors.testing.contract.answers import shown
from quaymaster._authors.testing.contract.attempts import copies_of, place
from quaymaster._authors.testing.contract.bench import Bench
from quaymaster._authors.testing.contract.check import Check, fail
from quaymaster._authors.testing.contract.object_namespaces import ask_objects
from quaymaster._authors.testing.contract.reserving import (
    first_open_node,
    reserve_and_return,
)
from quaymaster._authors.testing.contract.small_cluster import SmallCluster
from quaymaster._authors.testing.contract.subject import Subject

__all__ = ["NAMESPACES"]

_ELSEWHERE: Final = "elsewhere"
_COPIES: Final = 4
"""The pods of each namespace: enough for plugins that hold back incomplete groups."""


@attrs.frozen
class _Outcome:
    """What an attempt does beside pods of another namespace.

    Attributes:
        gate: The answer of PreEnqueue, before the namespace has another pod.
        permit: The answer of Permit, beside pods like it in its namespace.
        is_resolved: Whether a pod of the other namespace waited, and no longer does.
    """

    gate: object = None
    permit: object = None
    is_resolved: bool = False


def _ask(subject: Subject, cluster: SmallCluster, _other: SmallCluster) -> None:
    if subject.has("permit"):
        for pod in cluster.pending:
            if pod.labels or pod.annotations:
                _ask_of(subject, cluster, pod)
    ask_objects(subject, cluster)


def _ask_of(subject: Subject, cluster: SmallCluster, pod: Pod) -> None:
    alike = copies_of(pod, 1, _ELSEWHERE)[0]
    beside = _outcome(subject, cluster, pod, alike)
    alone = _outcome(subject, cluster, pod, None)
    if (beside.gate, beside.permit) != (alone.gate, alone.permit):
        # Any pod may count, for example those that start on a node.
        control = _outcome(subject, cluster, pod, _without_marks(alike))
        for hook, actual, usual, expected in (
            ("pre_enqueue", beside.gate, control.gate, alone.gate),
            ("permit", beside.permit, control.permit, alone.permit),
        ):
            if actual != expected and usual == expected:
                text = f"{shown(actual)} beside a pod with the same labels and"
                text = f"{text} annotations in another namespace, expected"
                fail(hook, f"{text} {shown(expected)} as without it", pod, alike)
    if beside.is_resolved:
        control = _outcome(subject, cluster, _without_marks(pod), alike)
        if not control.is_resolved:
            text = "allows or rejects a waiting pod of another namespace that has the"
            fail("permit", f"{text} same labels and annotations", pod, alike)


def _outcome(
    subject: Subject, cluster: SmallCluster, pod: Pod, neighbour: Pod | None
) -> _Outcome:
    bench = Bench(subject, attrs.evolve(cluster, pending=(pod,)))
    if neighbour is not None:
        neighbours = copies_of(neighbour, _COPIES, _ELSEWHERE)
        for other in neighbours:
            bench.add(other)
        place(bench, neighbours[0])
    gate = bench.ask("pre_enqueue", pod) if subject.has("pre_enqueue") else None
    for other in copies_of(pod, _COPIES - 1):
        bench.add(other)
    has_waited, node_name = len(bench.room.pods), first_open_node(bench, pod)
    if not node_name:
        return _Outcome(gate)
    results = reserve_and_return(bench, pod, node_name)
    bench.room.settle()
    return _Outcome(gate, results.get("permit"), len(bench.room.pods) < has_waited)


def _without_marks(pod: Pod) -> Pod:
    return replace(pod, metadata=replace(pod.metadata, labels={}, annotations={}))


NAMESPACES: Final = Check(
    name="namespaces",
    promise="decisions relate no pods and objects of different namespaces",
    ask=_ask,
    hooks=frozenset({"pre_enqueue", "pre_filter", "filter", "score", "permit"}),
)
