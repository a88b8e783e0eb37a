"""The node infos of a recorded case, each with its pods."""

from collections.abc import Mapping, Sequence
from typing import Any

from quaymaster._api.objects import Node
from quaymaster._authors.testing.recorded.objects import object_from, pod_on
from quaymaster._base.versions.kubernetes import Kubernetes
from quaymaster._core.state.node_info import ImageState, NodeInfo
from quaymaster._core.state.snapshot import Snapshot

__all__ = ["RecordedNodes"]


class RecordedNodes:
    """The node infos that calls name by their index.

    One node may have several, with other pods each.

    Args:
        tree: The case.
        kubernetes: The version, by which pods are counted.
    """

    def __init__(self, tree: Mapping[str, Any], kubernetes: Kubernetes) -> None:
        self._trees: Sequence[Mapping[str, Any]] = tree.get("nodes", ())
        self._infos = [_info(node, kubernetes) for node in self._trees]
        self._snapshot: Sequence[int] | None = tree.get("snapshot")

    def info(self, index: int) -> NodeInfo:
        """Return a node info; if a test gave no node, that of a node without a name."""
        return self._infos[index]

    def listed(self) -> Sequence[NodeInfo]:
        """Return the nodes of the snapshot; without one, the first of each name."""
        if self._snapshot is not None:
            return [self.info(index) for index in self._snapshot]
        by_name: dict[str, NodeInfo] = {}
        for info in self._infos:
            by_name.setdefault(info.name, info)
        return list(by_name.values())


def _info(tree: Mapping[str, Any], kubernetes: Kubernetes) -> NodeInfo:
    snapshot = Snapshot(kubernetes)
    node = object_from(tree.get("node") or {}, Node)
    snapshot.add_node(node)
    for number, pod in enumerate(tree.get("pods", ())):
        snapshot.add_pod(pod_on(node, pod, number))
    info = snapshot.get(node.name)
    assert info is not None
    if "images" in tree:
        info.images = {
            name: _image(state["size"], state["numNodes"])
            for name, state in tree["images"].items()
        }
    return info


def _image(size: int, nodes: int) -> ImageState:
    image = ImageState(size)
    image.rows.update(range(nodes))
    return image
