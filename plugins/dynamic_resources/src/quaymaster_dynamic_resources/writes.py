"""Writes to the cluster: add and remove allocations and reservations.

Mirrors ``bindClaim``, ``deleteClaim`` and ``Unreserve`` (kube-scheduler 1.36.2,
``pkg/scheduler/framework/plugins/dynamicresources``).
"""

from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Final, TypeVar

from msgspec.structs import replace

from quaymaster import Pod
from quaymaster.cluster import (
    ApiError,
    Cluster,
    ConflictError,
    NotFoundError,
    UnknownOutcomeError,
)
from quaymaster.objects import (
    AllocationResult,
    PodExtendedResourceClaimStatus,
    ResourceClaim,
    ResourceClaimConsumerReference,
    Time,
)
from quaymaster_dynamic_resources.extended import Mappings
from quaymaster_dynamic_resources.group_claims import is_reserved_for

__all__ = [
    "WriteError",
    "create_claim",
    "deallocate",
    "delete_claim",
    "remove_reservation",
    "reserve_claim",
    "write_pod_status",
]

_FINALIZER: Final = "resource.kubernetes.io/delete-protection"
_TRIES: Final = 5

T = TypeVar("T")


class WriteError(Exception):
    """The cluster rejected a write, or its outcome is unknown.

    Attributes:
        is_unknown: Whether the write may have succeeded.
    """

    def __init__(self, text: str, *, is_unknown: bool = False) -> None:
        super().__init__(text)
        self.is_unknown = is_unknown


def create_claim(cluster: Cluster, claim: ResourceClaim) -> ResourceClaim:
    """Store the claim of a pod's extended resources, and return it as stored.

    Raises:
        WriteError: The claim was not stored.
    """
    metadata = replace(claim.metadata, name="", uid="")
    try:
        return cluster.create(replace(claim, metadata=metadata))
    except ApiError as error:
        text = f"create claim for extended resources {claim.namespace}/: {error}"
        raise WriteError(text) from error


def reserve_claim(
    cluster: Cluster,
    claim: ResourceClaim,
    allocation: AllocationResult | None,
    consumer: ResourceClaimConsumerReference,
    now: float,
) -> ResourceClaim:
    """Reserve a claim for a pod or a group, with its allocation if it is new.

    Args:
        cluster: The cluster.
        claim: The claim, in the last version that the scheduler has.
        allocation: Its new allocation; None if it has been allocated before.
        consumer: The pod or the group.
        now: The time.

    Returns:
        The stored claim.

    Raises:
        WriteError: The claim was not written, or at least not its reservation.
    """
    expected = claim.status.allocation

    def write(claim: ResourceClaim) -> ResourceClaim:
        if claim.metadata.deletion_timestamp is not None:
            raise WriteError(f"claim {claim.key} got deleted in the meantime")
        if allocation is not None and claim.status.allocation is not None:
            text = f"claim {claim.key} got allocated elsewhere in the meantime"
            raise WriteError(text)
        new = allocation or claim.status.allocation
        if allocation is not None:
            # The finalizer before the allocation: a claim that was deleted in between
            # would otherwise vanish with devices in use.
            claim = _protected(cluster, claim)
        if new is None:
            text = f"claim {claim.key} got deallocated elsewhere in the meantime"
            raise WriteError(text)
        # The claim has been freed, and another scheduler has allocated it: the pod was
        # placed for other devices.
        if expected is not None and new.devices != expected.devices:
            text = f"claim {claim.key} got other devices in the meantime"
            raise WriteError(text)
        if new.allocation_timestamp is None:
            new = replace(new, allocation_timestamp=Time(now))
        others = (
            reference
            for reference in claim.status.reserved_for
            if reference.uid != consumer.uid
        )
        changes: dict[str, object] = {"reserved_for": (*others, consumer)}
        if new != claim.status.allocation:
            changes["allocation"] = new
        return _change_status(cluster, claim, changes, new, consumer.uid)

    try:
        return _retried(cluster, claim, write)
    except ApiError as error:
        what = "allocation and reservation" if allocation else "reservation"
        is_unknown = isinstance(error, UnknownOutcomeError)
        text = f"add {what} to claim {claim.key}: {error}"
        raise WriteError(text, is_unknown=is_unknown) from error


