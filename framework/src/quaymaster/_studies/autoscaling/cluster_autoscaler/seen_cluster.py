"""The nodes and pods that the loops look at, and what changes between two of them.

A day has 8,640 loops, but in ten seconds few nodes and pods change. With 5,000 nodes, a
loop that looked at each of them took up to two seconds. So everything that a loop needs
of all nodes and pods is kept here, from their watches; what is computed from it and
kept elsewhere is computed again for the nodes that `SeenCluster.take_touched` returns.
"""

from collections.abc import Iterable, Iterator, Mapping
from operator import attrgetter
from typing import Final

import attrs
from msgspec.structs import replace

from quaymaster._api.objects import Node, NodeCondition, Pod
from quaymaster._clusters.inmemory.cluster import InMemoryCluster
from quaymaster._core.contract.cluster import WatchEventType
from quaymaster._studies.autoscaling.cloud import Cloud
from quaymaster._studies.autoscaling.cluster_autoscaler.node_taints import (
    DELETION_CANDIDATE,
    has_taint,
    is_starting,
)
from quaymaster._studies.autoscaling.cluster_autoscaler.options import (
    ClusterAutoscalerOptions,
)
from quaymaster._studies.autoscaling.cluster_autoscaler.pending import (
    differ_by_attempt,
    is_unschedulable,
)
from quaymaster._studies.autoscaling.cluster_autoscaler.readiness import is_ready

__all__ = ["SeenCluster", "SeenNode", "SeenPod", "in_order"]

_BY_NUMBER: Final = attrgetter("number")


@attrs.frozen(eq=False)
class SeenNode:
    """A node of the cluster.

    Attributes:
        number: Its place in the order of the cluster's list.
        node: The node as upstream sees it: with a startup taint it is not ready.
        group: The name of its group; empty without one.
        is_ready: Whether it is ready.
        is_marked: Whether it has the soft taint of nodes that are not needed.
    """

    number: int
    node: Node
    group: str
    is_ready: bool
    is_marked: bool

    @property
    def name(self) -> str:
        """The name of the node."""
        return self.node.metadata.name


@attrs.define(eq=False)
class SeenPod:
    """A pod of the cluster.

    Attributes:
        number: Its place in the order of the cluster's list.
        pod: The pod. A later version replaces it here if only the outcome of another
            failed attempt differs.
    """

    number: int
    pod: Pod


