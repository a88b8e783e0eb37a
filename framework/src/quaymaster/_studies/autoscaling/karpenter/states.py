"""Reads the state of a simulated cluster for Karpenter.

A simulation begins at a fixed date, so objects of a dump may come from its future.
Their times are moved back by the difference between that date and the time of the dump;
if that is unknown, claims are new, and no pod has come or gone for long.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
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
from quaymaster._core.contract.cluster import Watch, WatchEvent, WatchEventType
from quaymaster._studies.autoscaling.karpenter.bound_pods import BoundPods
from quaymaster._studies.autoscaling.karpenter.cluster import ClusterState
from quaymaster._studies.autoscaling.karpenter.instance_types import InstanceType
from quaymaster._studies.autoscaling.karpenter.machine_states import MachineStates
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
        self._clock = cluster.clock
        self._types = types
        self._past = past
        self._last: ClusterState | None = None
        version = cluster.resource_version
        # A cluster of thousands of pods is read some times a minute, and few of them
        # have changed.
        self._objects: dict[type[ApiObject], dict[str, ApiObject]] = {
            kind: {obj.key: past.corrected(obj) for obj in cluster.list(kind).items}
            for kind in _KINDS
        }
        self._watches: Mapping[type[ApiObject], Watch[ApiObject]] = {
            kind: cluster.watch(kind, version, _ignore) for kind in _KINDS
        }
        pods = self._objects[Pod].values()
        self._bound = BoundPods(pod for pod in pods if isinstance(pod, Pod))
        self._machines = MachineStates(self._bound)
        for kind in (Node, NodeClaim):
            for obj in self._objects[kind].values():
                self._put(obj)

    def state(
        self, marked: Collection[str], nominated: Mapping[str, float]
    ) -> ClusterState:
        """Return the state of the cluster now.

        Args:
            marked: The names of nodes that are about to go.
            nominated: Until when pods are expected on nodes, by name.
        """
        for kind in _KINDS:
            self._catch_up(kind)
        now = self._clock.now()
        self._last = ClusterState(
            objects=self._objects.copy(),
            nodes=self._machines.read(frozenset(marked), nominated),
            unbound_pods=self._bound.unbound(),
            instance_types=self._types(now),
            now=now,
            latest={} if self._last is None else self._last.latest,
        )
        return self._last

    def pods_on(self, node: str) -> Sequence[Pod]:
        """Return the pods on a node that have not ended."""
        self._catch_up(Pod)
        return self._bound.on(node)

    def unbound_pods(self) -> Sequence[Pod]:
        """Return the pods without a node."""
        self._catch_up(Pod)
        return self._bound.unbound()

    def close(self) -> None:
        """End its watches."""
        for watch in self._watches.values():
            watch.stop()

    def _catch_up(self, kind: type[ApiObject]) -> None:
        changes = self._watches[kind].take()
        if changes:
            self._apply(kind, changes)

    def _apply(
        self, kind: type[ApiObject], changes: Sequence[WatchEvent[ApiObject]]
    ) -> None:
        # Earlier states keep the objects that they have.
        objects = self._objects[kind] = self._objects[kind].copy()
        for change in changes:
            key = change.object.key
            if change.type is WatchEventType.DELETED:
                objects.pop(key, None)
                self._drop(kind, key)
            else:
                obj = objects[key] = self._past.corrected(change.object)
                self._put(obj)

    def _put(self, obj: ApiObject) -> None:
        if isinstance(obj, Pod):
            self._bound.put(obj)
        elif isinstance(obj, Node):
            self._machines.put_node(obj)
        elif isinstance(obj, NodeClaim):
            self._machines.put_claim(obj)

    def _drop(self, kind: type[ApiObject], key: str) -> None:
        if kind is Pod:
            self._bound.drop(key)
        elif kind is Node:
            self._machines.drop_node(key)
        elif kind is NodeClaim:
            self._machines.drop_claim(key)


def _ignore() -> None:
    """Do nothing: changes are read when a state is."""
