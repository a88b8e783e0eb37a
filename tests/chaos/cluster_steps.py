"""The steps of a history that users, nodes and controllers take."""

from collections.abc import Sequence

from msgspec.structs import replace

from quaymaster import Node, Pod
from quaymaster.cluster import NotFoundError
from quaymaster.inmemory import InMemoryCluster
from quaymaster.objects import (
    Namespace,
    PersistentVolume,
    PersistentVolumeClaim,
    PodDisruptionBudget,
    Quantity,
)
from quaymaster.testing import make_node, make_pod_disruption_budget
from tests.chaos.ledger import Ledger
from tests.chaos.objects import (
    APPS,
    CROWD,
    NODES,
    TAINTS,
    TEAMS,
    TRAITS,
    namespace_of,
    new_claim,
    new_node,
    new_pod,
    new_volume,
)

__all__ = ["ClusterSteps"]


class ClusterSteps:
    """The steps that change the cluster; each does nothing where it is impossible.

    Args:
        cluster: The cluster, without faults.
        ledger: Is updated when a pod changes its requests.
        schedulers: The number of profiles.
        traits: The special properties that pods may have.

    Attributes:
        has_moved_nodes: Whether a node's zone was changed or removed.
    """

    def __init__(
        self,
        cluster: InMemoryCluster,
        ledger: Ledger,
        schedulers: int,
        traits: Sequence[str] = TRAITS,
    ) -> None:
        self.has_moved_nodes = False
        self._traits = traits
        self._cluster = cluster
        self._ledger = ledger
        self._schedulers = schedulers

    # Pods ---------------------------------------------------------------------------

    def add_crowd(self, number: int, cpu: int, priority: int, count: int) -> None:
        """Create equal pods, except those that exist."""
        for member in _crowd(number)[:count]:
            self.add_pod(member, cpu, priority)

    def delete_crowd(self, number: int, grace: int) -> None:
        """Delete the pods that `add_crowd` creates."""
        for member in _crowd(number):
            self.delete_pod(member, grace)

    def add_pod(self, number: int, cpu: int, priority: int, *traits: int) -> None:
        """Create a pod, unless its name exists."""
        if self.find_pod(_pod_key(number)) is None:
            names = [self._traits[trait] for trait in traits]
            self._create_pod(number, cpu, priority, names)

    def delete_pod(self, number: int, grace: int) -> None:
        """Delete a pod."""
        pod = self.find_pod(_pod_key(number))
        if pod is not None:
            self._cluster.delete(Pod, pod.key, grace_period_seconds=grace)

    def recreate_pod(self, number: int) -> None:
        """Delete a pod, and create another one of the same name at once."""
        self.recreate_pod_at(_pod_key(number))

    def lift_gates(self, number: int) -> None:
        """Remove a pod's scheduling gates."""
        pod = self.find_pod(_pod_key(number))
        if pod is not None and pod.spec.scheduling_gates:
            spec = replace(pod.spec, scheduling_gates=())
            self._cluster.update(replace(pod, spec=spec))

    def relabel_pod(self, number: int) -> None:
        """Move a pod to the other app by its label."""
        self.relabel_pod_at(_pod_key(number))

    def resize_pod(self, number: int, cpu: int) -> None:
        """Change the requests of a pod, on a node or not."""
        pod = self.find_pod(_pod_key(number))
        if pod is not None and not pod.is_finished:
            container = pod.spec.containers[0]
            resources = container.resources
            requests = {**resources.requests, "cpu": Quantity(f"{cpu}m")}
            wanted = replace(resources, requests=requests)
            container = replace(container, resources=wanted)
            spec = replace(pod.spec, containers=(container,))
            self._ledger.resized(self._cluster.update(replace(pod, spec=spec)))

    def find_pod(self, key: str) -> Pod | None:
        """Return a pod as the cluster has it, or None."""
        try:
            return self._cluster.get(Pod, key)
        except NotFoundError:
            return None

    def remove_pod_at(self, key: str) -> None:
        """Delete a pod without delay."""
        if self.find_pod(key) is not None:
            self._cluster.delete(Pod, key, grace_period_seconds=0)

    def recreate_pod_at(self, key: str) -> None:
        """Delete a pod, and create another one of the same name at once."""
        pod = self.find_pod(key)
        if pod is not None and not pod.is_finished:
            self._cluster.delete(Pod, key, grace_period_seconds=0)
            number = int(pod.name.removeprefix("pod-"))
            self._create_pod(number, 1000, pod.priority, ())

    def relabel_pod_at(self, key: str) -> None:
        """Move a pod to the other app by its label."""
        pod = self.find_pod(key)
        if pod is not None:
            labels = dict(pod.metadata.labels)
            labels["app"] = APPS[labels["app"] == APPS[0]]
            metadata = replace(pod.metadata, labels=labels)
            self._cluster.update(replace(pod, metadata=metadata))

    def _create_pod(
        self, number: int, cpu: int, priority: int, traits: Sequence[str]
    ) -> None:
        pod = new_pod(number, cpu, priority, traits, self._schedulers)
        self._cluster.create(self._with_traits(pod, traits))

    def _with_traits(self, pod: Pod, _traits: Sequence[str]) -> Pod:
        """Return a pod with the fields that only other kinds of histories use."""
        return pod

    # Nodes --------------------------------------------------------------------------

    def add_node(self, number: int) -> None:
        """Create a node, unless its name exists."""
        if self._find_node(f"node-{number}") is None:
            self._cluster.create(new_node(number))

    def add_nodes(self, number: int) -> None:
        """Create the nodes up to a number, except those that exist."""
        for index in range(number + 1):
            self.add_node(index)

    def add_some_node(self) -> None:
        """Create the first missing node, if any."""
        for number in NODES:
            if self._find_node(f"node-{number}") is None:
                self._cluster.create(new_node(number))
                return

    def remove_node(self, number: int) -> None:
        """Delete a node."""
        self.remove_node_named(f"node-{number}")

    def cordon(self, number: int) -> None:
        """Make a node unschedulable."""
        self.close_node_named(f"node-{number}")

    def uncordon(self, number: int) -> None:
        """Make a node schedulable."""
        self._set_unschedulable(f"node-{number}", False)

    def taint(self, number: int, kind: int) -> None:
        """Add a taint to a node."""
        node = self._find_node(f"node-{number}")
        if node is not None:
            new = make_node(taints=[TAINTS[kind]]).spec.taints[0]
            kept = [taint for taint in node.spec.taints if taint.key != new.key]
            spec = replace(node.spec, taints=(*kept, new))
            self._cluster.update(replace(node, spec=spec))

    def untaint(self, number: int) -> None:
        """Take all taints from a node."""
        node = self._find_node(f"node-{number}")
        if node is not None:
            spec = replace(node.spec, taints=())
            self._cluster.update(replace(node, spec=spec))

    def label_node(self, number: int, kind: int) -> None:
        """Give a node another disk, another zone, or no zone."""
        node = self._find_node(f"node-{number}")
        if node is None:
            return
        labels = dict(node.labels)
        self.has_moved_nodes |= kind > 1
        zone = "topology.kubernetes.io/zone"
        if kind < 2:
            labels["disk"] = ("ssd", "hdd")[kind]
        elif kind < 4:
            labels[zone] = f"zone-{kind - 2}"
        else:
            labels.pop(zone, None)
        metadata = replace(node.metadata, labels=labels)
        self._cluster.update(replace(node, metadata=metadata))

    def resize_node(self, number: int, cpu: int, pods: int) -> None:
        """Change the allocatable resources of a node."""
        node = self._find_node(f"node-{number}")
        if node is not None:
            allocatable = {
                **node.status.allocatable,
                "cpu": Quantity(f"{cpu}m"),
                "pods": Quantity(str(pods)),
            }
            status = replace(node.status, allocatable=allocatable)
            self._cluster.update(replace(node, status=status))

    def remove_node_named(self, name: str) -> None:
        """Delete a node."""
        if self._find_node(name) is not None:
            self._cluster.delete(Node, name)

    def close_node_named(self, name: str) -> None:
        """Make a node unschedulable."""
        self._set_unschedulable(name, True)

    # The rest -----------------------------------------------------------------------

    def add_claim(self, number: int) -> None:
        """Create the claims of a number in both namespaces."""
        for namespace in ("default", "other"):
            claim = new_claim(number, namespace)
            if claim.key not in _keys(self._cluster.list(PersistentVolumeClaim).items):
                self._cluster.create(claim)

    def remove_claim(self, number: int) -> None:
        """Delete the claims of a number that no pod uses."""
        used = {
            f"{pod.namespace}/{volume.name}"
            for pod in self._cluster.list(Pod).items
            for volume in pod.spec.volumes
        }
        for claim in self._cluster.list(PersistentVolumeClaim).items:
            if claim.name == f"claim-{number}" and claim.key not in used:
                self._cluster.delete(PersistentVolumeClaim, claim.key)

    def add_volume(self, number: int) -> None:
        """Create the local volume of a node, unless it exists."""
        volume = new_volume(number)
        if volume.key not in _keys(self._cluster.list(PersistentVolume).items):
            self._cluster.create(volume)

    def add_budget(self, app: int, available: int) -> None:
        """Protect the pods of an app from disruptions."""
        budget = make_pod_disruption_budget(
            name=APPS[app], selector={"app": APPS[app]}, min_available=available
        )
        if budget.key not in _keys(self._cluster.list(PodDisruptionBudget).items):
            self._cluster.create(budget)

    def remove_budget(self, app: int) -> None:
        """Remove the disruption budget of an app."""
        key = f"default/{APPS[app]}"
        if key in _keys(self._cluster.list(PodDisruptionBudget).items):
            self._cluster.delete(PodDisruptionBudget, key)

    def label_namespace(self, team: int) -> None:
        """Set the team of the other namespace by its label."""
        namespace = self._cluster.get(Namespace, "other")
        labels = {**namespace.metadata.labels, "team": TEAMS[team]}
        metadata = replace(namespace.metadata, labels=labels)
        self._cluster.update(replace(namespace, metadata=metadata))

    def _find_node(self, name: str) -> Node | None:
        try:
            return self._cluster.get(Node, name)
        except NotFoundError:
            return None

    def _set_unschedulable(self, name: str, unschedulable: bool) -> None:
        node = self._find_node(name)
        if node is not None:
            spec = replace(node.spec, unschedulable=unschedulable)
            self._cluster.update(replace(node, spec=spec))


def _crowd(number: int) -> Sequence[int]:
    """Return the numbers of pods of one app, namespace and scheduler."""
    return range(number, number + 12 * CROWD, 12)


def _pod_key(number: int) -> str:
    return f"{namespace_of(number)}/pod-{number}"


def _keys(
    objects: Sequence[PersistentVolume | PersistentVolumeClaim | PodDisruptionBudget],
) -> set[str]:
    return {obj.key for obj in objects}
