"""The orders of ``--sort-by``."""

from collections.abc import Callable, Mapping
from enum import StrEnum
from typing import Final, TypeAlias

import attrs

from quaymaster._base.natural_order import natural_key
from quaymaster._studies.simulation.results import (
    Placement,
    SimulationResult,
    UnscheduledPod,
)

__all__ = ["SortKey"]

_Pod: TypeAlias = Placement | UnscheduledPod
_Key: TypeAlias = Callable[[_Pod], tuple[object, ...]]


class SortKey(StrEnum):
    """The keys of ``--sort-by``; pods with equal keys keep their order."""

    TIME = "time"
    """The time of binding, which is the order of the placements."""

    POD = "pod"
    NAME = "name"
    NODE = "node"
    SCHEDULER = "scheduler"
    CREATED = "created"
    FINISHED = "finished"
    ATTEMPTS = "attempts"

    def sorted(self, result: SimulationResult) -> SimulationResult:
        """The result with its pods in this order."""
        if self is SortKey.TIME:
            return result
        key = _KEYS[self]
        return attrs.evolve(
            result,
            placements=tuple(sorted(result.placements, key=key)),
            unscheduled=tuple(sorted(result.unscheduled, key=key)),
        )


def _pod(pod: _Pod) -> tuple[object, ...]:
    return natural_key(pod.pod)


def _name(pod: _Pod) -> tuple[object, ...]:
    return natural_key(pod.pod.rpartition("/")[2])


def _node(pod: _Pod) -> tuple[object, ...]:
    return natural_key(pod.node) if isinstance(pod, Placement) else ()


def _finished(pod: _Pod) -> tuple[object, ...]:
    end = pod.finished if isinstance(pod, Placement) else None
    return (end is None, end or 0.0)


_KEYS: Final[Mapping[SortKey, _Key]] = {
    SortKey.POD: _pod,
    SortKey.NAME: _name,
    SortKey.NODE: _node,
    SortKey.SCHEDULER: lambda pod: (pod.scheduler,),
    SortKey.CREATED: lambda pod: (pod.created,),
    SortKey.FINISHED: _finished,
    SortKey.ATTEMPTS: lambda pod: (pod.attempts,),
}
