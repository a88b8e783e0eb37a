"""A cache that tells what changes in it; used only if somebody wants to know."""

from quaymaster._api.objects import Node, Pod
from quaymaster._core.contract.trace import Tell
from quaymaster._core.state.cache import Cache
from quaymaster._core.state.snapshot import Snapshot

__all__ = ["TracedCache"]


class TracedCache(Cache):
    """The cache, which tells what watches and the scheduler change in it.

    Args:
        snapshot: What the pods and nodes are written to.
        tell: Writes the lines.
    """

    __slots__ = ("_tell",)

    def __init__(self, snapshot: Snapshot, tell: Tell) -> None:
        super().__init__(snapshot)
        self._tell = tell

    def assume(self, pod: Pod) -> None:
        """See `Cache`."""
        super().assume(pod)
        self._tell("assume", pod, node=pod.node_name)

    def forget(self, pod: Pod) -> bool:
        """See `Cache`."""
        is_gone = super().forget(pod)
        if is_gone:
            self._tell("forget", pod, node=pod.node_name)
        return is_gone

    def add_pod(self, pod: Pod) -> None:
        """See `Cache`."""
        uid = pod.metadata.uid
        event = "add" if self.get(uid) is None else "update"
        event = "confirm" if self.is_assumed(uid) else event
        super().add_pod(pod)
        self._tell(event, pod, node=pod.node_name)

    def remove_pod(self, pod: Pod) -> None:
        """See `Cache`."""
        known = self.get(pod.metadata.uid)
        super().remove_pod(pod)
        if known is not None:
            self._tell("remove", pod, node=known.node_name)

    def add_node(self, node: Node) -> None:
        """See `Cache`."""
        super().add_node(node)
        self._tell("set-node", None, node=node.name)

    def remove_node(self, node: Node) -> None:
        """See `Cache`."""
        super().remove_node(node)
        self._tell("remove-node", None, node=node.name)
