"""Bindings of volumes: assume them, write them, and wait until they are complete."""

import attrs
from msgspec.structs import replace

from quaymaster import ApiObject, Handle, Node, Pod
from quaymaster.errors import QuaymasterError
from quaymaster.objects import PersistentVolume, PersistentVolumeClaim
from quaymaster.volumes import (
    BOUND_BY_CONTROLLER,
    SELECTED_NODE,
    TranslationError,
    VolumeTopology,
    is_bound_to,
    is_fully_bound,
    reference_to,
    selected_node,
)
from quaymaster_volume_binding.assume_cache import not_found
from quaymaster_volume_binding.lookup import Lookup, as_handled
from quaymaster_volume_binding.plans import StaticBinding, VolumePlan

__all__ = ["BindingError", "Reservation", "WrittenBindings"]


class BindingError(QuaymasterError):
    """The volumes of a pod cannot be bound to its claims."""


@attrs.define(eq=False)
class Reservation:
    """The chosen volumes and claims of one pod, and the progress of writing them.

    Attributes:
        bindings: The claims and their volumes, as they will be written.
        claims: The claims to provision, with their selected node.
        written_bindings: How many of the volumes have been written.
        written_claims: How many of the claims have been written.
    """

    bindings: list[StaticBinding] = attrs.field(factory=list)
    claims: list[PersistentVolumeClaim] = attrs.field(factory=list)
    written_bindings: int = 0
    written_claims: int = 0

    @classmethod
    def assume(cls, lookup: Lookup, plan: VolumePlan, node_name: str) -> "Reservation":
        """Assume the volumes of a plan, so that no other pod gets them.

        Raises:
            OutOfSyncError: An object has changed; nothing is assumed then.
        """
        reservation = cls()
        try:
            for binding in plan.static:
                volume = _bound_volume(binding)
                # Identity: see `_bound_volume`; unchanged volumes are not assumed.
                if volume is not binding.volume:
                    lookup.volumes.assume(volume)
                reservation.bindings.append(StaticBinding(binding.claim, volume))
            for claim in plan.provision:
                selected = _with_annotation(claim, SELECTED_NODE, node_name)
                lookup.claims.assume(selected)
                reservation.claims.append(selected)
        # Also Ctrl-C: volumes that stay assumed without a pod would be lost to all
        # pods.
        except BaseException:
            reservation.revert(lookup)
            raise
        return reservation

    def revert(self, lookup: Lookup) -> None:
        """Release the assumed objects that have not been written."""
        # What was written stays assumed, since the cluster has it; ``bindAPIUpdate``
        # (binder.go) reverts the same part and undoes no write.
        for binding in self.bindings[self.written_bindings :]:
            lookup.volumes.restore(binding.volume)
        for claim in self.claims[self.written_claims :]:
            lookup.claims.restore(claim)

    def write(self, handle: Handle) -> "WrittenBindings":
        """Write all objects to the cluster; its controllers bind and provision.

        Raises:
            ApiError: A write failed or had no response. Earlier writes are not undone.
        """
        written = WrittenBindings()
        for binding in self.bindings:
            # Volumes before claims. The PV controller completes a binding from the
            # volume's side; a claim only names the selected node to a provisioner.
            volume = handle.cluster.update(binding.volume)
            written.bindings.append(StaticBinding(binding.claim, volume))
            self.written_bindings += 1
        for claim in self.claims:
            written.claims.append(handle.cluster.update(claim))
            self.written_claims += 1
        return written


@attrs.define(eq=False)
class WrittenBindings:
    """The written objects, as the cluster has stored them.

    Attributes:
        bindings: The claims and their volumes.
        claims: The claims to provision.
    """

    bindings: list[StaticBinding] = attrs.field(factory=list)
    claims: list[PersistentVolumeClaim] = attrs.field(factory=list)

    def are_complete(self, handle: Handle, lookup: Lookup, pod: Pod) -> bool:
        """Return whether every claim is bound.

        This reads the objects of the cluster, not assumed ones.

        Raises:
            BindingError: They cannot be bound; the pod must be scheduled again.
        """
        node = handle.informers.get(Node, pod.node_name)
        if node is None:
            text = f'failed to get node "{pod.node_name}": '
            raise BindingError(f'{text}node "{pod.node_name}" not found')
        if handle.informers.get(Pod, pod.key) is None:
            raise BindingError(
                f'pod does not exist any more: pod "{pod.name}" not found'
            )
        return all(
            _is_bound(handle, lookup, binding, node) for binding in self.bindings
        ) and all(_is_provisioned(handle, lookup, claim, node) for claim in self.claims)


