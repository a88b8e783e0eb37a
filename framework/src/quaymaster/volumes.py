"""Volumes, claims and classes, for plugins that schedule by storage."""

from quaymaster._kits.volumes.claims import (
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
from quaymaster._kits.volumes.csi import (
    TranslationError,
    csi_driver_of,
    csi_handle,
    csi_volume,
    in_tree_plugin,
    is_migrated,
)
from quaymaster._kits.volumes.first_reached import FirstReached
from quaymaster._kits.volumes.names import (
    BETA_STORAGE_CLASS,
    BOUND_BY_CONTROLLER,
    MIGRATED_PLUGINS,
    NO_PROVISIONER,
    SELECTED_NODE,
)
from quaymaster._kits.volumes.pool import Candidates, VolumePool, size_of, storage_of
from quaymaster._kits.volumes.topologies import allows_topology
from quaymaster._kits.volumes.volume_topology import (
    VolumeTopology,
    VolumeTopologyCounts,
)

__all__ = [
    "BETA_STORAGE_CLASS",
    "BOUND_BY_CONTROLLER",
    "MIGRATED_PLUGINS",
    "NO_PROVISIONER",
    "SELECTED_NODE",
    "Candidates",
    "FirstReached",
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
    "size_of",
    "storage_of",
    "volumes_fragment",
    "volumes_of",
]