class SeenCluster:
    """Follows the nodes and pods of a cluster.

    Args:
        cluster: The cluster.
        cloud: The groups.
        options: The options of the autoscaler.

    Attributes:
        nodes: All nodes by name, in the order of the cluster's list.
        members: The nodes of each group by name, in the same order.
        not_ready: The nodes that are not ready, by name.
        marked: The nodes with the soft taint, by name.
        without_node: The number of pods that have no node.
    """

    def __init__(
        self, cluster: InMemoryCluster, cloud: Cloud, options: ClusterAutoscalerOptions
    ) -> None:
        self._cloud = cloud
        self._options = options
        self.nodes: dict[str, SeenNode] = {}
        self.members: dict[str, dict[str, SeenNode]] = {
            name: {} for name in cloud.groups
        }
        self.not_ready: dict[str, SeenNode] = {}
        self.marked: dict[str, SeenNode] = {}
        self.without_node = 0
        self._count = 0
        self._touched: set[str] = set()
        self._pods: dict[str, SeenPod] = {}
        self._pods_on: dict[str, dict[str, SeenPod]] = {}
        self._unschedulable: dict[str, SeenPod] = {}
        self._changed_waits: dict[str, SeenPod | None] = {}
        version = cluster.resource_version
        for node in cluster.list(Node).items:
            self._put_node(node)
        for pod in cluster.list(Pod).items:
            self._put_pod(pod)
        self._node_watch = cluster.watch(Node, version, lambda: None)
        self._pod_watch = cluster.watch(Pod, version, lambda: None)

    def close(self) -> None:
        """End the watches."""
        self._node_watch.stop()
        self._pod_watch.stop()

    def catch_up(self) -> None:
        """Read what has changed in the cluster and in the groups."""
        for event in self._node_watch.take():
            if event.type is WatchEventType.DELETED:
                self._drop_node(event.object.name)
            else:
                self._put_node(event.object)
        moved = self._cloud.take_moved()
        present = (self.nodes[name] for name in moved if name in self.nodes)
        for each in in_order(present):
            self._put_node(each.node)
        for change in self._pod_watch.take():
            if change.type is WatchEventType.DELETED:
                self._drop_pod(change.object.key)
            else:
                self._put_pod(change.object)

    def take_touched(self) -> set[str]:
        """Return the nodes that have changed since the last call, or whose pods have.

        Nodes that are gone are among them.
        """
        touched, self._touched = self._touched, set()
        return touched

    def take_changed_waits(self) -> Mapping[str, SeenPod | None]:
        """Return the unschedulable pods that have changed since the last call, by uid.

        Pods that no longer are unschedulable have None. The outcome of another failed
        attempt is not a change.
        """
        changed, self._changed_waits = self._changed_waits, {}
        return changed

    def unschedulable(self) -> Iterator[Pod]:
        """Yield the pods for which the scheduler has found no node, in order."""
        for each in sorted(self._unschedulable.values(), key=_BY_NUMBER):
            yield each.pod

    def pods_on(self, name: str) -> Iterator[Pod]:
        """Yield the pods that are bound to a node, in the order of their creation."""
        for each in sorted(self._pods_on.get(name, {}).values(), key=_BY_NUMBER):
            yield each.pod

    def _put_node(self, node: Node) -> None:
        name = node.metadata.name
        before = self.nodes.get(name)
        number = self._count if before is None else before.number
        self._count += before is None
        group = self._cloud.group_of(name)
        node = self._as_seen(node)
        seen = SeenNode(
            number,
            node,
            "" if group is None else group.name,
            is_ready(node),
            has_taint(node, DELETION_CANDIDATE),
        )
        if before is not None:
            self._leave(before, seen.group)
        self.nodes[name] = seen
        self._touched.add(name)
        if not seen.is_ready:
            self.not_ready[name] = seen
        if seen.is_marked:
            self.marked[name] = seen
        if seen.group:
            self._join(seen)

    def _join(self, seen: SeenNode) -> None:
        """Add a node to the nodes of its group, in their order, or replace it there."""
        members = self.members[seen.group]
        is_in_order = (
            seen.name in members
            or not members
            or next(reversed(members.values())).number < seen.number
        )
        members[seen.name] = seen
        if not is_in_order:
            self.members[seen.group] = {
                each.name: each for each in in_order(members.values())
            }

    def _drop_node(self, name: str) -> None:
        before = self.nodes.pop(name, None)
        if before is not None:
            self._leave(before, "")
            self._touched.add(name)

    def _leave(self, seen: SeenNode, next_group: str) -> None:
        """Take out a node that is gone, or that has changed and stays in its group."""
        self.not_ready.pop(seen.name, None)
        self.marked.pop(seen.name, None)
        if seen.group and seen.group != next_group:
            del self.members[seen.group][seen.name]

    def _as_seen(self, node: Node) -> Node:
        """Return a node as upstream sees it: with a startup taint it is not ready."""
        if not is_ready(node) or not is_starting(node, self._options):
            return node
        created = node.metadata.creation_timestamp
        not_ready = NodeCondition(
            type="Ready", status="False", last_transition_time=created
        )
        others = (each for each in node.status.conditions if each.type != "Ready")
        status = replace(node.status, conditions=(not_ready, *others))
        return replace(node, status=status)

    def _put_pod(self, pod: Pod) -> None:
        key = pod.key
        before = self._pods.get(key)
        if before is not None:
            # Most changes of pods are of this kind: the message has the number of
            # nodes, so each node that comes or goes changes all of them.
            if key in self._unschedulable and differ_by_attempt(before.pod, pod):
                before.pod = pod
                return
            number = before.number
            self._forget_pod(key, before.pod)
        else:
            number = self._count
            self._count += 1
        seen = self._pods[key] = SeenPod(number, pod)
        if pod.node_name:
            self._pods_on.setdefault(pod.node_name, {})[key] = seen
        else:
            self.without_node += 1
            if is_unschedulable(pod):
                self._unschedulable[key] = seen
                self._changed_waits[pod.uid] = seen
        self._touched.add(pod.node_name or pod.status.nominated_node_name)

    def _drop_pod(self, key: str) -> None:
        before = self._pods.pop(key, None)
        if before is not None:
            self._forget_pod(key, before.pod)

    def _forget_pod(self, key: str, pod: Pod) -> None:
        self._touched.add(pod.node_name or pod.status.nominated_node_name)
        if pod.node_name:
            pods = self._pods_on[pod.node_name]
            del pods[key]
            if not pods:
                del self._pods_on[pod.node_name]
        else:
            self.without_node -= 1
            if self._unschedulable.pop(key, None) is not None:
                self._changed_waits[pod.uid] = None


def in_order(nodes: Iterable[SeenNode]) -> list[SeenNode]:
    """Return nodes in the order of the cluster's list."""
    return sorted(nodes, key=_BY_NUMBER)