def write_pod_status(
    cluster: Cluster, pod: Pod, claim: ResourceClaim, mappings: Mappings
) -> None:
    """Write the claim of a pod's extended resources into the pod's status.

    Raises:
        WriteError: The status was not written.
    """
    if not mappings:
        raise WriteError(
            f"nil or empty request mappings, no update of pod {pod.key} "
            "ExtendedResourceClaimStatus"
        )
    status = PodExtendedResourceClaimStatus(
        request_mappings=mappings, resource_claim_name=claim.name
    )
    # Without a version: the pod may have changed since, for example by a nomination.
    latest = replace(pod, metadata=replace(pod.metadata, resource_version=""))
    try:
        cluster.patch_status(latest, {"extended_resource_claim_status": status})
    except ApiError as error:
        text = f"update pod {pod.key} ExtendedResourceClaimStatus: {error}"
        raise WriteError(text) from error


def deallocate(cluster: Cluster, claim: ResourceClaim) -> ResourceClaim:
    """Deallocate a claim that no pod uses.

    Raises:
        ApiError: The cluster rejected the write.
    """
    return cluster.patch_status(
        claim, {"allocation": None, "reserved_for": (), "devices": ()}
    )


def remove_reservation(
    cluster: Cluster, claim: ResourceClaim, uid: str
) -> ResourceClaim:
    """Remove a pod or a group from the reservations of a claim; it stays allocated.

    Args:
        cluster: The cluster.
        claim: The claim.
        uid: The uid of the pod or the group.

    Returns:
        The stored claim.

    Raises:
        ApiError: The cluster rejected the write.
    """

    def write(claim: ResourceClaim) -> ResourceClaim:
        left = [
            reference for reference in claim.status.reserved_for if reference.uid != uid
        ]
        return cluster.patch_status(claim, {"reserved_for": tuple(left)})

    return _retried(cluster, claim, write)


def delete_claim(cluster: Cluster, claim: ResourceClaim) -> None:
    """Delete the claim of a pod's extended resources, and its finalizer.

    Raises:
        ApiError: The cluster rejected the write.
    """

    def write(claim: ResourceClaim) -> ResourceClaim:
        kept = [
            finalizer
            for finalizer in claim.metadata.finalizers
            if finalizer != _FINALIZER
        ]
        metadata = replace(claim.metadata, finalizers=tuple(kept))
        return cluster.update(replace(claim, metadata=metadata))

    try:
        # First the finalizer, then the claim: deleted with its finalizer, it would
        # stay.
        _retried(cluster, claim, write)
        cluster.delete(ResourceClaim, claim.key, uid=claim.uid)
    except NotFoundError:
        return


def _change_status(
    cluster: Cluster,
    claim: ResourceClaim,
    changes: Mapping[str, object],
    allocation: AllocationResult,
    uid: str,
) -> ResourceClaim:
    """Change a claim's status; if the response is lost, read the claim."""
    try:
        return cluster.patch_status(claim, changes)
    except UnknownOutcomeError:
        with suppress(ApiError):
            stored = cluster.get(ResourceClaim, claim.key)
            current = stored.status.allocation
            is_allocated = current is not None and current.devices == allocation.devices
            if is_allocated and is_reserved_for(stored, uid):
                return stored
        raise


def _protected(cluster: Cluster, claim: ResourceClaim) -> ResourceClaim:
    """Add the finalizer that protects a claim while it is allocated."""
    finalizers = claim.metadata.finalizers
    if _FINALIZER in finalizers:
        return claim
    metadata = replace(claim.metadata, finalizers=(*finalizers, _FINALIZER))
    try:
        return cluster.update(replace(claim, metadata=metadata))
    except ConflictError:
        raise
    except ApiError as error:
        raise WriteError(f"add finalizer to claim {claim.key}: {error}") from error


def _retried(
    cluster: Cluster,
    claim: ResourceClaim,
    write: Callable[[ResourceClaim], ResourceClaim],
) -> ResourceClaim:
    """Write a claim; after a conflict, read it and write again."""
    for _ in range(_TRIES - 1):
        try:
            return write(claim)
        except ConflictError:
            claim = cluster.get(ResourceClaim, claim.key)
    return write(claim)