def _bound_volume(binding: StaticBinding) -> PersistentVolume:
    """Return the volume bound to the claim; the same object if it is bound already."""
    volume, claim = binding.volume, binding.claim
    was_kept = is_bound_to(volume, claim)
    reference = volume.spec.claim_ref
    if reference is None or not was_kept or reference.uid != claim.uid:
        spec = replace(volume.spec, claim_ref=reference_to(claim))
        volume = replace(volume, spec=spec)
    # With this annotation the PV controller may undo the binding; a volume that a user
    # has kept for the claim must not get it.
    if not was_kept and BOUND_BY_CONTROLLER not in volume.annotations:
        annotations = volume.annotations | {BOUND_BY_CONTROLLER: "yes"}
        metadata = replace(volume.metadata, annotations=annotations)
        volume = replace(volume, metadata=metadata)
    return volume


def _with_annotation(
    claim: PersistentVolumeClaim, key: str, value: str
) -> PersistentVolumeClaim:
    annotations = claim.annotations | {key: value}
    return replace(claim, metadata=replace(claim.metadata, annotations=annotations))


def _is_bound(
    handle: Handle, lookup: Lookup, written: StaticBinding, node: Node
) -> bool:
    volume = handle.informers.get(PersistentVolume, written.volume.key)
    claim = handle.informers.get(PersistentVolumeClaim, written.claim.key)
    if volume is None or claim is None:
        gone = written.claim if volume is not None else written.volume
        raise BindingError(f"failed to check binding: {not_found(gone)}")
    # The informer has not delivered our own write. An older version has no claimRef and
    # would look like a binding that was undone.
    if _is_older(volume, written.volume):
        return False
    try:
        _check_topology(lookup, volume, node)
    except TranslationError as error:
        raise BindingError(f"failed to translate pv to csi: {error}") from error
    reference = volume.spec.claim_ref
    if reference is None or not reference.uid:
        raise BindingError(f'ClaimRef got reset for pv "{volume.name}"')
    return is_fully_bound(claim)


def _is_provisioned(
    handle: Handle, lookup: Lookup, written: PersistentVolumeClaim, node: Node
) -> bool:
    claim = handle.informers.get(PersistentVolumeClaim, written.key)
    if claim is None:
        text = f"failed to check provisioning pvc: {not_found(written)}"
        raise BindingError(text)
    if _is_older(claim, written):
        return False
    if not claim.annotations:
        raise BindingError(f'selectedNode annotation reset for PVC "{claim.name}"')
    if selected_node(claim) != node.name:
        # A provisioner rejects the selected node in this way.
        raise BindingError(f'provisioning failed for PVC "{claim.name}"')
    if claim.spec.volume_name:
        volume = handle.informers.get(PersistentVolume, claim.spec.volume_name)
        if volume is None:
            # As ``checkBindings``: the volume of a bound claim may arrive later than
            # the claim.
            return False
        try:
            _check_topology(lookup, volume, node)
        except TranslationError as error:
            raise BindingError(str(error)) from error
    return is_fully_bound(claim)


def _check_topology(lookup: Lookup, volume: PersistentVolume, node: Node) -> None:
    handled = as_handled(volume, lookup.migrated_on(node.name))
    if not VolumeTopology(handled).includes(node.labels):
        raise BindingError(
            f'pv "{volume.name}" node affinity doesn\'t match node "{node.name}": '
            "no matching NodeSelectorTerms"
        )


def _is_older(cached: ApiObject, written: ApiObject) -> bool:
    """Return whether the informer has not delivered a write yet."""
    return _version(cached) < _version(written)


def _version(obj: ApiObject) -> int:
    text = obj.metadata.resource_version
    return int(text) if text.isdecimal() else 0
