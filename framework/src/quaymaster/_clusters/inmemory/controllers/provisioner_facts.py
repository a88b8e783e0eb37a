"""What decides where the volumes of a provisioner can be used."""

import enum
from typing import Final

import msgspec

__all__ = ["HOSTNAME", "ZONE", "KnownProvisioner", "Reach", "VolumeSource"]

HOSTNAME: Final = "kubernetes.io/hostname"
REGION: Final = "topology.kubernetes.io/region"
ZONE: Final = "topology.kubernetes.io/zone"


class Reach(enum.Enum):
    """The nodes that can reach a provisioned volume."""

    NODE = HOSTNAME
    """The node on which the volume is."""

    ZONE = ZONE
    """The nodes in the zone of the volume."""

    REGION = REGION
    """The nodes in the region of the volume."""

    EVERYWHERE = ""
    """All nodes: the provisioner writes no node affinity."""


class VolumeSource(enum.Enum):
    """The kinds of volume sources that provisioners write."""

    CSI = "csi"
    FLEX_VOLUME = "flex_volume"
    HOST_PATH = "host_path"
    LOCAL = "local"
    NFS = "nfs"


class KnownProvisioner(msgspec.Struct, frozen=True):
    """One provisioner.

    Attributes:
        name: The name in storage classes; ``*`` matches any text.
        source: The kind of source that its volumes have.
        reach: The nodes that can reach a volume.
        documentation: Where its volumes are documented.
        topology_key: The label that its own driver sets on nodes, or empty.
        is_attached: Whether its CSIDriver object says that volumes are attached to a
            node before they are mounted.
        needs_node: Whether it provisions only for a selected node, so never for classes
            that bind at once.
    """

    name: str
    source: VolumeSource
    reach: Reach
    documentation: str
    topology_key: str = ""
    needs_node: bool = False
    is_attached: bool = True
