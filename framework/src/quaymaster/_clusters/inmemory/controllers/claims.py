"""Claims and volumes: the binder, and the provisioner behind every class.

Mirrors ``pkg/controller/volume/persistentvolume`` (Kubernetes v1.36). A claim whose
class binds immediately gets an existing volume or a new one. A claim that waits for its
first consumer gets the volume that the scheduler reserved for it, or a new one for the
node that the scheduler selected. Provisioners work at once. They publish what is left
where there are CSIStorageCapacities; `known_provisioners` lists what else they do.
"""

from collections.abc import Mapping, Sequence
from typing import Final

from msgspec.structs import replace

from quaymaster._api.objects import (
    CSIStorageCapacity,
    Node,
    PersistentVolume,
    PersistentVolumeClaim,
    PersistentVolumeStatus,
    StorageClass,
)
from quaymaster._clusters.inmemory.access import ClusterAccess
from quaymaster._clusters.inmemory.controllers.accessible_topology import (
    AccessibleTopology,
)
from quaymaster._clusters.inmemory.controllers.known_provisioners import (
    known_provisioner,
)
from quaymaster._clusters.inmemory.controllers.provisioning import make_volume
from quaymaster._clusters.inmemory.controllers.storage_capacities import (
    StorageCapacities,
)
from quaymaster._kits.volumes.claims import (
    class_of_claim,
    is_bound_to,
    is_fully_bound,
    reference_to,
    selected_node,
)
from quaymaster._kits.volumes.names import (
    BIND_COMPLETED,
    BOUND_BY_CONTROLLER,
    NO_PROVISIONER,
    SELECTED_NODE,
)
from quaymaster._kits.volumes.pool import VolumePool

__all__ = ["ClaimController"]

_OF_ATTACHERS: Final = "external-attacher/"
_OF_PROVISIONERS: Final = (
    "external-provisioner.volume.kubernetes.io/finalizer",
    "kubernetes.io/pv-controller",
)


