"""Explain which claim's volume is in another zone than a node."""

from collections.abc import Iterable, Sequence

from quaymaster import NodeInfo
from quaymaster.objects import PersistentVolume, PersistentVolumeClaim
from quaymaster_volume_zone.topology import VolumeTopology, topologies_of

__all__ = ["explain_zones"]


def explain_zones(
    volumes: Iterable[tuple[PersistentVolumeClaim, PersistentVolume]], node: NodeInfo
) -> Sequence[str]:
    """Return the volumes in other zones or regions, and where the node is.

    Args:
        volumes: The bound claims of the pod, with their volumes.
        node: The node.
    """
    needs: list[str] = []
    values: dict[str, None] = {}
    for claim, volume in volumes:
        unmet = [it for it in topologies_of(volume) if not it.allows(node.labels)]
        if unmet:
            labels = ", ".join(map(_text, unmet))
            needs.append(
                f"claim {claim.key} is volume {volume.name}, labelled {labels}"
            )
            values |= {_value(topology, node): None for topology in unmet}
    return ["; ".join(needs), *values] if needs else ()


def _text(topology: VolumeTopology) -> str:
    return f"{topology.key}={'__'.join(sorted(topology.values))}"


def _value(topology: VolumeTopology, node: NodeInfo) -> str:
    for key in (topology.key, topology.successor):
        if key in node.labels:
            return f"{key}={node.labels[key]} here"
    return f"no label {topology.key} here"
