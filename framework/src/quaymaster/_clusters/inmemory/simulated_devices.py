"""The annotation that gives a node simple devices: a driver, and how many."""

from collections.abc import Mapping
from typing import Final

from quaymaster._api.objects.syntax import SUBDOMAIN

__all__ = ["DEVICES_ANNOTATION", "devices_of", "read_devices"]

DEVICES_ANNOTATION: Final = "simulation.quaymaster.io/devices"
"""Such as ``gpu.example.com:8,nic.example.com:2``."""

_FORM: Final = "DRIVER:COUNT, such as gpu.example.com:8"
_MOST: Final = 1024
"""The most devices of a driver on a node: eight full slices."""


def read_devices(text: str) -> Mapping[str, int]:
    """Read drivers and the number of devices of each.

    Raises:
        ValueError: The text is not such a list.
    """
    devices: dict[str, int] = {}
    for part in text.split(","):
        driver, _, count = (piece.strip() for piece in part.partition(":"))
        if not SUBDOMAIN.fits(driver) or not count.isdecimal():
            raise ValueError(f"expected {_FORM}, got {part.strip()!r}")
        if driver in devices:
            raise ValueError(f"{driver}: expected once, came twice")
        # Six digits are enough to see that it is too large, however long the text is.
        if not 0 < int(count[:6]) <= _MOST:
            raise ValueError(f"{driver}: expected 1 to {_MOST} devices, got {count}")
        devices[driver] = int(count)
    return devices


def devices_of(annotations: Mapping[str, str]) -> Mapping[str, int]:
    """Return the devices in the annotations of an admitted node."""
    text = annotations.get(DEVICES_ANNOTATION)
    return read_devices(text) if text is not None else {}
