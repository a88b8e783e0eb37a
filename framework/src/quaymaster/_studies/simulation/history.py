"""The history of every pod and node of a simulation."""

from typing import Final

import attrs

from quaymaster._api.objects import Node, Pod
from quaymaster._clusters.inmemory.cluster import InMemoryCluster
from quaymaster._core.contract.cluster import WatchEvent, WatchEventType
from quaymaster._studies.simulation.owners import Owner, owners_of

__all__ = ["History", "NodeSpan", "PodLife"]

_DELETED: Final = WatchEventType.DELETED
_SUCCEEDED: Final = "Succeeded"


@attrs.define(kw_only=True, eq=False)
class PodLife:
    """The history of one pod. Times are seconds since the beginning.

    Attributes:
        pod: The pod as it was created.
        owners: Its controller, the controller's own controller, and so on.
        created: When it entered the simulation.
        bound: When it got its node; None if it has none.
        node: The node's name.
        ended: When its containers had all ended; None if they have not.
        has_succeeded: Whether they have ended with success.
        leaving: When it was deleted; from then on it has its grace period.
        gone: When the cluster removed it.
        lost: When its node was gone, if the node has not come back.
    """

    pod: Pod
    owners: tuple[Owner, ...] = ()
    created: float
    bound: float | None = None
    node: str = ""
    ended: float | None = None
    has_succeeded: bool = False
    leaving: float | None = None
    gone: float | None = None
    lost: float | None = None

    @property
    def waited_until(self) -> float | None:
        """When it no longer waited for a node: it got one, or was deleted."""
        return _first(self.bound, self.leaving, self.gone)

    @property
    def ran_until(self) -> float | None:
        """When it left its node, or None if it has not or never had a node."""
        if self.bound is None:
            return None
        return _first(self.ended, self.gone, self.lost)

    @property
    def has_completed(self) -> bool:
        """Whether it ended with success, before it was deleted or lost."""
        if self.ended is None or not self.has_succeeded:
            return False
        return self.leaving is None or self.ended <= self.leaving

    @property
    def is_waiting(self) -> bool:
        """Whether it waits for a node."""
        return self.waited_until is None

    @property
    def is_running(self) -> bool:
        """Whether it uses resources of a node, terminating or not."""
        return self.bound is not None and self.ran_until is None


@attrs.define(kw_only=True, eq=False)
class NodeSpan:
    """A period in which a node existed and did not change for scheduling.

    Attributes:
        node: The node.
        since: Its beginning, in seconds since the beginning of the simulation.
        until: Its end; None if it goes on.
    """

    node: Node
    since: float
    until: float | None = None


