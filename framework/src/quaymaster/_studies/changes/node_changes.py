"""Changes that add, remove, fail and return nodes."""

import enum
from collections.abc import Iterable, Sequence

import attrs
from msgspec.structs import replace

from quaymaster._api.objects import Node, ObjectMeta, Pod, Time
from quaymaster._clusters.inmemory.cluster import InMemoryCluster
from quaymaster._clusters.inmemory.controllers.garbage import lost_with_node
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
from quaymaster._studies.changes.deletion import delete_object
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
    """The nodes and their pods disappear in the same moment, for a quick answer."""

    UNREACHABLE = "Unreachable"
    """The nodes no longer report, and the cluster detects that by itself.

    After 50 seconds they are ``Unknown`` and tainted. Pods are deleted when their
    tolerations end, after five minutes by default, and stay ``Terminating`` until the
    node answers or is deleted. See `quaymaster.inmemory.InMemoryCluster.stop_kubelets`.
    """


@attrs.frozen(kw_only=True)
class AddNodes:
    """Adds nodes.

    Attributes:
        spec: Their number and shape, as for `quaymaster.inmemory.make_nodes`, such as
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
            # A lost node may return under its name.
            nodes = make_nodes([self.spec], taken=[*taken, *simulation.lost_nodes])
        except NodesSpecError as error:
            raise ChangeError("add-nodes", str(error)) from error
        for node in nodes:
            cluster.create(node)
        return _done(self, now, nodes)


@attrs.frozen(kw_only=True)
class RemoveNodes:
    """Deletes nodes without a drain, as ``kubectl delete node`` does.

    Their pods are deleted 40 seconds later, as by upstream's garbage collector.

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
            delete_object(cluster, node)
        return effect


@attrs.frozen(kw_only=True)
class FailNodes:
    """Loses nodes; `ReturnNodes` brings them back.

    With `FailureMode.AT_ONCE` the pods disappear at once and their controllers create
    new ones. Otherwise that takes as long as in a real cluster.

    Attributes:
        nodes: A name, or a label selector as kubectl's.
        mode: Whether the cluster loses them at once or has to detect the failure.
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
        mode: Whether the cluster loses them at once or has to detect the failure.
    """

    zone: str
    mode: FailureMode = FailureMode.AT_ONCE

    def __str__(self) -> str:
        return f"fail-zone {self.zone}"

    def apply(self, simulation: Simulation) -> Effect:
        """Make the change, now; see `ClusterChange.apply`."""
        nodes = simulation.cluster.list(Node).items
        zones = {node.name: zone_of(node) for node in nodes}
        chosen = [node for node in nodes if zones[node.name] == self.zone]
        if not chosen:
            names = ", ".join(sorted(set(filter(None, zones.values()))))
            problem = f"no node is in zone '{self.zone}' (zones: {names or 'none'})"
            raise ChangeError(str(self), problem)
        return _fail(self, sorted(chosen, key=lambda node: node.name), simulation)


@attrs.frozen(kw_only=True)
class ReturnNodes:
    """Brings back nodes that have failed.

    Nodes that were lost at once return empty. Nodes that did not answer keep the pods
    that were not deleted meanwhile.

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
    """Return the nodes that have failed and may return."""
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
        # Before the node: without it, they would wait for the garbage collector.
        for pod in pods_on(cluster, node.name):
            _lose(cluster, pod, simulation.now)
        delete_object(cluster, node)
        # The node registers as a new object when it returns, with another uid.
        metadata = ObjectMeta(
            name=node.name, labels=node.labels, annotations=node.annotations
        )
        simulation.lost_nodes[node.name] = replace(node, metadata=metadata)
    return effect


def _lose(cluster: InMemoryCluster, pod: Pod, now: float) -> None:
    """End a pod as the garbage collector does, but at once."""
    if not pod.is_finished:
        # Without it, a Job would count the loss as a failure of its program.
        status = lost_with_node(pod.status, Time(now))
        changes = {"phase": status.phase, "conditions": status.conditions}
        pod = cluster.patch_status(pod, changes)
    cluster.delete(Pod, pod.key, grace_period_seconds=0.0)


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
    """Records in an effect what happens to pods of nodes that do not answer.

    Args:
        effect: The effect.
        simulation: The simulation.
    """

    def __init__(self, effect: Effect, simulation: Simulation) -> None:
        self._effect = effect
        self._simulation = simulation

    def observer(self) -> HealthObserver:
        """Return the observer that receives evictions from the cluster."""
        return HealthObserver(deleted=self._deleted, told=self._note)

    def _deleted(self, pod: Pod) -> None:
        simulation = self._simulation
        eviction = Evicted(pod=pod.key, node=pod.node_name, at=simulation.now)
        self._effect.timed_out.append(eviction)
        if not is_of_daemon_set(pod) and not is_made_anew(pod, simulation.cluster):
            self._effect.unmanaged.append(pod.key)

    def _note(self, text: str) -> None:
        if text not in self._effect.notes:
            self._effect.notes.append(text)
