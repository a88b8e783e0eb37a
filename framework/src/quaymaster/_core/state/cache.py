"""The cache: what runs where, as far as the scheduler knows or assumes.

Mirrors the state machine of ``Cache`` (Kubernetes v1.36,
``pkg/scheduler/backend/cache/interface.go``, ``cache.go``)::

    unknown --assume--> assumed --add or update--> added --remove--> unknown
       ^                 |  |                        ^
       +-----forget------+  +---remove (missed)      +-- add or update -- unknown

An assumed pod does not expire: it is confirmed by a watch, or forgotten when its
binding has failed. Watches may repeat, skip and reorder events, so where upstream
reports an error or exits, this cache takes the last event for the truth.
"""

from collections.abc import Iterator, Mapping

from msgspec.structs import replace

from quaymaster._api.objects import Node, Pod
from quaymaster._base.errors import QuaymasterError
from quaymaster._core.state.snapshot import Snapshot

__all__ = ["AssumeError", "Cache"]


class AssumeError(QuaymasterError):
    """A pod that cannot be assumed, because it is on a node already.

    Attributes:
        pod: The pod's key.
        uid: The pod's uid.
        node_name: The node that it is on.
    """

    def __init__(self, pod: Pod, node_name: str) -> None:
        super().__init__(
            f"pod {pod.uid}({pod.key}) is in the cache, so can't be assumed"
            f" (it is on node {node_name})"
        )
        self.pod = pod.key
        self.uid = pod.uid
        self.node_name = node_name


class Cache:
    """Keeps the snapshot in step with watches and with the scheduler's own decisions.

    Args:
        snapshot: What the pods and nodes are written to.
    """

    __slots__ = ("_assumed", "_pods", "_snapshot")

    def __init__(self, snapshot: Snapshot) -> None:
        self._snapshot = snapshot
        self._pods: dict[str, Pod] = {}
        self._assumed: dict[str, None] = {}

    def __len__(self) -> int:
        """How many pods are on nodes, assumed ones included."""
        return len(self._pods)

    @property
    def assumed_count(self) -> int:
        """How many pods are assumed, and not confirmed yet."""
        return len(self._assumed)

    def __iter__(self) -> Iterator[Pod]:
        """The pods that are on nodes, assumed ones included."""
        return iter(self._pods.values())

    def get(self, uid: str) -> Pod | None:
        """Return the pod as it is counted on its node, or None."""
        return self._pods.get(uid)

    def is_assumed(self, uid: str) -> bool:
        """Whether a pod is assumed, and not confirmed yet."""
        return uid in self._assumed

    def assume(self, pod: Pod) -> None:
        """Count a pod in on ``pod.node_name`` before it is bound there.

        Raises:
            AssumeError: It is assumed or known to be on a node already.
        """
        uid = pod.metadata.uid
        known = self._pods.get(uid)
        if known is not None:
            raise AssumeError(pod, known.node_name)
        self._pods[uid] = pod
        self._assumed[uid] = None
        self._snapshot.add_pod(pod)

    def annotate(self, pod: Pod, annotations: Mapping[str, str]) -> Pod:
        """Give an assumed pod more annotations, which it is going to be bound with.

        Returns:
            The pod as it is assumed now.
        """
        metadata = pod.metadata
        new = replace(
            pod,
            metadata=replace(
                metadata, annotations={**metadata.annotations, **annotations}
            ),
        )
        self._pods[metadata.uid] = new
        self._snapshot.replace_pod(pod, new)
        return new

    def forget(self, pod: Pod) -> bool:
        """Count a pod out that was assumed on ``pod.node_name``.

        Returns:
            Whether it was removed. It is not if a watch has confirmed it, or has told
            of another node.
        """
        uid = pod.metadata.uid
        known = self._pods.get(uid)
        if known is None:
            return True
        if uid not in self._assumed or known.node_name != pod.node_name:
            return False
        self._remove(uid, known)
        return True

    def add_pod(self, pod: Pod) -> None:
        """Take over a pod that a watch has seen on a node; confirm an assumed one.

        If it was assumed on another node, it moves.
        """
        uid = pod.metadata.uid
        known = self._pods.get(uid)
        self._assumed.pop(uid, None)
        self._pods[uid] = pod
        if known is None:
            self._snapshot.add_pod(pod)
        else:
            self._snapshot.replace_pod(known, pod)

    def update_pod(self, old: Pod, new: Pod) -> None:
        """Take over a change that a watch has seen of a pod on a node."""
        if old.metadata.uid != new.metadata.uid:
            self.remove_pod(old)
        self.add_pod(new)

    def remove_pod(self, pod: Pod) -> None:
        """Remove a pod that is gone; the node that the watch tells may be stale."""
        known = self._pods.get(pod.metadata.uid)
        if known is not None:
            self._remove(pod.metadata.uid, known)

    def add_node(self, node: Node) -> None:
        """Take over a new or a changed node."""
        self._snapshot.add_node(node)

    def remove_node(self, node: Node) -> None:
        """Remove a node; its pods stay known until they go, too."""
        self._snapshot.remove_node(node.name)

    def _remove(self, uid: str, known: Pod) -> None:
        del self._pods[uid]
        self._assumed.pop(uid, None)
        self._snapshot.remove_pod(known)
