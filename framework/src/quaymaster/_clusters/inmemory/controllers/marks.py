"""The objects that controllers will sync, and which of them comes next."""

from collections.abc import Callable
from typing import Final

from quaymaster._api.objects import ApiObject, HorizontalPodAutoscaler, ReplicaSet
from quaymaster._api.objects.keda import ScaledObject
from quaymaster._clusters.inmemory.controllers.ownership import OwnerId

__all__ = ["Marks"]

_SCALERS: Final = (HorizontalPodAutoscaler, ScaledObject)
"""Autoscalers of workloads, which are synced before the workloads."""


class Marks:
    """A queue of objects, each of which is in it at most once.

    Autoscalers go first, so that a new workload begins with its size. ReplicaSets are
    next, so that pods are created in the order of their Deployments.

    Args:
        wake: Called after each addition.
    """

    __slots__ = ("_others", "_replica_sets", "_scalers", "_wake")

    def __init__(self, wake: Callable[[], None]) -> None:
        self._wake = wake
        # Dictionaries serve as ordered sets.
        self._scalers: dict[OwnerId, None] = {}
        self._replica_sets: dict[OwnerId, None] = {}
        self._others: dict[OwnerId, None] = {}

    def add(self, kind: type[ApiObject], key: str) -> None:
        """Mark an object; one that is marked already keeps its place."""
        if kind is ReplicaSet:
            marks = self._replica_sets
        elif kind in _SCALERS:
            marks = self._scalers
        else:
            marks = self._others
        marks[OwnerId(kind, key)] = None
        self._wake()

    def pop(self) -> OwnerId | None:
        """Remove and return the next object, or None."""
        # Scalers, sets, then the others: the order is part of what a simulation
        # reproduces.
        marks = self._scalers or self._replica_sets or self._others
        if not marks:
            return None
        identity = next(iter(marks))
        del marks[identity]
        return identity
