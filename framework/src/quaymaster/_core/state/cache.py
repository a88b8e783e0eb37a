"""The cache: the pods on each node, confirmed by watches or assumed.

Mirrors the state machine of ``Cache`` (Kubernetes v1.36,
``pkg/scheduler/backend/cache/interface.go``, ``cache.go``)::

    unknown --assume--> assumed --add or update--> added --remove--> unknown
       ^                 |  |                        ^
       +-----forget------+  +---remove (missed)      +-- add or update -- unknown

An assumed pod does not expire: a watch confirms it, or the scheduler removes it when
its binding has failed. Watches may repeat, skip and reorder events. So where upstream
reports an error or exits, this cache uses the last event.
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
        snapshot: Receives the pods and nodes.
    """

    __slots__ = ("_assumed", "_pods", "_snapshot")

    def __init__(self, snapshot: Snapshot) -> None:
        self._snapshot = snapshot
        self._pods: dict[str, Pod] = {}
        self._assumed: dict[str, None] = {}

    def __len__(self) -> int:
        """Return the number of pods on nodes, including assumed pods."""
        return len(self._pods)

    @property
    def assumed_count(self) -> int:
        """The number of pods that are assumed and not confirmed yet."""
        return len(self._assumed)

    def __iter__(self) -> Iterator[Pod]:
        """Iterate over the pods on nodes, including assumed pods."""
        return iter(self._pods.values())

    def get(self, uid: str) -> Pod | None:
        """Return the pod as it is counted on its node, or None."""
        return self._pods.get(uid)

    def is_assumed(self, uid: str) -> bool:
        """Whether a pod is assumed, and not confirmed yet."""
        return uid in self._assumed

    def assume(self, pod: Pod) -> None:
        """Add a pod to ``pod.node_name`` before it is bound there.

        Raises:
            AssumeError: The pod is on a node already, or assumed to be.
        """
        uid = pod.metadata.uid
        cached = self._pods.get(uid)
        if cached is not None:
            # The text is upstream's (``AssumePod`` in
            # pkg/scheduler/backend/cache/cache.go), which people search for.
            raise AssumeError(pod, cached.node_name)
        self._pods[uid] = pod
        self._assumed[uid] = None
        self._snapshot.add_pod(pod)

    def annotate(self, pod: Pod, annotations: Mapping[str, str]) -> Pod:
        """Add the annotations of the coming binding to an assumed pod.

        Returns:
            The new assumed pod.
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
        """Remove a pod that was assumed on ``pod.node_name``.

        Returns:
            Whether it is gone. False if a watch has confirmed it, or has reported it on
            another node.
        """
        uid = pod.metadata.uid
        cached = self._pods.get(uid)
        if cached is None:
            return True
        # A watch has confirmed the pod meanwhile, or it is on another node: then the
        # cluster knows better than the failed attempt.
        if uid not in self._assumed or cached.node_name != pod.node_name:
            return False
        self._remove(uid, cached)
        return True

    def remove_assumed(self, pod: Pod) -> None:
        """Remove an assumed pod that is being deleted, though its binding goes on."""
        self.forget(pod)

    def add_pod(self, pod: Pod) -> None:
        """Add a pod that a watch reports on a node; confirm it if it was assumed.

        If it was assumed on another node, it moves.
        """
        uid = pod.metadata.uid
        cached = self._pods.get(uid)
        self._assumed.pop(uid, None)
        self._pods[uid] = pod
        if cached is None:
            # Replaced and not removed and added: the node of the watch may differ from
            # the assumed node, and `replace_pod` handles both.
            self._snapshot.add_pod(pod)
        else:
            self._snapshot.replace_pod(cached, pod)

    def update_pod(self, old: Pod, new: Pod) -> None:
        """Apply a change that a watch reports of a pod on a node."""
        if old.metadata.uid != new.metadata.uid:
            self.remove_pod(old)
        self.add_pod(new)

    def remove_pod(self, pod: Pod) -> None:
        """Remove a deleted pod; its node according to the watch may be stale."""
        cached = self._pods.get(pod.metadata.uid)
        if cached is not None:
            self._remove(pod.metadata.uid, cached)

    def add_node(self, node: Node) -> None:
        """Add a new node, or apply the change of a node."""
        self._snapshot.add_node(node)

    def remove_node(self, node: Node) -> None:
        """Remove a node; its pods stay in the cache until they are deleted, too."""
        self._snapshot.remove_node(node.name)

    def _remove(self, uid: str, cached: Pod) -> None:
        del self._pods[uid]
        self._assumed.pop(uid, None)
        self._snapshot.remove_pod(cached)
