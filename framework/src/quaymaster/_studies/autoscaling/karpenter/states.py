"""Reads the state of a simulated cluster for Karpenter.

A simulation begins at a fixed date, so objects of a dump may come from its future.
Their times are moved back by the difference between that date and the time of the dump;
if that is unknown, claims are new, and no pod has come or gone for long.
"""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import Final

import attrs
from msgspec.structs import replace

from quaymaster._api.objects import (
    CSINode,
    DaemonSet,
    Namespace,
    Node,
    PersistentVolume,
    PersistentVolumeClaim,
    Pod,
    PodDisruptionBudget,
    StorageClass,
    Time,
)
from quaymaster._api.objects.meta import ApiObject
from quaymaster._clusters.inmemory.cluster import InMemoryCluster
from quaymaster._studies.autoscaling.karpenter.cluster import ClusterState
from quaymaster._studies.autoscaling.karpenter.instance_types import InstanceType
from quaymaster._studies.autoscaling.karpenter.objects import (
    Condition,
    NodeClaim,
    NodeOverlay,
    NodePool,
)
from quaymaster._studies.autoscaling.karpenter.pods import DO_NOT_DISRUPT

__all__ = ["Calendar", "Past", "StateReader"]

_KINDS: Final = (
    NodePool,
    NodeClaim,
    NodeOverlay,
    Node,
    Pod,
    DaemonSet,
    PodDisruptionBudget,
    Namespace,
    PersistentVolume,
    PersistentVolumeClaim,
    StorageClass,
    CSINode,
)
_LONG_AGO: Final = Time(0.0)


@attrs.frozen
class Calendar:
    """The dates of a simulation.

    Attributes:
        start: When it begins on its own clock.
        real: When it begins on the calendar; None if that is unknown.
    """

    start: float
    real: float | None = None

    @property
    def offset(self) -> float:
        """How much later it is on the calendar."""
        return 0.0 if self.real is None else self.real - self.start

    def event(self, moment: Time | None) -> Time | None:
        """Return a time of an event, as the clock would have shown it."""
        if moment is None or moment <= self.start:
            return moment
        return _LONG_AGO if self.real is None else Time(moment - self.offset)

    def birth(self, moment: Time | None) -> Time:
        """Return when something was created, as the clock would have shown it."""
        if moment is None:
            return Time(self.start)
        if moment <= self.start or self.real is not None:
            return self.event(moment) or _LONG_AGO
        return Time(self.start)


class Past:
    """The times of objects of the input, on the clock of the simulation.

    Args:
        cluster: The cluster, in which claims get the times of that clock.
        calendar: The dates.
    """

    def __init__(self, cluster: InMemoryCluster, calendar: Calendar) -> None:
        self._calendar = calendar
        self._births = {
            claim.name: calendar.birth(claim.metadata.creation_timestamp)
            for claim in cluster.list(NodeClaim).items
        }
        self._starts = {
            pod.uid: calendar.event(pod.status.start_time)
            for pod in cluster.list(Pod).items
            if DO_NOT_DISRUPT in pod.annotations
        }
        for claim in cluster.list(NodeClaim).items:
            cluster.update(self._timed(claim))

    def _timed(self, claim: NodeClaim) -> NodeClaim:
        last = self._calendar.event(claim.status.last_pod_event_time)
        conditions = tuple(map(self._timed_condition, claim.status.conditions))
        status = replace(claim.status, conditions=conditions, last_pod_event_time=last)
        return replace(claim, status=status)

    def _timed_condition(self, condition: Condition) -> Condition:
        moment = self._calendar.event(condition.last_transition_time)
        return replace(condition, last_transition_time=moment)

    def birth(self, claim: NodeClaim) -> Time:
        """Return when a claim was created."""
        moment = claim.metadata.creation_timestamp or _LONG_AGO
        return self._births.get(claim.name, moment)

    def corrected(self, obj: ApiObject) -> ApiObject:
        """Return an object with its times on the clock of the simulation."""
        if isinstance(obj, NodeClaim) and obj.name in self._births:
            metadata = replace(obj.metadata, creation_timestamp=self.birth(obj))
            return replace(obj, metadata=metadata)
        if isinstance(obj, Pod) and obj.uid in self._starts:
            start = self._starts[obj.uid]
            return replace(obj, status=replace(obj.status, start_time=start))
        return obj


class StateReader:
    """Reads states.

    Args:
        cluster: The cluster.
        types: Returns the types of each pool.
        past: The times of objects of the input.
    """

    def __init__(
        self,
        cluster: InMemoryCluster,
        types: Callable[[float], Mapping[str, Sequence[InstanceType]]],
        past: Past,
    ) -> None:
        self._cluster = cluster
        self._types = types
        self._past = past
        self._last: ClusterState | None = None

    def state(
        self, marked: Collection[str], nominated: Mapping[str, float]
    ) -> ClusterState:
        """Return the state of the cluster now.

        Args:
            marked: The names of nodes that are about to go.
            nominated: Until when pods are expected on nodes, by name.
        """
        now = self._cluster.clock.now()
        self._last = ClusterState.from_objects(
            self._objects(),
            self._types(now),
            now=now,
            marked=marked,
            nominated=nominated,
            previous=self._last,
        )
        return self._last

    def _objects(self) -> Iterator[ApiObject]:
        for kind in _KINDS:
            for obj in self._cluster.list(kind).items:
                yield self._past.corrected(obj)
