"""Nodes that come, go, fail and return."""

import enum
from collections.abc import Iterable, Sequence

import attrs
from msgspec.structs import replace

from quaymaster._api.objects import Node, ObjectMeta, Pod
from quaymaster._clusters.inmemory.cluster import InMemoryCluster
from quaymaster._clusters.inmemory.node_health import (
    GRACE_SECONDS,
    HealthObserver,
    zone_of,
)
from quaymaster._clusters.inmemory.nodes_spec import NodesSpecError, make_nodes
from quaymaster._studies.changes.change import (
    ChangeError,
    ClusterChange,
    Effect,
    Evicted,
)
from quaymaster._studies.changes.node_choice import chosen_nodes
from quaymaster._studies.changes.pods import is_made_anew, is_of_daemon_set, pods_on
from quaymaster._studies.simulation.run import Simulation

__all__ = [
    "AddNodes",
    "FailNodes",
    "FailZone",
    "FailureMode",
    "RemoveNodes",
    "ReturnNodes",
    "failed_nodes",
]


class FailureMode(enum.StrEnum):
    """How nodes fail."""

    AT_ONCE = "AtOnce"
    """The nodes and their pods are gone in the same moment, for a quick answer."""

    UNREACHABLE = "Unreachable"
    """The nodes no longer report, and the cluster notices that by itself.

    After 50 seconds they are ``Unknown`` and tainted; pods go when their tolerations
    are over, after five minutes by default, and stay ``Terminating`` until the node
    answers or is deleted. `quaymaster.inmemory.InMemoryCluster.stop_kubelets` does it.
    """


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
    """Loses nodes; `ReturnNodes` brings them back.

    At once, the pods are gone and their controllers make new ones; otherwise as long
    after that as a cluster takes.

    Attributes:
        nodes: A name, or a label selector as kubectl's.
        mode: At once, or as a cluster finds out.
    """

    nodes: str
    mode: FailureMode = FailureMode.AT_ONCE

    def __str__(self) -> str:
        return f"fail {self.nodes}"

    def apply(self, simulation: Simulation) -> Effect:
        """Make the change, now; see `ClusterChange.apply`."""
        nodes = chosen_nodes(self.nodes, simulation.cluster.list(Node).items, self)
        return _fail(self, nodes, simulation)


@attrs.frozen(kw_only=True)
class FailZone:
    """Loses all nodes of a zone, as `FailNodes` does.

    Attributes:
        zone: The zone: a value of the label ``topology.kubernetes.io/zone``.
        mode: At once, or as a cluster finds out.
    """

    zone: str
    mode: FailureMode = FailureMode.AT_ONCE

    def __str__(self) -> str:
        return f"fail-zone {self.zone}"

    def apply(self, simulation: Simulation) -> Effect:
        """Make the change, now; see `ClusterChange.apply`."""
        nodes = simulation.cluster.list(Node).items
        zones = {node.name: zone_of(node) for node in nodes}
        found = [node for node in nodes if zones[node.name] == self.zone]
        if not found:
            known = ", ".join(sorted(set(filter(None, zones.values()))))
            problem = f"no node is in zone '{self.zone}' (zones: {known or 'none'})"
            raise ChangeError(str(self), problem)
        return _fail(self, sorted(found, key=lambda node: node.name), simulation)


@attrs.frozen(kw_only=True)
class ReturnNodes:
    """Brings back nodes that have failed.

    Those that were lost at once are empty then. Those that did not answer go on with
    the pods that were not deleted meanwhile.

    Attributes:
        nodes: A name, or a label selector as kubectl's, of nodes that have failed.
    """

    nodes: str

    def __str__(self) -> str:
        return f"return {self.nodes}"

    def apply(self, simulation: Simulation) -> Effect:
        """Make the change, now; see `ClusterChange.apply`."""
        lost, cluster = simulation.lost_nodes, simulation.cluster
        nodes = chosen_nodes(self.nodes, failed_nodes(simulation), self)
        for node in nodes:
            if node.name in lost:
                cluster.create(lost.pop(node.name))
            else:
                cluster.start_kubelets([node.name])
        return _done(self, simulation.now, nodes)


def failed_nodes(simulation: Simulation) -> list[Node]:
    """Return the nodes that have failed, and may return."""
    cluster = simulation.cluster
    silent = [cluster.get(Node, name) for name in sorted(cluster.silent_nodes)]
    return [*simulation.lost_nodes.values(), *silent]


def _fail(
    change: FailNodes | FailZone, nodes: Sequence[Node], simulation: Simulation
) -> Effect:
    cluster, effect = simulation.cluster, _done(change, simulation.now, nodes)
    if change.mode is FailureMode.UNREACHABLE:
        names = [node.name for node in nodes]
        cluster.stop_kubelets(names, _Watch(effect, simulation).observer())
        listed = ", ".join(names)
        effect.notes.append(f"{listed}: unreachable {GRACE_SECONDS:g}s later")
        return effect
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


class _Watch:
    """Notes in an effect what becomes of the pods of nodes that do not answer.

    Args:
        effect: The effect.
        simulation: Where.
    """

    def __init__(self, effect: Effect, simulation: Simulation) -> None:
        self._effect = effect
        self._simulation = simulation

    def observer(self) -> HealthObserver:
        """Return the observer that receives evictions from the cluster."""
        return HealthObserver(deleted=self._deleted, told=self._told)

    def _deleted(self, pod: Pod) -> None:
        simulation = self._simulation
        one = Evicted(pod=pod.key, node=pod.node_name, at=simulation.now)
        self._effect.timed_out.append(one)
        if not is_of_daemon_set(pod) and not is_made_anew(pod, simulation.cluster):
            self._effect.unmanaged.append(pod.key)

    def _told(self, text: str) -> None:
        if text not in self._effect.notes:
            self._effect.notes.append(text)
