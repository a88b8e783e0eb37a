"""Cordons: nodes that accept no more pods.

Mirrors ``pkg/drain/cordon.go`` (kubectl v0.36), and the taint that
``pkg/controller/nodelifecycle`` (Kubernetes v1.36) gives such nodes.
"""

from collections.abc import Iterable
from typing import Final

import attrs
from msgspec.structs import replace

from quaymaster._api.objects import Node, Taint
from quaymaster._clusters.inmemory.cluster import InMemoryCluster
from quaymaster._studies.changes.change import Effect
from quaymaster._studies.changes.node_choice import chosen_nodes
from quaymaster._studies.simulation.run import Simulation

__all__ = ["Cordon", "Uncordon", "set_cordons"]

_KEY: Final = "node.kubernetes.io/unschedulable"
_TAINT: Final = Taint(key=_KEY, effect="NoSchedule")


@attrs.frozen(kw_only=True)
class Cordon:
    """Marks nodes as unschedulable; pods on them stay.

    Attributes:
        nodes: A name, or a label selector as kubectl's.
    """

    nodes: str

    def __str__(self) -> str:
        return f"cordon {self.nodes}"

    def apply(self, simulation: Simulation) -> Effect:
        """Make the change, now; see `ClusterChange.apply`."""
        return _set_all(self, self.nodes, simulation, cordoned=True)


@attrs.frozen(kw_only=True)
class Uncordon:
    """Marks nodes as schedulable.

    Attributes:
        nodes: A name, or a label selector as kubectl's.
    """

    nodes: str

    def __str__(self) -> str:
        return f"uncordon {self.nodes}"

    def apply(self, simulation: Simulation) -> Effect:
        """Make the change, now; see `ClusterChange.apply`."""
        return _set_all(self, self.nodes, simulation, cordoned=False)


def set_cordons(
    cluster: InMemoryCluster, nodes: Iterable[Node], *, cordoned: bool
) -> list[str]:
    """Cordon or uncordon nodes, and return the keys of those that changed."""
    changed = []
    for node in nodes:
        taints = tuple(taint for taint in node.spec.taints if taint.key != _KEY)
        if cordoned:
            taints = (*taints, _TAINT)
        spec = replace(node.spec, unschedulable=cordoned, taints=taints)
        if spec != node.spec:
            cluster.update(replace(node, spec=spec))
            changed.append(f"Node/{node.key}")
    return changed


def _set_all(
    change: Cordon | Uncordon, text: str, simulation: Simulation, *, cordoned: bool
) -> Effect:
    cluster, now = simulation.cluster, simulation.now
    nodes = chosen_nodes(text, cluster.list(Node).items, change)
    changed = set_cordons(cluster, nodes, cordoned=cordoned)
    return Effect(change=str(change), at=now, ended=now, objects=changed)
