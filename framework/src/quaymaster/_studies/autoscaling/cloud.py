"""A cloud that has groups of nodes, in virtual time.

A new node is created in the cluster after its time to register, with the taint of nodes
that are not ready, and becomes ready after its time to start.
"""

from collections.abc import Callable, Collection, Iterable, Mapping
from typing import Final

import attrs
from msgspec.structs import replace

from quaymaster._api.objects import (
    Node,
    NodeCondition,
    NodeSpec,
    NodeStatus,
    ObjectMeta,
    Taint,
    Time,
)
from quaymaster._clusters.inmemory.cluster import InMemoryCluster
from quaymaster._core.contract.cluster import NotFoundError
from quaymaster._studies.autoscaling.scaled_groups import ScaledGroup

__all__ = ["HOSTNAME", "NOT_READY", "Cloud", "Instance", "as_new", "has_node"]

HOSTNAME: Final = "kubernetes.io/hostname"
NOT_READY: Final = "node.kubernetes.io/not-ready"
_PASSING: Final = (
    NOT_READY,
    "DeletionCandidateOfClusterAutoscaler",
    "ToBeDeletedByClusterAutoscaler",
    "node.kubernetes.io/unreachable",
    "node.kubernetes.io/unschedulable",
)
"""Taints of the moment."""


@attrs.define(eq=False)
class Instance:
    """A machine of a group.

    Attributes:
        name: The name of its node.
        group: The name of its group.
        launched: When it was ordered, in seconds since the epoch.
        registered: When its node was created in the cluster; None before.
        ready: When the node became ready.
        ended: When the machine was deleted; None while it exists.
        is_original: Whether its node was there from the beginning.
        added_for: Why it was ordered.
        removed_for: Why it was deleted.
    """

    name: str
    group: str
    launched: float
    registered: float | None = None
    ready: float | None = None
    ended: float | None = None
    is_original: bool = False
    added_for: str = ""
    removed_for: str = ""

    @property
    def is_registered(self) -> bool:
        """Whether its node has been created in the cluster."""
        return self.registered is not None


