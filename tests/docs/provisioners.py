"""Generates the table of the page of provisioners from the list in the code."""

from pathlib import Path
from typing import Final

from tests.kit.internals.inmemory import (
    KNOWN_PROVISIONERS,
    KnownProvisioner,
    Reach,
    VolumeSource,
)

__all__ = ["PAGE", "provisioners_page"]

PAGE: Final = Path(__file__).parents[2] / "docs" / "reference" / "provisioners.md"

_HEAD: Final = """\
| provisioner | volume source | reachable from | attached |
| --- | --- | --- | --- |
"""
_END: Final = "<!-- end of the table -->"

_SOURCES: Final = {
    VolumeSource.CSI: "CSI",
    VolumeSource.FLEX_VOLUME: "FlexVolume",
    VolumeSource.HOST_PATH: "hostPath",
    VolumeSource.LOCAL: "local",
    VolumeSource.NFS: "NFS",
}
_REACHES: Final = {
    Reach.NODE: "one node",
    Reach.ZONE: "a zone",
    Reach.REGION: "a region",
    Reach.EVERYWHERE: "everywhere",
}


def provisioners_page() -> str:
    """Return the page with a table of the list."""
    text = PAGE.read_text(encoding="utf-8")
    before, _, rest = text.partition(_HEAD)
    _, _, after = rest.partition(_END)
    return before + _HEAD + "".join(map(_row, KNOWN_PROVISIONERS)) + _END + after


def _row(provisioner: KnownProvisioner) -> str:
    keys = [provisioner.topology_key, provisioner.reach.value]
    labels = ", ".join(f"`{key}`" for key in keys if key)
    reach = _REACHES[provisioner.reach] + (f" ({labels})" if labels else "")
    if provisioner.needs_node:
        reach += "; only for a selected node"
    is_attached = provisioner.source is VolumeSource.CSI and provisioner.is_attached
    return (
        f"| [`{provisioner.name}`]({provisioner.documentation}) "
        f"| {_SOURCES[provisioner.source]} | {reach} "
        f"| {'yes' if is_attached else 'no'} |\n"
    )
