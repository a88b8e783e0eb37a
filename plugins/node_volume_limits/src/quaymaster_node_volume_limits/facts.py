"""Explain a volume limit: the driver, the volumes in use, and the limit."""

from collections.abc import Collection, Mapping, Sequence
from typing import Final

from quaymaster.objects import CSINode
from quaymaster_node_volume_limits.attachable import Attachable

__all__ = ["UNKNOWN_VOLUME", "explain_limits", "explain_missing"]

UNKNOWN_VOLUME: Final = (
    "the driver of a volume is unknown, so volumes cannot be counted",
)
"""The fact about a node if a claim or its volume is missing, which the reason names."""


def explain_missing(driver: str, csi_node: CSINode | None) -> Sequence[str]:
    """Return which drivers a node has instead of a missing one.

    Args:
        driver: The missing driver.
        csi_node: The drivers of the node, or None.
    """
    first = f"driver {driver} requires nodes to list it (preventPodSchedulingIfMissing)"
    if csi_node is None:
        return [first, "the node has no CSINode"]
    names = ", ".join(sorted(entry.name for entry in csi_node.spec.drivers))
    return [first, f"its CSINode lists {names or 'no driver'}"]


def explain_limits(
    added: Collection[Attachable],
    there: Collection[Attachable],
    limits: Mapping[str, int],
) -> Sequence[str]:
    """Return the drivers whose limit is exceeded, with the volumes of the pod.

    Args:
        added: The volumes of the pod that no pod on the node uses.
        there: The volumes that are attached to the node, or used there.
        limits: The limits of the node by driver.
    """
    needs: list[str] = []
    rests: list[str] = []
    for driver in sorted({volume.driver for volume in added} & limits.keys()):
        handles = sorted(volume.handle for volume in added if volume.driver == driver)
        used = sum(volume.driver == driver for volume in there)
        if used + len(handles) > limits[driver]:
            volumes = "1 volume" if len(handles) == 1 else f"{len(handles)} volumes"
            needs.append(f"wants {volumes} of driver {driver} ({', '.join(handles)})")
            rests.append(f"attached volumes of {driver}: {used} of {limits[driver]}")
    return ["; ".join(needs), *rests] if needs else ()
