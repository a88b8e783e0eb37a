"""A cache that traces its changes; used only if the topic is traced."""

from quaymaster._api.objects import Node, Pod
from quaymaster._core.contract.trace import TraceCallback
from quaymaster._core.state.group_cache import GroupCache
from quaymaster._core.state.group_states import GroupStates
from quaymaster._core.state.snapshot import Snapshot

__all__ = ["TracedCache"]


class TracedCache(GroupCache):
    """The cache, with a trace of the changes by watches and by the scheduler.

    Args:
        snapshot: The nodes and pods that the cache keeps up to date.
        groups: The pods of groups, if the scheduler has groups.
        trace: Writes the lines.
    """

    __slots__ = ("_trace",)

    def __init__(
        self, snapshot: Snapshot, groups: GroupStates | None, trace: TraceCallback
    ) -> None:
        super().__init__(snapshot, GroupStates() if groups is None else groups)
        self._trace = trace

    def assume(self, pod: Pod) -> None:
        """See `Cache`."""
        super().assume(pod)
        self._trace("assume", pod, node=pod.node_name)

    def forget(self, pod: Pod) -> bool:
        """See `Cache`."""
        is_gone = super().forget(pod)
        if is_gone:
            self._trace("forget", pod, node=pod.node_name)
        return is_gone

    def add_pod(self, pod: Pod) -> None:
        """See `Cache`."""
        uid = pod.metadata.uid
        event = "add" if self.get(uid) is None else "update"
        event = "confirm" if self.is_assumed(uid) else event
        super().add_pod(pod)
        self._trace(event, pod, node=pod.node_name)

    def remove_pod(self, pod: Pod) -> None:
        """See `Cache`."""
        cached = self.get(pod.metadata.uid)
        super().remove_pod(pod)
        if cached is not None:
            self._trace("remove", pod, node=cached.node_name)

    def add_node(self, node: Node) -> None:
        """See `Cache`."""
        super().add_node(node)
        self._trace("set-node", None, node=node.name)

    def remove_node(self, node: Node) -> None:
        """See `Cache`."""
        super().remove_node(node)
        self._trace("remove-node", None, node=node.name)
