"""The nodes of requests, which stay for later requests that only name them."""

from collections.abc import Set
from typing import Final

from quaymaster._api.objects import Node
from quaymaster._core.extenders.node_texts import MOST_BYTES, KnownNode
from quaymaster._core.state.snapshot import Snapshot
from quaymaster._surfaces.extender_server.messages import NodesRequest

__all__ = ["StoredNodes"]

# Chosen, not measured: more than the largest clusters have.
_MOST_NODES: Final = 20_000


class StoredNodes:
    """Stores the nodes of requests in a snapshot.

    If there are too many, or if they are too large, those that the last request does
    not have are removed: nodes of a cluster come and go, and clients may make them up.

    Args:
        snapshot: The snapshot.
        own: The names of the extender's own nodes, which stay.
        most_nodes: How many nodes are stored besides those of the last request.
        most_bytes: How long their texts are together.
    """

    def __init__(
        self,
        snapshot: Snapshot,
        own: Set[str],
        *,
        most_nodes: int = _MOST_NODES,
        most_bytes: int = MOST_BYTES,
    ) -> None:
        self._snapshot = snapshot
        self._own = own
        self._most_nodes, self._most_bytes = most_nodes, most_bytes
        self._nodes: dict[str, Node] = {}
        self._bytes = 0  # of the texts of all nodes since the last removal

    def store(self, request: NodesRequest) -> None:
        """Store the nodes of a request, if it has any."""
        if request.nodes is None:
            return
        stored, latest = self._nodes, request.nodes.nodes
        # Identity: a node with unchanged content is the same object.
        changed = [each for each in latest if stored.get(each.name) is not each.node]
        for each in changed:
            self._snapshot.add_node(each.node)
            stored[each.name] = each.node
            self._bytes += len(each.text)
        is_crowded = len(stored) > self._most_nodes + len(latest)
        if is_crowded or self._bytes > self._most_bytes:
            self._keep_only({each.name: each for each in latest})

    def _keep_only(self, latest: dict[str, KnownNode]) -> None:
        for name in [name for name in self._nodes if name not in latest]:
            del self._nodes[name]
            if name not in self._own:
                self._snapshot.remove_node(name)
        self._bytes = sum(len(each.text) for each in latest.values())
