"""Rotations: nodes are replaced by new ones of the same kind, a few at a time.

Like the upgrade of a node pool with surge nodes: a new node boots, the old one is
drained as far as disruption budgets allow, and is deleted when it is empty.
"""

from functools import partial
from typing import Final

import attrs

from quaymaster._api.objects import Node
from quaymaster._base.errors import counted, listed
from quaymaster._studies.changes.change import Effect
from quaymaster._studies.changes.cordoning import set_cordons
from quaymaster._studies.changes.deletion import delete_object
from quaymaster._studies.changes.draining import (
    DRAIN_TIMEOUT_SECONDS,
    Drain,
    Draining,
)
from quaymaster._studies.changes.node_choice import chosen_nodes
from quaymaster._studies.changes.node_copies import (
    copies_for,
    copy_of_node,
    objects_of_node,
)
from quaymaster._studies.changes.pods import is_of_daemon_set, is_of_node, pods_on
from quaymaster._studies.simulation.run import Simulation

__all__ = ["BOOT_SECONDS", "RotateNodes"]

BOOT_SECONDS: Final = 60.0
"""How long a new node needs by default until it accepts pods."""

_SHOWN: Final = 3


@attrs.frozen(kw_only=True)
class RotateNodes:
    """Replaces nodes by new ones of the same kind, some at a time.

    Each new node is a copy of the old one without its pods. A node that is not empty in
    time stays cordoned, its copy stays too, and the rotation continues with the next
    node.

    Attributes:
        nodes: A name, or a label selector as kubectl's.
        surge: How many additional nodes exist at a time; at least 1.
        boot_seconds: How long a new node needs until it accepts pods.
        timeout_seconds: How long refused evictions are retried, for each node.
    """

    nodes: str
    surge: int = 1
    boot_seconds: float = BOOT_SECONDS
    timeout_seconds: float = DRAIN_TIMEOUT_SECONDS

    def __str__(self) -> str:
        return f"rotate {self.nodes}"

    def apply(self, simulation: Simulation) -> Effect:
        """Order the first new nodes; see `ClusterChange.apply`."""
        nodes = chosen_nodes(self.nodes, simulation.cluster.list(Node).items, self)
        effect = Effect(change=str(self), at=simulation.now)
        _Rotation(self, simulation, effect, nodes).begin()
        return effect


class _Rotation:
    """A rotation in progress.

    Args:
        rotation: The change.
        simulation: The simulation.
        effect: Receives what happens.
        nodes: The nodes to replace, in order.
    """

    def __init__(
        self,
        rotation: RotateNodes,
        simulation: Simulation,
        effect: Effect,
        nodes: list[Node],
    ) -> None:
        self._rotation = rotation
        self._simulation = simulation
        self._cluster = simulation.cluster
        self._effect = effect
        self._waiting = list(nodes)
        self._total = len(nodes)
        self._replaced = 0
        self._blocked: list[str] = []

    def begin(self) -> None:
        """Order as many new nodes as may exist beside the old ones."""
        for _ in range(min(self._rotation.surge, self._total)):
            self._order()

    def _order(self) -> None:
        """Order a new node for the next old one, or end after the last."""
        if self._waiting:
            node = self._waiting.pop(0)
            boot = self._rotation.boot_seconds
            self._cluster.clock.call_later(boot, partial(self._replace, node.name))
        elif self._replaced + len(self._blocked) == self._total:
            self._end()

    def _replace(self, name: str) -> None:
        """Add the new node, and begin to drain the old one."""
        nodes = {node.name: node for node in self._cluster.list(Node).items}
        old = nodes.get(name)
        if old is None:
            self._blocked.append(f"{name}: it was deleted meanwhile")
            self._order()
            return
        # Lost nodes may return under their names.
        new = copy_of_node(old, {*nodes, *self._simulation.lost_nodes})
        self._cluster.create(new)
        for obj in copies_for(objects_of_node(self._cluster, old), old, new):
            self._cluster.create(obj)
        self._effect.objects.append(f"Node/{new.name}")
        set_cordons(self._cluster, [old], cordoned=True)
        drain = Drain(nodes=name, timeout_seconds=self._rotation.timeout_seconds)
        part = Effect(change=str(drain), at=self._simulation.now)
        end = partial(self._drained, old, part)
        Draining(drain, self._simulation, part, [name], end).next_node()

    def _drained(self, old: Node, part: Effect) -> None:
        """Delete the old node if it is empty, and continue with the next one."""
        effect, cluster = self._effect, self._cluster
        effect.evicted += part.evicted
        effect.refused |= part.refused
        effect.unmanaged += part.unmanaged
        rest = pods_on(cluster, old.name)
        left = [
            pod.key for pod in rest if not (is_of_daemon_set(pod) or is_of_node(pod))
        ]
        if left:
            effect.stayed |= {key: part.stayed.get(key, "") for key in left}
            self._blocked.append(f"{old.name}: {_left(left)}")
        else:
            # Pods of DaemonSets and static pods end with their node.
            for pod in rest:
                cluster.delete(type(pod), pod.key, grace_period_seconds=0.0)
            for obj in (*objects_of_node(cluster, old), old):
                delete_object(cluster, obj)
            effect.objects.append(f"Node/{old.name}")
            self._replaced += 1
        self._order()

    def _end(self) -> None:
        effect = self._effect
        effect.ended = self._simulation.now
        effect.notes.append(
            f"{self._replaced} of {counted(self._total, 'node')} replaced in "
            f"{effect.ended - effect.at:g}s"
        )
        effect.notes += [f"not replaced: {reason}" for reason in self._blocked]


def _left(keys: list[str]) -> str:
    return f"{counted(len(keys), 'pod')} not evicted in time: {listed(keys, _SHOWN)}"
