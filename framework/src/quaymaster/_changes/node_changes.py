"""Nodes that come, go, fail and return."""

from collections.abc import Iterable, Sequence
from typing import Final

import attrs
from msgspec.structs import replace

from quaymaster._changes.change import ChangeError, ClusterChange, Effect
from quaymaster._changes.node_choice import chosen_nodes
from quaymaster._changes.pods import is_made_anew, is_of_daemon_set, pods_on
from quaymaster._inmemory.cluster import InMemoryCluster
from quaymaster._inmemory.nodes_spec import NodesSpecError, make_nodes
from quaymaster._objects import Node, ObjectMeta
from quaymaster._simulation.run import Simulation

__all__ = ["AddNodes", "FailNodes", "FailZone", "RemoveNodes", "ReturnNodes"]

_ZONES: Final = (
    "topology.kubernetes.io/zone",
    "failure-domain.beta.kubernetes.io/zone",
)


@attrs.frozen(kw_only=True)
class AddNodes:
    """Adds nodes.

    Attributes:
        spec: What they are, as `quaymaster.inmemory.make_nodes` reads it, such as
            ``3:cpu=4,memory=16Gi,zones=3``.
    """

    spec: str

    def __str__(self) -> str:
        return f"add-nodes {self.spec}"

    def apply(self, simulation: Simulation) -> Effect:
        """Make the change, now; see `ClusterChange.apply`."""
        cluster, now = simulation.cluster, simulation.now
        taken = [node.name for node in cluster.list(Node).items]
        try:
            nodes = make_nodes([self.spec], taken=[*taken, *simulation.lost_nodes])
        except NodesSpecError as error:
            raise ChangeError("add-nodes", str(error)) from error
        for node in nodes:
            cluster.create(node)
        return _done(self, now, nodes)


@attrs.frozen(kw_only=True)
class RemoveNodes:
    """Deletes nodes without a drain, as ``kubectl delete node`` does.

    Their pods are deleted 40 seconds later, as upstream's garbage collector does it.

    Attributes:
        nodes: A name, or a label selector as kubectl's.
    """

    nodes: str

    def __str__(self) -> str:
        return f"remove {self.nodes}"

    def apply(self, simulation: Simulation) -> Effect:
        """Make the change, now; see `ClusterChange.apply`."""
        cluster, now = simulation.cluster, simulation.now
        nodes = chosen_nodes(self.nodes, cluster.list(Node).items, self)
        effect = _done(self, now, nodes)
        for node in nodes:
            _note_lost(effect, cluster, node)
            cluster.delete(Node, node.key)
        return effect


@attrs.frozen(kw_only=True)
class FailNodes:
    """Loses nodes together with their pods, at once; `ReturnNodes` brings them back.

    What a cluster takes minutes to notice happens now: the pods are gone, and their
    controllers make new ones.

    Attributes:
        nodes: A name, or a label selector as kubectl's.
    """

    nodes: str

    def __str__(self) -> str:
        return f"fail {self.nodes}"

    def apply(self, simulation: Simulation) -> Effect:
        """Make the change, now; see `ClusterChange.apply`."""
        nodes = chosen_nodes(self.nodes, simulation.cluster.list(Node).items, self)
        return _fail(self, nodes, simulation)


@attrs.frozen(kw_only=True)
class FailZone:
    """Loses all nodes of a zone together with their pods, as `FailNodes` does.

    Attributes:
        zone: The zone: a value of the label ``topology.kubernetes.io/zone``.
    """

    zone: str

    def __str__(self) -> str:
        return f"fail-zone {self.zone}"

    def apply(self, simulation: Simulation) -> Effect:
        """Make the change, now; see `ClusterChange.apply`."""
        nodes = simulation.cluster.list(Node).items
        zones = {node.name: _zone_of(node) for node in nodes}
        found = [node for node in nodes if zones[node.name] == self.zone]
        if not found:
            known = ", ".join(sorted(set(filter(None, zones.values()))))
            problem = f"no node is in zone '{self.zone}' (zones: {known or 'none'})"
            raise ChangeError(str(self), problem)
        return _fail(self, sorted(found, key=lambda node: node.name), simulation)


@attrs.frozen(kw_only=True)
class ReturnNodes:
    """Brings back nodes that have failed; they are empty then.

    Attributes:
        nodes: A name, or a label selector as kubectl's, of nodes that have failed.
    """

    nodes: str

    def __str__(self) -> str:
        return f"return {self.nodes}"

    def apply(self, simulation: Simulation) -> Effect:
        """Make the change, now; see `ClusterChange.apply`."""
        lost = simulation.lost_nodes
        nodes = chosen_nodes(self.nodes, lost.values(), self)
        for node in nodes:
            simulation.cluster.create(lost.pop(node.name))
        return _done(self, simulation.now, nodes)


def _fail(
    change: ClusterChange, nodes: Sequence[Node], simulation: Simulation
) -> Effect:
    cluster, effect = simulation.cluster, _done(change, simulation.now, nodes)
    for node in nodes:
        _note_lost(effect, cluster, node)
        for pod in pods_on(cluster, node.name):
            cluster.delete(type(pod), pod.key, grace_period_seconds=0.0)
        cluster.delete(Node, node.key)
        metadata = ObjectMeta(
            name=node.name, labels=node.labels, annotations=node.annotations
        )
        simulation.lost_nodes[node.name] = replace(node, metadata=metadata)
    return effect


def _note_lost(effect: Effect, cluster: InMemoryCluster, node: Node) -> None:
    for pod in pods_on(cluster, node.name):
        if pod.is_finished:
            continue
        effect.lost.append(pod.key)
        if not is_of_daemon_set(pod) and not is_made_anew(pod, cluster):
            effect.unmanaged.append(pod.key)


def _done(change: ClusterChange, now: float, nodes: Iterable[Node]) -> Effect:
    objects = [f"Node/{node.key}" for node in nodes]
    return Effect(change=str(change), at=now, ended=now, objects=objects)


def _zone_of(node: Node) -> str:
    for label in _ZONES:
        if label in node.labels:
            return node.labels[label]
    return ""
