"""A cloud that has groups of nodes, in virtual time.

A new node is created in the cluster after its time to register, with the taint of nodes
that are not ready, and becomes ready after its time to start.
"""

from collections.abc import Callable, Collection, Iterable, Mapping
from typing import Final

import attrs
from msgspec.structs import replace

from quaymaster._api.objects import Node, NodeCondition, Taint, Time
from quaymaster._clusters.inmemory.cluster import InMemoryCluster
from quaymaster._core.contract.cluster import NotFoundError
from quaymaster._studies.autoscaling.scaled_groups import ScaledGroup

__all__ = ["HOSTNAME", "NOT_READY", "Cloud", "Instance"]

HOSTNAME: Final = "kubernetes.io/hostname"
NOT_READY: Final = "node.kubernetes.io/not-ready"


@attrs.define(eq=False)
class Instance:
    """A machine of a group.

    Attributes:
        name: The name of its node.
        group: The name of its group.
        launched: When it was ordered, in seconds since the epoch.
        is_registered: Whether its node has been created in the cluster.
    """

    name: str
    group: str
    launched: float
    is_registered: bool = False


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
        self._instances: dict[str, Instance] = {}
        self._numbers = dict.fromkeys(self.groups, 0)

    def adopt(self, group: str, node: str) -> None:
        """Add a node that exists to a group; its target size grows by one."""
        now = self._cluster.clock.now()
        self._instances[node] = Instance(node, group, now, is_registered=True)
        self.sizes[group] += 1

    def group_of(self, node: str) -> ScaledGroup | None:
        """Return the group of a node, or None."""
        instance = self._instances.get(node)
        return None if instance is None else self.groups[instance.group]

    def instances(self) -> Collection[Instance]:
        """Return all machines."""
        return self._instances.values()

    def increase(self, group: str, by: int) -> None:
        """Order more nodes."""
        self.sizes[group] += by
        now = self._cluster.clock.now()
        for _ in range(by):
            instance = Instance(self._new_name(self.groups[group]), group, now)
            self._instances[instance.name] = instance
            if not self._fails(instance):
                self._launch(instance)

    def decrease(self, group: str, by: int) -> None:
        """Cancel orders of nodes that are not in the cluster yet, the latest first."""
        self.sizes[group] -= by
        waiting = [
            each
            for each in self._instances.values()
            if each.group == group and not each.is_registered
        ]
        for instance in waiting[::-1][:by]:
            del self._instances[instance.name]

    def delete(self, nodes: Iterable[str]) -> None:
        """Delete machines and their nodes; their groups become smaller."""
        for name in nodes:
            instance = self._instances.pop(name)
            self.sizes[instance.group] -= 1
            if instance.is_registered:
                self._cluster.delete(Node, name)

    def _new_name(self, group: ScaledGroup) -> str:
        while True:
            name = self._node_name(group, self._numbers[group.name])
            self._numbers[group.name] += 1
            if name not in self._instances and not self._has(name):
                return name

    def _has(self, name: str) -> bool:
        try:
            self._cluster.get(Node, name)
        except NotFoundError:
            return False
        return True

    def _launch(self, instance: Instance) -> None:
        clock, group = self._cluster.clock, self.groups[instance.group]
        clock.call_later(group.registration_seconds, lambda: self._register(instance))

    def _register(self, instance: Instance) -> None:
        # Identity: another machine may have got its name.
        if self._instances.get(instance.name) is not instance:
            return
        instance.is_registered = True
        group = self.groups[instance.group]
        clock = self._cluster.clock
        is_ready = group.readiness_seconds <= 0
        node = _node(group.template, instance.name, clock.now(), is_ready=is_ready)
        self._cluster.create(node)
        if not is_ready:
            clock.call_later(group.readiness_seconds, lambda: self._become_ready(node))

    def _become_ready(self, created: Node) -> None:
        if not self._has(created.name):
            return
        node = self._cluster.get(Node, created.name)
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
