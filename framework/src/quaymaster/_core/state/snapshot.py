"""The nodes and pods of a cluster that a scheduling attempt reads.

There is one writer and one thread (the engine's), so the snapshot is not a copy: it is
the engine's cache itself, including assumed pods. Mirrors the methods of ``Snapshot``
for plugins (Kubernetes v1.36, ``pkg/scheduler/backend/cache/snapshot.go``).
"""

from collections.abc import Iterable, Iterator

from quaymaster._api.objects import ContainerPort, Node, Pod, PodStatus
from quaymaster._api.objects.resource_sums import RESIZE_PENDING
from quaymaster._api.objects.resources import usage_by
from quaymaster._base.versions.kubernetes import DEFAULT_KUBERNETES, Kubernetes
from quaymaster._core.state.claim_users import ClaimUsers
from quaymaster._core.state.counting.counts import PodCounts
from quaymaster._core.state.node_info import NodeInfo
from quaymaster._core.state.node_table import NodeTable

__all__ = ["Snapshot"]


class Snapshot:
    """Every node with its pods. Plugins read; only the framework writes.

    Args:
        kubernetes: The version of Kubernetes whose rules give the usage of pods.

    Attributes:
        nodes: The nodes as columns.
        counts: The numbers of pods, per node or topology domain.
        claims: The counts of `claim_users`.
    """

    def __init__(self, kubernetes: Kubernetes = DEFAULT_KUBERNETES) -> None:
        self._usage_of = usage_by(kubernetes)
        self.nodes = NodeTable()
        self.counts = PodCounts(self.nodes)
        self._strays: dict[str, dict[str, Pod]] = {}
        self.claims = ClaimUsers()
        # The last two compared statuses, and whether their usage is the same.
        self._old_status = self._new_status = PodStatus()
        self._is_the_same = True

    def __len__(self) -> int:
        return len(self.nodes)

    def __iter__(self) -> Iterator[NodeInfo]:
        """All nodes, in row order."""
        return iter(self.nodes)

    def get(self, name: str) -> NodeInfo | None:
        """Return a node by its name, or None."""
        return self.nodes.get(name)

    def claim_users(self, key: str) -> int:
        """Return how often pods on nodes name a claim, without ephemeral volumes.

        Args:
            key: The claim's key, ``namespace/name``.
        """
        return self.claims.of(key)

    def add_node(self, node: Node) -> None:
        """Add a node, or apply the change of a node.

        A new node gets its pods that arrived before it.
        """
        name = node.metadata.name
        info = self.nodes.get(name)
        if info is None:
            pods = self._strays.pop(name, {})
            info = NodeInfo(node, pods=pods.values(), usage_of=self._usage_of)
            self.nodes.add(info)
            self.counts.node_changed()
            for pod in pods.values():
                self.counts.pod_changed(pod, info.row, 1)
                self.claims.add(pod, 1)
            return
        images_changed = node.status.images != info.node.status.images
        info.set_node(node)
        if images_changed:
            self.nodes.set_images(info)
        self.nodes.write_node(info)
        self.counts.node_changed()

    def remove_node(self, name: str) -> None:
        """Remove a node; its pods are kept until they are removed themselves."""
        info = self.nodes.get(name)
        if info is None:
            return
        self.nodes.remove(info)
        self.counts.node_changed()
        if info.pods:
            self._strays[name] = dict(info.pods)
            for pod in info.pods.values():
                self.counts.pod_changed(pod, info.row, -1)
                self.claims.add(pod, -1)

    def add_pod(self, pod: Pod) -> None:
        """Add a pod to ``pod.node_name``."""
        info = self.nodes.get(pod.node_name)
        if info is None:
            self._strays.setdefault(pod.node_name, {})[pod.metadata.uid] = pod
            return
        usage = info.add_pod(pod)
        self.counts.pod_changed(pod, info.row, 1)
        self.nodes.write_usage(info)
        if usage.host_ports:
            self._write_host_ports(info, usage.host_ports)
        if pod.spec.volumes:
            self.claims.add(pod, 1)

    def remove_pod(self, pod: Pod) -> None:
        """Remove a pod from ``pod.node_name``."""
        info = self.nodes.get(pod.node_name)
        if info is None:
            strays = self._strays.get(pod.node_name, {})
            strays.pop(pod.metadata.uid, None)
            if not strays:
                self._strays.pop(pod.node_name, None)
            return
        present = info.pods[pod.metadata.uid]
        usage = info.remove_pod(pod)
        self.counts.pod_changed(present, info.row, -1)
        self.nodes.write_usage(info)
        if usage.host_ports:
            self._write_host_ports(info, usage.host_ports)
        if present.spec.volumes:
            self.claims.add(present, -1)

    def replace_pod(self, old: Pod, new: Pod) -> None:
        """Replace the object of a pod on a node."""
        info = self.nodes.get(new.node_name)
        if (
            info is not None
            and old.node_name == new.node_name
            and self._counts_the_same(old, new)
        ):
            # Identity: a changed status is a new object. An equal new object costs one
            # needless check of the node. The start time in it orders victims.
            differs = old.status is not new.status or _annotations_differ(old, new)
            info.replace_pod(new, differs=differs)
            if differs:
                self.nodes.note_pod_change(info)
            return
        self.remove_pod(old)
        self.add_pod(new)

    def _counts_the_same(self, old: Pod, new: Pod) -> bool:
        """Whether the pod counts the same for every plugin."""
        before, after = old.metadata, new.metadata
        # Identity: an update mostly shares the spec, and equal specs become one object
        # when they enter a cluster (`SpecPool`). If not, the pod is removed and added
        # again, which is correct too, but takes five times as long.
        # Identity: an update of anything but the spec keeps the spec's object.
        if (
            old.spec is not new.spec
            or before.deletion_timestamp != after.deletion_timestamp
        ):
            return False
        # Identity: most updates share the labels.
        if before.labels is not after.labels and before.labels != after.labels:
            return False
        if self._reports_the_same(old.status, new.status):
            return True
        # Identity: equal usual amounts share one object.
        return self._usage_of(old) is self._usage_of(new)

    def _reports_the_same(self, old: PodStatus, new: PodStatus) -> bool:
        # Identity: pods of a template that are bound at the same moment share a status.
        if old is not self._old_status or new is not self._new_status:
            self._old_status, self._new_status = old, new
            self._is_the_same = _report_the_same(old, new)
        return self._is_the_same

    def _write_host_ports(self, info: NodeInfo, ports: Iterable[ContainerPort]) -> None:
        keys = [(port.protocol or "TCP", port.host_port) for port in ports]
        self.nodes.write_host_ports(info, keys)


def _annotations_differ(old: Pod, new: Pod) -> bool:
    """Whether the annotations of a pod have changed."""
    before, after = old.metadata.annotations, new.metadata.annotations
    # Identity: most updates share them.
    return before is not after and before != after


def _report_the_same(old: PodStatus, new: PodStatus) -> bool:
    """Whether two statuses of a pod certainly lead to the same usage."""
    # Identity: mostly neither has any. Different objects may still mean equal usage.
    return (
        old.container_statuses is new.container_statuses
        and old.init_container_statuses is new.init_container_statuses
        and old.resources is None
        and new.resources is None
        # Identity: as above.
        and (old.conditions is new.conditions or not _report_resize(old, new))
    )


def _report_resize(*statuses: PodStatus) -> bool:
    """Whether conditions report the state of a resize; no others change usage."""
    for status in statuses:
        for condition in status.conditions:
            if condition.type == RESIZE_PENDING:
                return True
    return False
