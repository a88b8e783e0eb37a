"""Look up claims, volumes, classes, drivers and capacity for VolumeBinding."""

from quaymaster import Informers
from quaymaster.columns import ObjectColumn
from quaymaster.objects import (
    CSIDriver,
    CSINode,
    PersistentVolume,
    PersistentVolumeClaim,
    StorageClass,
)
from quaymaster.volumes import (
    MIGRATED_PLUGINS,
    Candidates,
    VolumePool,
    class_of_volume,
    csi_volume,
    in_tree_plugin,
    is_migrated,
)
from quaymaster_volume_binding.assume_cache import AssumeCache
from quaymaster_volume_binding.capacities import Capacities, Room

__all__ = ["Lookup", "as_handled"]


class Lookup:
    """Looks objects up, and prefers their assumed versions.

    Args:
        informers: The engine's copy of the cluster.

    Attributes:
        informers: The same.
        claims: Claims, some of them assumed.
        volumes: Volumes, some of them assumed.
        migrated: The in-tree plugins that CSI drivers replace, by row.
    """

    def __init__(self, informers: Informers) -> None:
        self.informers = informers
        self.claims = AssumeCache(PersistentVolumeClaim, informers)
        self.volumes = AssumeCache(PersistentVolume, informers)
        self.migrated = ObjectColumn(informers, CSINode, _migrated)
        self._capacities = Capacities(informers)
        self._pool = VolumePool()
        self._revisions = (-1, -1)

    def storage_class(self, name: str) -> StorageClass | None:
        """Return a class by its name, or None."""
        return self.informers.get(StorageClass, name)

    def migrated_on(self, node_name: str) -> str:
        """Return the in-tree plugins that CSI drivers replace on a node, as listed."""
        csi_node = self.informers.get(CSINode, node_name)
        return "" if csi_node is None else _migrated(csi_node) or ""

    def room(self, storage_class: StorageClass, size_bytes: int) -> Room | None:
        """Return the nodes with capacity for a volume; None if it is unreported."""
        driver = self.informers.get(CSIDriver, storage_class.provisioner)
        if driver is None or not driver.spec.storage_capacity:
            return None
        return self._capacities.room(storage_class.name, size_bytes)

    def candidates(
        self, claim: PersistentVolumeClaim, storage_class: StorageClass
    ) -> Candidates:
        """Return the unassumed volumes of its class that a claim could get.

        Raises:
            SelectorError: The claim's selector cannot be evaluated.
        """
        self._fill_pool()
        candidates = self._pool.candidates(claim)
        kept = [
            capacity
            for capacity in candidates.kept
            # Upstream lists volumes by the class of the claim, so that a volume of
            # another class is not found even if it is kept for the claim.
            if class_of_volume(capacity.volume) == storage_class.name
        ]
        return Candidates(kept, candidates.free)

    def _fill_pool(self) -> None:
        log, assumed = self.informers.changes(PersistentVolume), self.volumes.changes
        if (log.revision, assumed.revision) == self._revisions:
            return
        changed = log.since(self._revisions[0])
        decided = assumed.since(self._revisions[1])
        if changed is None or decided is None:
            self._pool = VolumePool()
            changed = [volume.key for volume in self.informers.list(PersistentVolume)]
            decided = ()
        for name in (*changed, *decided):
            volume = self.volumes.get(name)
            if volume is None:
                self._pool.drop(name)
            else:
                self._pool.put(volume)
        self._revisions = (log.revision, assumed.revision)


def as_handled(volume: PersistentVolume, listed: str) -> PersistentVolume:
    """Return a volume as a node handles it: translated to CSI if it is migrated there.

    Args:
        volume: The volume.
        listed: The migrated plugins that the node's CSINode lists.

    Raises:
        TranslationError: The volume cannot be translated to CSI.
    """
    plugin = in_tree_plugin(volume)
    if plugin is None or not is_migrated(plugin.name):
        return volume
    return csi_volume(volume) if plugin.name in listed.split(",") else volume


def _migrated(csi_node: CSINode) -> str | None:
    return csi_node.annotations.get(MIGRATED_PLUGINS)
