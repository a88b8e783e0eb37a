"""Keeps the states of the images on all nodes up to date."""

from quaymaster._core.state.node_info import ImageState, NodeInfo

__all__ = ["add_images", "remove_images"]


def add_images(states: dict[str, ImageState], info: NodeInfo) -> None:
    """Add the images of a node that has a row, and set the node's image states.

    Args:
        states: Image name -> its state, for images on any node.
        info: The node.
    """
    mine: dict[str, ImageState] = {}
    for image in info.node.status.images:
        for name in image.names:
            state = states.get(name)
            if state is None:
                state = states[name] = ImageState(image.size_bytes)
            state.rows.add(info.row)
            mine[name] = state
    info.images = mine


def remove_images(states: dict[str, ImageState], info: NodeInfo) -> None:
    """Remove the images of a node, and the states of images that no node has now."""
    for name, state in info.images.items():
        state.rows.discard(info.row)
        if not state.rows:
            states.pop(name, None)
    info.images = {}
