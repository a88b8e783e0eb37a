"""The order in which a workload deletes its surplus pods.

Mirrors ``ActivePodsWithRanks`` in ``pkg/controller/controller_utils.go`` (Kubernetes
v1.37), without the count of restarts: containers never restart here.
"""

import math
from collections.abc import Mapping, Sequence
from functools import cmp_to_key
from typing import Final

import attrs

from quaymaster._api.objects import Pod
from quaymaster._clusters.inmemory.controllers.pods import is_ready

__all__ = ["deletion_order"]

_NANOS: Final = 10**9
_COST: Final = "controller.kubernetes.io/pod-deletion-cost"
_PHASES: Final = {"Pending": 0, "Unknown": 1, "Running": 2}


@attrs.frozen
class _Candidate:
    """A pod with what its order depends on.

    Attributes:
        pod: The pod.
        rank: What is compared first; a smaller one is deleted first.
        ready_since: When it became ready, or None.
        created: When it was created.
    """

    pod: Pod
    rank: tuple[bool, int, bool, int, int]
    ready_since: float | None
    created: float


def deletion_order(
    pods: Sequence[Pod], now: float, crowds: Mapping[str, int] | None = None
) -> list[Pod]:
    """Sort the pods of a workload in the order of their deletion.

    Unassigned before assigned, pending before running, not ready before ready, cheap
    ones first, those of crowded nodes first, those that became ready or were created
    last first. Ages are compared by their order of magnitude, and then by uid.

    Args:
        pods: The pods.
        now: The time.
        crowds: How many active pods of related workloads each node has; None if that
            does not matter.
    """
    candidates = [_candidate(pod, crowds or {}) for pod in pods]

    def compare(left: _Candidate, right: _Candidate) -> int:
        if left.rank != right.rank:
            return -1 if left.rank < right.rank else 1
        return _compare_times(left, right, now)

    return [candidate.pod for candidate in sorted(candidates, key=cmp_to_key(compare))]


def _candidate(pod: Pod, crowds: Mapping[str, int]) -> _Candidate:
    ready = is_ready(pod)
    rank = (
        bool(pod.node_name),
        _PHASES.get(pod.status.phase, 0),
        ready,
        _deletion_cost(pod),
        -crowds.get(pod.node_name, 0),
    )
    since = _ready_since(pod) if ready else None
    return _Candidate(pod, rank, since, pod.metadata.creation_timestamp or 0.0)


def _compare_times(left: _Candidate, right: _Candidate, now: float) -> int:
    times = ((left.ready_since, right.ready_since), (left.created, right.created))
    for first, second in times:
        if first is not None and second is not None and first != second:
            difference = _magnitude(now - first) - _magnitude(now - second)
            return difference or _compare_uids(left.pod, right.pod)
    return _compare_uids(left.pod, right.pod)


def _compare_uids(left: Pod, right: Pod) -> int:
    return -1 if left.metadata.uid < right.metadata.uid else 1


def _ready_since(pod: Pod) -> float:
    for condition in pod.status.conditions:
        if condition.type == "Ready" and condition.status == "True":
            return condition.last_transition_time or 0.0
    return 0.0


def _deletion_cost(pod: Pod) -> int:
    try:
        return int(pod.metadata.annotations.get(_COST) or 0)
    except ValueError:
        return 0


def _magnitude(age_seconds: float) -> int:
    # ``logarithmicRankDiff``: ages are equal if they have the same power of two in
    # nanoseconds. Of pods with about the same age any may go, by their uids. Always
    # taking the newest could empty the zone that got its pods last.
    nanos = age_seconds * _NANOS
    return -1 if nanos < 1 else int(math.log2(nanos))
