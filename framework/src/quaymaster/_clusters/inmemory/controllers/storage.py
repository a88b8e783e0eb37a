"""The controllers of volumes and claims: binding, protection and ephemeral volumes."""

from collections.abc import Callable

from quaymaster._api.objects import (
    ApiObject,
    PersistentVolume,
    PersistentVolumeClaim,
    Pod,
    StatefulSet,
)
from quaymaster._clusters.inmemory.access import ClusterAccess
from quaymaster._clusters.inmemory.controllers.claims import ClaimController
from quaymaster._clusters.inmemory.controllers.ephemeral import (
    add_claims,
    has_ephemeral_volumes,
    remove_claims,
)
from quaymaster._clusters.inmemory.controllers.marks import Marks
from quaymaster._clusters.inmemory.controllers.volume_protection import (
    VolumeProtection,
)

__all__ = ["StorageControllers"]


class StorageControllers:
    """Passes changes of claims, volumes and their pods to the controllers of storage.

    Args:
        cluster: The cluster.
        marks: The objects to sync.
        wake: Called when there is work for which no object is marked.
        claim_removed: Called with the namespace of a removed claim if there are
            StatefulSets, whose pods may have waited for its end.

    Attributes:
        claims: Binds claims to volumes, and provisions volumes.
        protection: Keeps claims and volumes that are in use.
    """

    def __init__(
        self,
        cluster: ClusterAccess,
        marks: Marks,
        wake: Callable[[], None],
        claim_removed: Callable[[str], None],
    ) -> None:
        self._cluster = cluster
        self._marks = marks
        self._wake = wake
        self._claim_removed = claim_removed
        self.claims = ClaimController(cluster)
        self.protection = VolumeProtection(cluster, wake)
        self._has_new_volumes = False

    def pod_changed(self, old: Pod | None, new: Pod | None) -> None:
        """Handle a pod with volumes that was created, changed or removed."""
        self.protection.pod_changed(old, new)
        if new is None:
            if old is not None and has_ephemeral_volumes(old):
                remove_claims(self._cluster, old)
        # At creation only, as upstream's queue of ephemeral pods: later changes do not
        # add volumes.
        elif old is None and has_ephemeral_volumes(new):
            self._marks.add(Pod, new.key)

    def sync_pod(self, pod: Pod) -> None:
        """Create the missing claims of a pod's ephemeral volumes."""
        add_claims(self._cluster, pod)

    def claim_changed(
        self, old: PersistentVolumeClaim | None, new: PersistentVolumeClaim | None
    ) -> None:
        """Handle a claim that was created (no old), changed, or removed (no new)."""
        if new is not None:
            self.protection.changed(new)
            self.claims.claim_changed(new)
            self._marks.add(PersistentVolumeClaim, new.key)
        elif old is not None:
            self.protection.removed(old)
            self.claims.claim_removed(old)
            # Without a set, the module of workloads need not be imported.
            if self._cluster.objects(StatefulSet):
                self._claim_removed(old.namespace)

    def volume_changed(
        self, old: PersistentVolume | None, new: PersistentVolume | None
    ) -> None:
        """Handle a volume that was created (no old), changed, or removed (no new)."""
        self.claims.volume_changed(old, new)
        if new is None:
            if old is not None:
                self.protection.removed(old)
            return
        self.protection.changed(new)
        self._marks.add(PersistentVolume, new.key)
        claim = self.claims.claim_of(new)
        if claim is not None:
            self._marks.add(PersistentVolumeClaim, claim)
        else:
            self._volumes_came()

    def class_changed(self, _old: ApiObject | None, _new: ApiObject | None) -> None:
        """Handle a storage class: claims that wait for it may be provisioned."""
        self._volumes_came()

    def offer(self) -> bool:
        """Mark the claims without a volume if there are new volumes or classes."""
        # Reset first: a claim that is synced may create volumes, which ask for another
        # round.
        had, self._has_new_volumes = self._has_new_volumes, False
        if had:
            for key in self.claims.open_claims:
                self._marks.add(PersistentVolumeClaim, key)
        return had

    def _volumes_came(self) -> None:
        self._has_new_volumes = True
        self._wake()
