"""The state of a cluster as Karpenter sees it.

Mirrors ``pkg/controllers/state/cluster.go`` (sigs.k8s.io/karpenter v1.15).
"""

import functools
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, TypeVar

import attrs

from quaymaster._api.objects import DaemonSet, Node, Pod, PodDisruptionBudget
from quaymaster._api.objects.meta import ApiObject
from quaymaster._studies.autoscaling.karpenter.amounts import Amounts, added
from quaymaster._studies.autoscaling.karpenter.bound_pods import BoundPods
from quaymaster._studies.autoscaling.karpenter.disruption_limits import (
    DisruptionLimits,
)
from quaymaster._studies.autoscaling.karpenter.instance_types import InstanceType
from quaymaster._studies.autoscaling.karpenter.listed_nodes import ListedNodes
from quaymaster._studies.autoscaling.karpenter.machine_states import MachineStates
from quaymaster._studies.autoscaling.karpenter.node_groups import (
    NodeGroups,
    groups_of,
)
from quaymaster._studies.autoscaling.karpenter.objects import NodeClaim, NodePool
from quaymaster._studies.autoscaling.karpenter.state_node import StateNode

__all__ = ["ClusterState", "StateNode"]

ObjT = TypeVar("ObjT", bound=ApiObject)


@attrs.frozen(kw_only=True, eq=False)
class ClusterState:
    """Everything that Karpenter looks at.

    Attributes:
        objects: The objects of the cluster, by their class and key.
        nodes: The machines.
        unbound_pods: The pods without a node.
        instance_types: What the cloud offers to each pool.
        now: The time, in seconds since the epoch.
    """

    objects: Mapping[type[ApiObject], Mapping[str, ApiObject]]
    nodes: ListedNodes
    unbound_pods: Sequence[Pod]
    instance_types: Mapping[str, Sequence[InstanceType]]
    now: float
    cache: dict[object, Any] = attrs.field(factory=dict, repr=False)
    """Facts about this state that several solves share."""
    latest: dict[object, Any] = attrs.field(factory=dict, repr=False)
    """Facts about this or an earlier state, which all states share."""

    @classmethod
    def from_objects(
        cls,
        objects: Iterable[ApiObject],
        instance_types: Mapping[str, Sequence[InstanceType]] | Sequence[InstanceType],
        *,
        now: float,
        marked: Iterable[str] = (),
        nominated: Mapping[str, float] | None = None,
        previous: "ClusterState | None" = None,
    ) -> "ClusterState":
        """Make the state of a cluster.

        Args:
            objects: Its objects, in the order of the API server.
            instance_types: What the cloud offers: by pool, or the same to all pools.
            now: The time, in seconds since the epoch.
            marked: Names of the nodes that a disruption is about to delete.
            nominated: Until when pods are expected on nodes, by name.
            previous: An earlier state of the cluster, whose facts about nodes that
                have not changed are used again.
        """
        by_kind: dict[type[ApiObject], dict[str, ApiObject]] = defaultdict(dict)
        for each in objects:
            by_kind[type(each)][each.key] = each
        if not isinstance(instance_types, Mapping):
            instance_types = dict.fromkeys(by_kind[NodePool], instance_types)
        before = None if previous is None else previous.node_by_name
        bound = BoundPods(pod for pod in by_kind[Pod].values() if isinstance(pod, Pod))
        machines = MachineStates(bound, before)
        for obj in (*by_kind[Node].values(), *by_kind[NodeClaim].values()):
            if isinstance(obj, Node):
                machines.put_node(obj)
            elif isinstance(obj, NodeClaim):
                machines.put_claim(obj)
        return cls(
            objects=dict(by_kind),
            nodes=machines.read(frozenset(marked), nominated or {}),
            unbound_pods=bound.unbound(),
            instance_types=instance_types,
            now=now,
            latest={} if previous is None else previous.latest,
        )

    def all_of(self, kind: type[ObjT]) -> Sequence[ObjT]:
        """Return all objects of a class."""
        return [*self.objects.get(kind, {}).values()]  # type: ignore[list-item]  # by class

    def get(self, kind: type[ObjT], key: str) -> ObjT | None:
        """Return the object of a class with a key, or None."""
        return self.objects.get(kind, {}).get(key)  # type: ignore[return-value]  # by class

    @property
    def pods(self) -> Sequence[Pod]:
        """All pods."""
        return self.all_of(Pod)

    @functools.cached_property
    def pools(self) -> Mapping[str, NodePool]:
        """The pools by name."""
        return {pool.name: pool for pool in self.all_of(NodePool)}

    @functools.cached_property
    def groups(self) -> NodeGroups:
        """The machines in groups."""
        groups = groups_of(self.nodes, self.latest.get("groups"))
        self.latest["groups"] = groups
        return groups

    @property
    def node_by_name(self) -> Mapping[str, StateNode]:
        """The machines by name."""
        return self.groups.by_name

    @functools.cached_property
    def pods_by_namespace(self) -> Mapping[str, Sequence[Pod]]:
        """The pods that run somewhere and have not ended, by namespace."""
        pods: dict[str, list[Pod]] = defaultdict(list)
        for pod in self.pods:
            if pod.node_name and not pod.is_finished and not pod.is_terminating:
                pods[pod.namespace].append(pod)
        return pods

    @functools.cached_property
    def anti_affinity_pods(self) -> Sequence[tuple[Pod, Node]]:
        """The pods on nodes that must be away from others, with their nodes."""
        return [
            (pod, node.node)
            for node in self.groups.keeping_away
            if node.node is not None
            for pod in node.anti_affinity_pods
        ]

    @functools.cached_property
    def disruption_limits(self) -> DisruptionLimits:
        """The PodDisruptionBudgets."""
        return DisruptionLimits(self.all_of(PodDisruptionBudget), self.now)

    def newest_daemon_pod(self, daemon_set: DaemonSet) -> Pod | None:
        """Return the newest pod of a DaemonSet, or None without one."""
        return self._newest_daemon_pods.get(daemon_set.uid)

    @functools.cached_property
    def _newest_daemon_pods(self) -> Mapping[str, Pod]:
        newest: dict[str, Pod] = {}
        for pod in self.pods:
            controller = pod.metadata.controller
            if controller is None or controller.kind != "DaemonSet":
                continue
            present = newest.get(controller.uid)
            if present is None or _created(pod) > _created(present):
                newest[controller.uid] = pod
        return newest

    def pool_resources(self, pool: str) -> Amounts:
        """Return the capacity of the machines of a pool that stay."""
        total: Amounts = {}
        for node in self.nodes:
            if node.pool == pool and not node.marked_for_deletion:
                total = added(total, node.capacity)
        return total


def _created(pod: Pod) -> float:
    return pod.metadata.creation_timestamp or 0.0