class Cloud:
    """Has the machines of groups, and creates and deletes their nodes.

    Args:
        cluster: The cluster of the nodes.
        groups: The groups.
        node_name: Makes the name of the Nth node of a group, from 0 on.
        fails: Returns whether a new machine never registers.

    Attributes:
        groups: The groups by name.
        sizes: The target size of each group.
        all_instances: All machines that ever were, in the order of their launch.
        unregistered: The machines whose node has not been created, by name, in the
            order of their launch.
        registrations: Whether each machine has a node, by name.
        version: Grows whenever these change.
    """

    def __init__(
        self,
        cluster: InMemoryCluster,
        groups: Iterable[ScaledGroup],
        *,
        node_name: Callable[[ScaledGroup, int], str] | None = None,
        fails: Callable[[Instance], bool] = lambda _instance: False,
    ) -> None:
        self._cluster = cluster
        self._node_name = node_name or _numbered
        self._fails = fails
        self.groups: Mapping[str, ScaledGroup] = {each.name: each for each in groups}
        self.sizes = dict.fromkeys(self.groups, 0)
        self.all_instances: list[Instance] = []
        self.unregistered: dict[str, Instance] = {}
        self.registrations: dict[str, bool] = {}
        self.version = 0
        self._instances: dict[str, Instance] = {}
        self._moved: set[str] = set()
        self._numbers = dict.fromkeys(self.groups, 0)

    def adopt(self, group: str, node: str, reason: str = "") -> None:
        """Add a node that exists to a group; its target size grows by one.

        Args:
            group: The group.
            node: The name of the node.
            reason: Why it came; empty if it was there from the beginning.
        """
        now = self._cluster.clock.now()
        instance = Instance(node, group, now, is_original=not reason)
        instance.added_for = reason
        instance.registered = instance.ready = now
        self._add(instance)
        self.sizes[group] += 1

    def group_of(self, node: str) -> ScaledGroup | None:
        """Return the group of a node, or None."""
        instance = self._instances.get(node)
        return None if instance is None else self.groups[instance.group]

    def instances(self) -> Collection[Instance]:
        """Return all machines."""
        return self._instances.values()

    def take_moved(self) -> set[str]:
        """Return the names of machines that came or went since the last call."""
        moved, self._moved = self._moved, set()
        return moved

    def increase(self, group: str, by: int, reason: str = "") -> None:
        """Order more nodes.

        Args:
            group: The group.
            by: How many nodes.
            reason: Why, for results.
        """
        self.sizes[group] += by
        now = self._cluster.clock.now()
        for _ in range(by):
            instance = Instance(self._new_name(self.groups[group]), group, now)
            instance.added_for = reason
            self._add(instance)
            if not self._fails(instance):
                self._launch(instance)

    def decrease(self, group: str, by: int) -> str:
        """Cancel orders of nodes that are not in the cluster yet, the latest first.

        As clouds do, it changes nothing if there are not so many.

        Returns:
            Why it changed nothing; empty if it did.
        """
        waiting = [each for each in self.unregistered.values() if each.group == group]
        # Cloud providers refuse to cancel more than they have not delivered yet.
        if by > len(waiting):
            return "attempt to delete existing nodes"
        self.sizes[group] -= by
        for instance in waiting[::-1][:by]:
            self._remove(instance.name, "it did not register in time")
        return ""

    def lose(self, node: str, reason: str) -> None:
        """Note that a node of a group was deleted by others; the group is smaller.

        Args:
            node: The name of the node; others than those of groups are ignored.
            reason: Why, for results.
        """
        instance = self._instances.get(node)
        # After a deletion of its own the machine is no longer here, so only deletions
        # by others count.
        if instance is not None and instance.is_registered:
            self._remove(node, reason)
            self.sizes[instance.group] -= 1

    def delete(self, nodes: Iterable[str], reason: str = "") -> None:
        """Delete machines and their nodes; their groups become smaller.

        Args:
            nodes: The names of the nodes.
            reason: Why, for results.
        """
        for name in nodes:
            # The machine before its node: the watch would otherwise take the deletion
            # of the node for one by others.
            instance = self._remove(name, reason)
            self.sizes[instance.group] -= 1
            if instance.is_registered and has_node(self._cluster, name):
                self._cluster.delete(Node, name)

    def _add(self, instance: Instance) -> None:
        self._instances[instance.name] = instance
        self.all_instances.append(instance)
        self._moved.add(instance.name)
        self.registrations[instance.name] = instance.is_registered
        self.version += 1
        if not instance.is_registered:
            self.unregistered[instance.name] = instance

    def _remove(self, name: str, reason: str) -> Instance:
        instance = self._instances.pop(name)
        self.unregistered.pop(name, None)
        self._moved.add(name)
        del self.registrations[name]
        self.version += 1
        instance.removed_for = reason
        instance.ended = self._cluster.clock.now()
        return instance

    def _new_name(self, group: ScaledGroup) -> str:
        while True:
            name = self._node_name(group, self._numbers[group.name])
            self._numbers[group.name] += 1
            # Nodes of the input may have names of the same form.
            if name not in self._instances and not has_node(self._cluster, name):
                return name

    def _launch(self, instance: Instance) -> None:
        clock, group = self._cluster.clock, self.groups[instance.group]
        clock.call_later(group.registration_seconds, lambda: self._register(instance))

    def _register(self, instance: Instance) -> None:
        # Identity: another machine may have got its name.
        if self._instances.get(instance.name) is not instance:
            return
        group = self.groups[instance.group]
        clock = self._cluster.clock
        is_ready = group.readiness_seconds <= 0
        instance.registered = clock.now()
        self.unregistered.pop(instance.name, None)
        self.registrations[instance.name] = True
        self.version += 1
        instance.ready = clock.now() if is_ready else None
        node = _node(group.template, instance.name, clock.now(), is_ready=is_ready)
        self._cluster.create(node)
        if not is_ready:
            clock.call_later(group.readiness_seconds, lambda: self._start(instance))

    def _start(self, instance: Instance) -> None:
        if not has_node(self._cluster, instance.name):
            return
        instance.ready = self._cluster.clock.now()
        node = self._cluster.get(Node, instance.name)
        taints = tuple(taint for taint in node.spec.taints if taint.key != NOT_READY)
        conditions = _readiness(
            node.status.conditions, self._cluster.clock.now(), is_ready=True
        )
        self._cluster.update(
            replace(
                node,
                spec=replace(node.spec, taints=taints),
                status=replace(node.status, conditions=conditions),
            )
        )


def as_new(node: Node) -> Node:
    """Return a node without what belongs to this node alone, as a template."""
    taints = tuple(taint for taint in node.spec.taints if taint.key not in _PASSING)
    spec = NodeSpec(taints=taints)
    status = NodeStatus(
        capacity=node.status.capacity, allocatable=node.status.allocatable
    )
    metadata = ObjectMeta(name=node.name, labels=node.labels)
    return Node(metadata=metadata, spec=spec, status=status)


def _numbered(group: ScaledGroup, number: int) -> str:
    return f"{group.name}-{number}"


def _node(template: Node, name: str, now: float, *, is_ready: bool) -> Node:
    """Return a new node of a group."""
    taints = template.spec.taints
    if not is_ready:
        taints = (*taints, Taint(key=NOT_READY, effect="NoSchedule"))
    metadata = replace(
        template.metadata,
        name=name,
        uid="",
        resource_version="",
        creation_timestamp=Time(now),
        labels={**template.labels, HOSTNAME: name},
    )
    conditions = _readiness(template.status.conditions, now, is_ready=is_ready)
    return replace(
        template,
        metadata=metadata,
        spec=replace(template.spec, taints=taints),
        status=replace(template.status, conditions=conditions),
    )


def _readiness(
    conditions: Iterable[NodeCondition], now: float, *, is_ready: bool
) -> tuple[NodeCondition, ...]:
    """Return conditions in which ``Ready`` has this value since now."""
    others = (condition for condition in conditions if condition.type != "Ready")
    status, reason = ("True", "KubeletReady") if is_ready else ("False", "Starting")
    ready = NodeCondition(
        type="Ready", status=status, reason=reason, last_transition_time=Time(now)
    )
    return (*others, ready)


def has_node(cluster: InMemoryCluster, name: str) -> bool:
    """Return whether a cluster has a node; others may have deleted it."""
    try:
        cluster.get(Node, name)
    except NotFoundError:
        return False
    return True
