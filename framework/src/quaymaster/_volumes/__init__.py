"""Volumes, claims and classes: what volume plugins and the in-memory cluster share.

That is which claims a pod has, which volume a claim gets, which nodes can reach a
volume, and how CSI drivers see the volumes of in-tree plugins.
"""

from quaymaster._volumes.claims import (
    claim_key,
    claim_name,
    class_of_claim,
    class_of_volume,
    is_bound_to,
    is_delayed,
    is_fully_bound,
    is_made_for,
    reference_to,
    selected_node,
    volumes_fragment,
    volumes_of,
)
from quaymaster._volumes.csi import (
    InTreePlugin,
    TranslationError,
    csi_driver_of,
    csi_handle,
    csi_volume,
    in_tree_plugin,
    is_migrated,
)
from quaymaster._volumes.names import (
    BETA_STORAGE_CLASS,
    BIND_COMPLETED,
    BOUND_BY_CONTROLLER,
    MIGRATED_PLUGINS,
    NO_PROVISIONER,
    PROVISIONED_BY,
    SELECTED_NODE,
    STORAGE_PROVISIONER,
)
from quaymaster._volumes.pool import (
    Candidate,
    Candidates,
    FreeVolumes,
    VolumePool,
    storage_of,
)
from quaymaster._volumes.topologies import allows_topology
from quaymaster._volumes.volume_topology import VolumeTopology, VolumeTopologyCounts

__all__ = [
    "BETA_STORAGE_CLASS",
    "BIND_COMPLETED",
    "BOUND_BY_CONTROLLER",
    "MIGRATED_PLUGINS",
    "NO_PROVISIONER",
    "PROVISIONED_BY",
    "SELECTED_NODE",
    "STORAGE_PROVISIONER",
    "Candidate",
    "Candidates",
    "FreeVolumes",
    "InTreePlugin",
    "TranslationError",
    "VolumePool",
    "VolumeTopology",
    "VolumeTopologyCounts",
    "allows_topology",
    "claim_key",
    "claim_name",
    "class_of_claim",
    "class_of_volume",
    "csi_driver_of",
    "csi_handle",
    "csi_volume",
    "in_tree_plugin",
    "is_bound_to",
    "is_delayed",
    "is_fully_bound",
    "is_made_for",
    "is_migrated",
    "reference_to",
    "selected_node",
    "storage_of",
    "volumes_fragment",
    "volumes_of",
]
