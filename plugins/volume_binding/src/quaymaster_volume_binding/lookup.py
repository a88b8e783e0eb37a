"""What the plugin looks up of volumes: claims, volumes, classes, drivers, capacity."""

from collections.abc import Mapping

from quaymaster.handle import Informers
from quaymaster.objects import (
    CSIDriver,
    CSINode,
    CSIStorageCapacity,
    PersistentVolume,
    PersistentVolumeClaim,
    StorageClass,
)
from quaymaster.selectors import SelectorError, compile_label_selector
from quaymaster.volumes import (
    MIGRATED_PLUGINS,
    csi_volume,
    in_tree_plugin,
    is_migrated,
)
from quaymaster_volume_binding.assume_cache import AssumeCache

__all__ = ["Lookup", "as_handled", "has_room"]


class Lookup:
    """The cluster's objects, with what was decided and is not written yet.

    Args:
        informers: The engine's copy of the cluster.

    Attributes:
        informers: The same.
        claims: Claims, some of them assumed.
        volumes: Volumes, some of them assumed.
    """

    def __init__(self, informers: Informers) -> None:
        self.informers = informers
        self.claims = AssumeCache(PersistentVolumeClaim, informers)
        self.volumes = AssumeCache(PersistentVolume, informers)

    def storage_class(self, name: str) -> StorageClass | None:
        """A class by its name, or None."""
        return self.informers.get(StorageClass, name)

    def migrated_on(self, node_name: str) -> str:
        """The in-tree plugins that CSI drivers have taken over on a node, as listed."""
        csi_node = self.informers.get(CSINode, node_name)
        return (
            "" if csi_node is None else csi_node.annotations.get(MIGRATED_PLUGINS, "")
        )

    def capacities(
        self, storage_class: StorageClass
    ) -> list[CSIStorageCapacity] | None:
        """Where how much room is left for volumes of a class.

        None if its driver does not say that it keeps track.
        """
        driver = self.informers.get(CSIDriver, storage_class.provisioner)
        if driver is None or not driver.spec.storage_capacity:
            return None
        return [
            capacity
            for capacity in self.informers.list(CSIStorageCapacity)
            if capacity.storage_class_name == storage_class.name
        ]


def has_room(
    capacity: CSIStorageCapacity, size_bytes: int, labels: Mapping[str, str]
) -> bool:
    """Whether a volume of that size can be made for a node with these labels."""
    limit = capacity.maximum_volume_size
    if limit is None:
        limit = capacity.capacity
    if limit is None or limit.value < size_bytes or capacity.node_topology is None:
        return False
    try:
        return compile_label_selector(capacity.node_topology).matches(labels)
    except SelectorError:
        return False


def as_handled(volume: PersistentVolume, listed: str) -> PersistentVolume:
    """A volume as it is handled on a node: by a CSI driver if that has taken over.

    Args:
        volume: The volume.
        listed: The plugins that drivers have taken over there, as its CSINode says.

    Raises:
        TranslationError: The driver cannot be told of the volume.
    """
    plugin = in_tree_plugin(volume)
    if plugin is None or not is_migrated(plugin.name):
        return volume
    return csi_volume(volume) if plugin.name in listed.split(",") else volume
