"""The pods of a DaemonSet by node, and which of them are available."""

from collections import Counter
from collections.abc import Iterator

from quaymaster._api.objects import Pod
from quaymaster._clusters.inmemory.controllers.availability import ready_since
from quaymaster._clusters.inmemory.controllers.daemon_pods import node_of
from quaymaster._clusters.inmemory.controllers.revisions import History

__all__ = ["Daemons"]


class Daemons:
    """The pods of one DaemonSet by node.

    Args:
        history: The templates of the DaemonSet.
        min_ready_seconds: How long a pod must have been ready to be available.

    Attributes:
        revision: The hash of the template that all nodes were checked with.
        min_ready_seconds: How long a pod must have been ready to be available.
        by_node: The keys of the pods that are on a node, or meant for it.
        stale: The nodes that must be checked.
        old: The keys of the pods that are of an older template.
        desired: The nodes that should have a pod.
        available: The nodes with a pod that is available and not terminating -> how
            many.
        failed: The deletions of failed pods, by node.
    """

    __slots__ = (
        "_available_pods",
        "_history",
        "_nodes",
        "_ripening",
        "available",
        "by_node",
        "desired",
        "failed",
        "min_ready_seconds",
        "old",
        "revision",
        "stale",
    )

    def __init__(self, history: History, min_ready_seconds: int) -> None:
        self.revision = history.newest
        self.min_ready_seconds = min_ready_seconds
        self.by_node: dict[str, dict[str, None]] = {}
        self.stale: dict[str, None] = {}
        self.old: dict[str, None] = {}
        self.desired: set[str] = set()
        self.available: Counter[str] = Counter()
        self.failed = DeletionBackoff()
        self._history = history
        self._nodes: dict[str, str] = {}
        self._available_pods: set[str] = set()
        self._ripening: dict[str, float] = {}

    def nodes(self) -> set[str]:
        """Return the nodes that have a pod."""
        return {name for name, keys in self.by_node.items() if keys}

    def is_available(self, key: str) -> bool:
        """Return whether a pod is available and not terminating."""
        return key in self._available_pods

    def ripen(self, now: float) -> float | None:
        """Record the pods that have become available with time.

        Returns:
            When the controller looks for the next available pod; None if no pod is
            waiting for that.
        """
        for key in [key for key, due in self._ripening.items() if due <= now]:
            del self._ripening[key]
            self._add_available(key)
        return min(map(self._next_look, self._ripening), default=None)

    def _next_look(self, key: str) -> float:
        """Return when the controller finds that a ready pod is available.

        Upstream counts only the oldest pod of a node as ready, and looks again when it
        is due (``updateDaemonSetStatus``). A younger one is found a second later
        (``updatePod``).
        """
        # Pods are in order of their creation, so the first is the oldest.
        oldest = next(iter(self.by_node[self._nodes[key]]))
        return self._ripening[key] + (key != oldest)

    def note_desired(self, name: str, is_desired: bool) -> None:
        """Record whether a node should have a pod."""
        if is_desired:
            self.desired.add(name)
        else:
            self.desired.discard(name)

    def updated_nodes(self) -> Iterator[tuple[str, str, list[str]]]:
        """Yield each node with an old pod, that pod, and all other pods of the node."""
        for key in list(self.old):
            name = self._nodes[key]
            yield name, key, [other for other in self.by_node[name] if other != key]

    def update(self, pod: Pod, now: float, *, is_there: bool) -> None:
        """Record a pod that was created, changed or removed."""
        key = pod.key
        name = self._nodes.get(key)
        # The node is remembered: the last change of a removed pod must find the same
        # node again.
        if name is None:
            name = self._nodes[key] = node_of(pod)
        self.stale[name] = None
        since = ready_since(pod) if is_there and _is_alive(pod) else None
        self._note_ready(key, since, now)
        keys = self.by_node.setdefault(name, {})
        if is_there:
            keys[key] = None
            if self._history.of(pod.labels) != self.revision:
                self.old[key] = None
        else:
            keys.pop(key, None)
            self.old.pop(key, None)
            del self._nodes[key]

    def _note_ready(self, key: str, since: float | None, now: float) -> None:
        self._ripening.pop(key, None)
        due = None if since is None else since + self.min_ready_seconds
        is_available = due is not None and (not self.min_ready_seconds or due <= now)
        if is_available:
            self._add_available(key)
        else:
            self._drop_available(key)
            if due is not None:
                self._ripening[key] = due

    def _add_available(self, key: str) -> None:
        if key not in self._available_pods:
            self._available_pods.add(key)
            self.available[self._nodes[key]] += 1

    def _drop_available(self, key: str) -> None:
        if key not in self._available_pods:
            return
        self._available_pods.remove(key)
        name = self._nodes[key]
        self.available[name] -= 1
        if not self.available[name]:
            del self.available[name]


class DeletionBackoff:
    """Delays the deletion of pods that fail again and again on a node.

    Mirrors the backoff of ``failedPodsBackoff`` (``pkg/controller/daemon``): it begins
    with one second, doubles, and is forgotten after twice its maximum.
    """

    __slots__ = ("_deletions",)

    # ``failedPodsBackoff``: 1 s, doubled up to 15 minutes, and forgotten after twice
    # that time (client-go, ``hasExpired``).
    _FIRST = 1.0
    _MAX = 15 * 60.0

    def __init__(self) -> None:
        self._deletions: dict[str, tuple[float, float]] = {}

    def due_of(self, name: str, now: float) -> float:
        """Return when a failed pod of a node may be deleted."""
        last, delay = self._deletions.get(name, (now, 0.0))
        return now if now - last > 2 * self._MAX else last + delay

    def record(self, name: str, now: float) -> None:
        """Record the deletion of a failed pod of a node."""
        last, delay = self._deletions.get(name, (now, 0.0))
        is_first = not delay or now - last > 2 * self._MAX
        delay = self._FIRST if is_first else min(2 * delay, self._MAX)
        self._deletions[name] = (now, delay)


def _is_alive(pod: Pod) -> bool:
    return not pod.is_terminating and not pod.is_finished