class ClaimController:
    """Binds claims to volumes, and creates volumes for claims that fit none.

    Args:
        cluster: The cluster.
    """

    def __init__(self, cluster: ClusterAccess) -> None:
        self._cluster = cluster
        self._claims = cluster.objects(PersistentVolumeClaim)
        self._volumes = cluster.objects(PersistentVolume)
        self._open: dict[str, None] = {}
        self._left_alone: set[str] = set()
        self._pool = VolumePool()
        self._capacities = StorageCapacities(cluster)
        self._topology = AccessibleTopology(cluster, self._capacities)

    @property
    def open_claims(self) -> list[str]:
        """The keys of the claims that have no volume yet."""
        return list(self._open)

    def keep(self, claim: PersistentVolumeClaim) -> None:
        """Leave a claim without a volume, unless it waits for its first consumer."""
        self._left_alone.add(claim.key)

    def claim_changed(self, claim: PersistentVolumeClaim) -> None:
        """Handle a claim that was created or changed."""
        if is_fully_bound(claim):
            self._open.pop(claim.key, None)
        else:
            self._open[claim.key] = None
            self._reserve(claim)

    def claim_removed(self, claim: PersistentVolumeClaim) -> None:
        """Handle a removed claim: delete or release its volume by its policy."""
        self._open.pop(claim.key, None)
        self._left_alone.discard(claim.key)
        volume = self._volumes.get(claim.spec.volume_name)
        # A volume that another claim has taken is not this claim's to release.
        if volume is None or not is_bound_to(volume, claim):
            if not claim.spec.volume_name:
                self._capacities.release(claim)
            return
        status = replace(volume.status, phase="Released")
        released = self._cluster.change(volume, replace(volume, status=status))
        if volume.spec.persistent_volume_reclaim_policy == "Delete":
            # The order is that of a real cluster: the driver deletes the disk first,
            # and removes its finalizers then.
            self._cluster.delete(self._let_go(released))

    def _let_go(self, volume: PersistentVolume) -> PersistentVolume:
        """Remove the finalizers of a driver, which has detached and deleted a volume.

        They are those of kubernetes-csi/external-provisioner and external-attacher, and
        of the volume controller's own plugins.
        """
        metadata = volume.metadata
        kept = tuple(f for f in metadata.finalizers if not _is_of_driver(f))
        if kept == metadata.finalizers:
            return volume
        metadata = replace(metadata, finalizers=kept)
        return self._cluster.change(volume, replace(volume, metadata=metadata))

    def volume_changed(
        self, old: PersistentVolume | None, new: PersistentVolume | None
    ) -> None:
        """Handle a volume that was created, changed or removed."""
        if new is not None:
            self._pool.put(new)
        elif old is not None:
            self._pool.drop(old.name)
            # When the volume is gone, not when it is released: its disk is occupied
            # until then.
            self._capacities.give_back(old)

    def capacity_changed(
        self, old: CSIStorageCapacity | None, new: CSIStorageCapacity | None
    ) -> None:
        """Index a published capacity that has come, changed, or gone."""
        self._capacities.changed(old, new)

    def nodes_changed(self) -> None:
        """Drop what depends on the labels of nodes."""
        self._topology.nodes_changed()

    def claim_of(self, volume: PersistentVolume) -> str | None:
        """Return the key of the claim of a volume, bound or reserved; or None."""
        reference = volume.spec.claim_ref
        return None if reference is None else f"{reference.namespace}/{reference.name}"

    def sync_volume(self, volume: PersistentVolume) -> None:
        """Mark a new volume as available."""
        reference = volume.spec.claim_ref
        is_new = volume.status.phase in ("", "Pending")
        # A reference without a uid is a reservation by an administrator; the volume
        # stays available until its claim comes (``syncVolume``).
        if is_new and (reference is None or not reference.uid):
            status = replace(volume.status, phase="Available")
            self._cluster.change(volume, replace(volume, status=status))

    def sync(self, claim: PersistentVolumeClaim) -> None:
        """Bind a claim, unless it waits for its first consumer."""
        is_settled = claim.metadata.deletion_timestamp is not None
        if is_settled or is_fully_bound(claim):
            return
        storage_class = self._cluster.objects(StorageClass).get(class_of_claim(claim))
        waits = (
            storage_class is not None
            and storage_class.volume_binding_mode == "WaitForFirstConsumer"
        )
        if claim.key in self._left_alone and not waits:
            return
        volume = self._existing(claim, is_delayed=waits)
        if volume is not None:
            self._bind(volume, claim)
        # A claim that names its volume waits for it for ever, and never gets another
        # one.
        elif claim.spec.volume_name or storage_class is None:
            return
        elif not waits or selected_node(claim) is not None:
            self._provision(claim, storage_class)

    def _existing(
        self, claim: PersistentVolumeClaim, *, is_delayed: bool
    ) -> PersistentVolume | None:
        """Return an existing volume that the claim may be bound to, or None."""
        candidates, volume_name = self._pool.candidates(claim), claim.spec.volume_name
        # Volumes that are reserved for this claim come before all others, also for
        # claims that wait (``FindMatchingVolume``).
        for volume, _ in candidates.kept:
            if volume_name in ("", volume.name):
                return volume
        if volume_name:
            return candidates.free.get(volume_name)
        # ``FindMatchingVolume`` with ``delayBinding``: the scheduler picks free
        # volumes.
        return None if is_delayed else next(iter(candidates.free), None)

    def _provision(
        self, claim: PersistentVolumeClaim, storage_class: StorageClass
    ) -> None:
        provisioner, name = storage_class.provisioner, selected_node(claim)
        if provisioner in ("", NO_PROVISIONER):
            return
        if name is None:
            listed = known_provisioner(provisioner)
            # Such a provisioner needs a selected node even if its class binds at once,
            # so the claim stays pending.
            if listed is None or not listed.needs_node:
                topologies = self._topology.at_once(storage_class, claim)
                self._make_volume(claim, storage_class, topologies)
            return
        node = self._cluster.objects(Node).get(name)
        if node is None:
            self._give_node_back(claim)
            return
        topologies = self._topology.at_node(storage_class, node)
        self._make_volume(claim, storage_class, topologies, node)

    def _make_volume(
        self,
        claim: PersistentVolumeClaim,
        storage_class: StorageClass,
        topologies: Sequence[Mapping[str, str]],
        node: Node | None = None,
    ) -> None:
        volume = make_volume(claim, storage_class, topologies)
        # The name is derived from the claim's uid, so a second sync must not make a
        # second volume.
        if volume.name in self._volumes:
            return
        volume = self._cluster.add(self._cluster.admit(volume))
        if node is None:
            labels = topologies[0] if topologies else {}
            self._capacities.take(volume, storage_class, labels)
        else:
            self._capacities.take(volume, storage_class, node.labels, node.name)
        self._bind(volume, claim)

    def _reserve(self, claim: PersistentVolumeClaim) -> None:
        """Keep the published capacity in step with the node selected for a claim."""
        name = selected_node(claim)
        node = None if name is None else self._cluster.objects(Node).get(name)
        storage_class = self._cluster.objects(StorageClass).get(class_of_claim(claim))
        if node is not None and storage_class is not None:
            self._capacities.reserve(claim, storage_class, node)
        elif not claim.spec.volume_name:
            self._capacities.release(claim)

    def _give_node_back(self, claim: PersistentVolumeClaim) -> None:
        """Report to the scheduler that no volume can be made for the selected node."""
        # ``rescheduleProvisioning``: without the annotation, the pod is scheduled
        # again.
        annotations = {
            key: value
            for key, value in claim.annotations.items()
            if key != SELECTED_NODE
        }
        metadata = replace(claim.metadata, annotations=annotations)
        self._cluster.change(claim, replace(claim, metadata=metadata))

    def _bind(self, volume: PersistentVolume, claim: PersistentVolumeClaim) -> None:
        """Write the binding to both sides; the write to the claim completes it."""
        bound = _bound_volume(volume, claim)
        if bound != volume:
            self._cluster.change(volume, bound)
        # The volume first, then the claim: the scheduler takes the annotation on the
        # claim as proof that both sides agree (``bind``).
        annotations = claim.annotations | {BIND_COMPLETED: "yes"}
        # The annotation marks bindings that the controller made itself, and may
        # therefore undo.
        if not claim.spec.volume_name:
            annotations[BOUND_BY_CONTROLLER] = "yes"
        status = replace(
            claim.status,
            phase="Bound",
            access_modes=volume.spec.access_modes,
            capacity=volume.spec.capacity,
        )
        self._cluster.change(
            claim,
            replace(
                claim,
                metadata=replace(claim.metadata, annotations=annotations),
                spec=replace(claim.spec, volume_name=volume.name),
                status=status,
            ),
        )


def _is_of_driver(finalizer: str) -> bool:
    return finalizer in _OF_PROVISIONERS or finalizer.startswith(_OF_ATTACHERS)


def _bound_volume(
    volume: PersistentVolume, claim: PersistentVolumeClaim
) -> PersistentVolume:
    reference, metadata = volume.spec.claim_ref, volume.metadata
    if reference is None:
        annotations = metadata.annotations | {BOUND_BY_CONTROLLER: "yes"}
        metadata = replace(metadata, annotations=annotations)
    # An administrator's reservation gets the uid of its claim, and is then a binding.
    if reference is None or not reference.uid:
        reference = reference_to(claim)
    return replace(
        volume,
        metadata=metadata,
        spec=replace(volume.spec, claim_ref=reference),
        status=PersistentVolumeStatus(phase="Bound"),
    )
