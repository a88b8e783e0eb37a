"""Classify a pod's claims before nodes are evaluated."""

from collections.abc import Iterable, Iterator, Sequence

import msgspec

from quaymaster import Pod
from quaymaster.errors import QuaymasterError
from quaymaster.objects import PersistentVolume, PersistentVolumeClaim, StorageClass
from quaymaster.volumes import (
    Candidates,
    claim_key,
    claim_name,
    class_of_claim,
    in_tree_plugin,
    is_delayed,
    is_fully_bound,
    is_made_for,
    selected_node,
    storage_of,
    volumes_of,
)
from quaymaster_volume_binding.capacities import Room
from quaymaster_volume_binding.lookup import Lookup

__all__ = [
    "BoundClaim",
    "ClaimError",
    "DelayedClaim",
    "PodClaims",
    "are_all_bound",
    "claims_of",
]


class ClaimError(QuaymasterError):
    """A claim that no node can satisfy in its current state.

    Attributes:
        missing: The key of the claim if it does not exist, or None.
    """

    def __init__(self, text: str, missing: str | None = None) -> None:
        super().__init__(text)
        self.missing = missing


class BoundClaim(msgspec.Struct, frozen=True, eq=False):
    """A claim with a volume.

    Attributes:
        claim: The claim.
        volume: The volume, or None if it does not exist.
        is_in_tree: Whether its plugin was migrated out of Kubernetes.
    """

    claim: PersistentVolumeClaim
    volume: PersistentVolume | None
    is_in_tree: bool


class DelayedClaim(msgspec.Struct, frozen=True, eq=False):
    """A claim that is bound after its pod has a node.

    Attributes:
        claim: The claim.
        storage_class: Its class.
        selected_node: The node that was selected for it earlier, or None.
        candidates: The volumes that it could get.
        room: The nodes with capacity for it; None if the driver does not report
            capacity, or if the claim has no size.
    """

    claim: PersistentVolumeClaim
    storage_class: StorageClass
    selected_node: str | None
    candidates: Candidates
    room: Room | None


class PodClaims(msgspec.Struct, frozen=True, eq=False):
    """The claims of a pod.

    Attributes:
        bound: Those with a volume.
        selected: Those for which a node was selected earlier.
        open: The other delayed claims, the smallest first.
        has_immediate: Whether some unbound claims have a class that binds immediately.
    """

    bound: Sequence[BoundClaim]
    selected: Sequence[DelayedClaim]
    open: Sequence[DelayedClaim]
    has_immediate: bool

    @classmethod
    def sort(
        cls, lookup: Lookup, claims: Iterable[PersistentVolumeClaim]
    ) -> "PodClaims":
        """Classify a pod's claims.

        Raises:
            ValueError: A class has no binding mode.
            SelectorError: A claim's selector cannot be evaluated.
        """
        bound, delayed = [], []
        has_immediate = False
        for claim in claims:
            if is_fully_bound(claim):
                bound.append(_bound(lookup, claim))
                continue
            storage_class = lookup.storage_class(class_of_claim(claim))
            if (
                storage_class is not None
                and is_delayed(claim, storage_class)
                and not claim.spec.volume_name
            ):
                delayed.append((claim, storage_class))
            else:
                has_immediate = True
        # The pod is rejected in any case, so delayed claims need no candidates.
        if has_immediate:
            return cls(bound, (), (), has_immediate)
        examined = list(_examined(lookup, delayed))
        open_ = [claim for claim in examined if claim.selected_node is None]
        # The smallest request first (``byPVCSize`` in ``findMatchingVolumes``), so that
        # a small claim does not take the only volume that is large enough for a later
        # one.
        open_.sort(key=lambda unbound: storage_of(unbound.claim.spec.resources).nanos)
        selected = [claim for claim in examined if claim.selected_node is not None]
        return cls(bound, selected, open_, has_immediate)


def claims_of(lookup: Lookup, pod: Pod) -> Sequence[PersistentVolumeClaim]:
    """Return the claims of a pod's volumes, preferably their assumed versions.

    Raises:
        ClaimError: A claim is missing, lost, being deleted or owned by another pod.
    """
    claims = []
    for volume in volumes_of(pod):
        name = claim_name(pod, volume)
        if name is None:
            continue
        is_ephemeral = volume.ephemeral is not None
        key = claim_key(pod, name)
        claim = lookup.claims.get(key)
        if claim is None:
            waiting = "waiting for ephemeral volume controller to create the "
            text = f'persistentvolumeclaim "{name}"'
            text = waiting + text if is_ephemeral else f"{text} not found"
            raise ClaimError(text, missing=key)
        _check(claim)
        if is_ephemeral and not is_made_for(claim, pod):
            text = f"PVC {claim.key} was not created for pod {pod.key}"
            raise ClaimError(f"{text} (pod is not owner)")
        claims.append(claim)
    return claims


def are_all_bound(lookup: Lookup, pod: Pod) -> bool:
    """Return whether every claim of a pod has a volume.

    A claim that is missing, or that was made for another pod, counts as unbound.
    """
    for volume in volumes_of(pod):
        name = claim_name(pod, volume)
        if name is None:
            continue
        claim = lookup.claims.get(claim_key(pod, name))
        if claim is None or not is_fully_bound(claim):
            return False
        if volume.ephemeral is not None and not is_made_for(claim, pod):
            return False
    return True


def _check(claim: PersistentVolumeClaim) -> None:
    text = f'persistentvolumeclaim "{claim.name}"'
    if claim.status.phase == "Lost":
        volume = claim.spec.volume_name
        raise ClaimError(f'{text} bound to non-existent persistentvolume "{volume}"')
    if claim.metadata.deletion_timestamp is not None:
        raise ClaimError(f"{text} is being deleted")


def _bound(lookup: Lookup, claim: PersistentVolumeClaim) -> BoundClaim:
    volume = lookup.volumes.get(claim.spec.volume_name)
    is_in_tree = volume is not None and in_tree_plugin(volume) is not None
    return BoundClaim(claim, volume, is_in_tree)


def _examined(
    lookup: Lookup, delayed: Sequence[tuple[PersistentVolumeClaim, StorageClass]]
) -> Iterator[DelayedClaim]:
    for claim, storage_class in delayed:
        room = None
        # Without a request, ``hasEnoughCapacity`` checks nothing.
        if "storage" in claim.spec.resources.requests:
            size = storage_of(claim.spec.resources).value
            room = lookup.room(storage_class, size)
        candidates = lookup.candidates(claim, storage_class)
        yield DelayedClaim(claim, storage_class, selected_node(claim), candidates, room)