class History:
    """Follows the pods and nodes of an in-memory cluster, from now on.

    Existing objects count as created at the beginning. Each change is read in the
    moment in which it happens. The cluster is not modified.

    Args:
        cluster: The cluster.

    Attributes:
        pods: The history of each pod, in the order of creation.
        nodes: The periods of the nodes, in the order in which nodes came or changed.
        changed: The pods that changed, in order; a pod is listed once per change.
        changes: The number of changes of pods and nodes.
        placed: How many pods have got a node, including those that came with one.
    """

    def __init__(self, cluster: InMemoryCluster) -> None:
        self._cluster = cluster
        self._started = cluster.clock.now()
        self._by_uid: dict[str, PodLife] = {}
        self._on_node: dict[str, dict[str, PodLife]] = {}
        self._spans: dict[str, NodeSpan] = {}
        self._owners: dict[str, tuple[Owner, ...]] = {}
        self._is_due = False
        self.pods: list[PodLife] = []
        self.nodes: list[NodeSpan] = []
        self.changed: list[PodLife] = []
        self.changes = 0
        self.placed = 0
        nodes, pods = cluster.list(Node), cluster.list(Pod)
        for node in nodes.items:
            self._node_is(node, 0.0)
        for pod in pods.items:
            self._pod_is(pod, 0.0)
        self._node_watch = cluster.watch(Node, nodes.resource_version, self._notice)
        self._pod_watch = cluster.watch(Pod, pods.resource_version, self._notice)

    @property
    def now(self) -> float:
        """The time, in seconds since the beginning."""
        # Microseconds: sums of floats would otherwise show digits that no user has
        # written.
        return round(self._cluster.clock.now() - self._started, 6)

    def catch_up(self) -> None:
        """Read all changes up to now."""
        self._is_due = False
        now = self.now
        for node_event in self._node_watch.take():
            self._node_event(node_event, now)
        for pod_event in self._pod_watch.take():
            self._pod_event(pod_event, now)

    def close(self) -> None:
        """Read the last changes, and stop following the cluster."""
        self.catch_up()
        self._node_watch.stop()
        self._pod_watch.stop()

    def _notice(self) -> None:
        """Have changes read before the clock moves."""
        if not self._is_due:
            self._is_due = True
            # A timer of now runs before time moves, and in the background it keeps
            # nothing alive.
            self._cluster.clock.call_later(0.0, self.catch_up, background=True)

    def _pod_event(self, event: WatchEvent[Pod], now: float) -> None:
        pod = event.object
        if event.type is not _DELETED:
            self._pod_is(pod, now)
            return
        life = self._by_uid.pop(pod.uid)
        life.gone = now
        self._on_node.get(life.node, {}).pop(pod.uid, None)
        self._note(life)

    def _pod_is(self, pod: Pod, now: float) -> None:
        life = self._by_uid.get(pod.uid)
        if life is None:
            life = PodLife(pod=pod, owners=self._owners_of(pod), created=now)
            self._by_uid[pod.uid] = life
            self.pods.append(life)
        elif not _has_changed(life, pod):
            return
        if pod.node_name and life.bound is None:
            life.bound, life.node = now, pod.node_name
            self.placed += 1
            self._on_node.setdefault(pod.node_name, {})[pod.uid] = life
        if pod.is_finished and life.ended is None:
            life.ended = now
            life.has_succeeded = pod.status.phase == _SUCCEEDED
        if pod.is_terminating and life.leaving is None:
            life.leaving = now
        self._note(life)

    def _node_event(self, event: WatchEvent[Node], now: float) -> None:
        node = event.object
        if event.type is not _DELETED:
            self._node_is(node, now)
            return
        self._spans.pop(node.name).until = now
        self.changes += 1
        # Pods of a deleted node stay in the cluster for a while, but use nothing any
        # longer.
        for life in self._on_node.get(node.name, {}).values():
            if life.ended is None:
                life.lost = now
                self._note(life)

    def _node_is(self, node: Node, now: float) -> None:
        span = self._spans.get(node.name)
        if span is None:
            # A lost node comes back with the same name, and with the pods that it had.
            self._has_returned(node.name)
        elif _is_same(span.node, node):
            return
        else:
            span.until = now
        span = NodeSpan(node=node, since=now)
        self._spans[node.name] = span
        self.nodes.append(span)
        self.changes += 1

    def _has_returned(self, name: str) -> None:
        for life in self._on_node.get(name, {}).values():
            if life.lost is not None:
                life.lost = None
                self._note(life)

    def _note(self, life: PodLife) -> None:
        self.changed.append(life)
        self.changes += 1

    def _owners_of(self, pod: Pod) -> tuple[Owner, ...]:
        controller = pod.metadata.controller
        if controller is None:
            return ()
        # By controller: the chain of owners is the same for all of its pods.
        owners = self._owners.get(controller.uid)
        if owners is None:
            owners = tuple(owners_of(pod, self._cluster))
            self._owners[controller.uid] = owners
        return owners


def _has_changed(life: PodLife, pod: Pod) -> bool:
    """Whether a pod has changed in a way that its history records."""
    return (
        (life.bound is None and bool(pod.node_name))
        or (life.ended is None and pod.is_finished)
        or (life.leaving is None and pod.is_terminating)
    )


def _is_same(old: Node, new: Node) -> bool:
    """Whether a node is the same for scheduling."""
    return (
        old.spec == new.spec
        and old.metadata.labels == new.metadata.labels
        and old.status.allocatable == new.status.allocatable
    )


def _first(*times: float | None) -> float | None:
    moments = [time for time in times if time is not None]
    return min(moments) if moments else None
