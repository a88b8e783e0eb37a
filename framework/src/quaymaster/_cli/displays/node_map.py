"""A map of a cluster: each node as a square, as dark as its room is requested."""

from quaymaster._base.natural_order import natural_key
from quaymaster._cli.amounts import percent
from quaymaster._cli.recorded_output import MapBlock, MappedNode
from quaymaster._cli.recorder import recorder
from quaymaster._studies.capacity.figures import NodeRoom, Room

__all__ = ["show_map"]


def show_map(room: Room) -> None:
    """Add a map of the nodes to the recorded output, if the room has nodes."""
    recording = recorder()
    if recording is None or not room.nodes:
        return
    closed = {node.node for node in room.closed_nodes}
    nodes = [_mapped(node, is_open=node.node not in closed) for node in room.nodes]
    nodes.sort(key=lambda node: (node.group, natural_key(node.name)))
    recording.blocks.append(MapBlock(tuple(nodes)))


def _mapped(node: NodeRoom, *, is_open: bool) -> MappedNode:
    shares = {
        name: amounts.utilization
        for name, amounts in node.resources.items()
        if amounts.requested
    }
    words = [f"{name} {percent(share)}" for name, share in shares.items()]
    status = [] if is_open else [node.status]
    return MappedNode(
        name=node.node,
        group=" ".join(filter(None, node.group)),
        share=max(shares.values(), default=0.0),
        is_open=is_open,
        details=", ".join([*status, *words]) or "nothing requested",
    )
