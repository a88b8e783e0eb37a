"""What is written to the cluster: allocations, reservations, and their end.

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
    Time,
)
from quaymaster_dynamic_resources.claims import consumer, is_reserved_for
from quaymaster_dynamic_resources.extended import Mappings

__all__ = [
    "WriteError",
    "create_claim",
    "deallocate",
    "delete_claim",
    "remove_reservation",
    "reserve_claim",
    "tell_pod",
]

_FINALIZER: Final = "resource.kubernetes.io/delete-protection"
_TRIES: Final = 5

T = TypeVar("T")


class WriteError(Exception):
    """The cluster did not take what was to be written, or has not said that it did.

    Attributes:
        is_unknown: Whether it may have taken it.
    """

    def __init__(self, text: str, *, is_unknown: bool = False) -> None:
        super().__init__(text)
        self.is_unknown = is_unknown


def create_claim(cluster: Cluster, claim: ResourceClaim) -> ResourceClaim:
    """Store the claim of a pod's extended resources, and return it as stored.

    Raises:
        WriteError: It was not stored.
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
    pod: Pod,
    now: float,
) -> ResourceClaim:
    """Reserve a claim for a pod, with its allocation if it is new.

    Args:
        cluster: The cluster.
        claim: The claim as it is known.
        allocation: What was found for it; None if it has been allocated before.
        pod: The pod.
        now: The time.

    Returns:
        The claim as it is stored then.

    Raises:
        WriteError: It was not written, at least not its reservation.
    """
    known = claim.status.allocation

    def write(claim: ResourceClaim) -> ResourceClaim:
        if claim.metadata.deletion_timestamp is not None:
            raise WriteError(f"claim {claim.key} got deleted in the meantime")
        if allocation is not None and claim.status.allocation is not None:
            text = f"claim {claim.key} got allocated elsewhere in the meantime"
            raise WriteError(text)
        found = allocation or claim.status.allocation
        if allocation is not None:
            claim = _protected(cluster, claim)
        if found is None:
            text = f"claim {claim.key} got deallocated elsewhere in the meantime"
            raise WriteError(text)
        if known is not None and found.devices != known.devices:
            text = f"claim {claim.key} got other devices in the meantime"
            raise WriteError(text)
        if found.allocation_timestamp is None:
            found = replace(found, allocation_timestamp=Time(now))
        others = (one for one in claim.status.reserved_for if one.uid != pod.uid)
        changes: dict[str, object] = {"reserved_for": (*others, consumer(pod))}
        if found != claim.status.allocation:
            changes["allocation"] = found
        return _given(cluster, claim, changes, found, pod)

    try:
        return _retried(cluster, claim, write)
    except ApiError as error:
        what = "allocation and reservation" if allocation else "reservation"
        is_unknown = isinstance(error, UnknownOutcomeError)
        text = f"add {what} to claim {claim.key}: {error}"
        raise WriteError(text, is_unknown=is_unknown) from error


def tell_pod(
    cluster: Cluster, pod: Pod, claim: ResourceClaim, mappings: Mappings
) -> None:
    """Write into a pod's status which claim serves its extended resources.

    Raises:
        WriteError: It was not written.
    """
    if not mappings:
        raise WriteError(
            f"nil or empty request mappings, no update of pod {pod.key} "
            "ExtendedResourceClaimStatus"
        )
    status = PodExtendedResourceClaimStatus(
        request_mappings=mappings, resource_claim_name=claim.name
    )
    # The pod may have changed since, such as by its nomination.
    known = replace(pod, metadata=replace(pod.metadata, resource_version=""))
    try:
        cluster.patch_status(known, {"extended_resource_claim_status": status})
    except ApiError as error:
        text = f"update pod {pod.key} ExtendedResourceClaimStatus: {error}"
        raise WriteError(text) from error


def deallocate(cluster: Cluster, claim: ResourceClaim) -> ResourceClaim:
    """Take the devices from a claim that nobody uses.

    Raises:
        ApiError: The cluster refused.
    """
    return cluster.patch_status(
        claim, {"allocation": None, "reserved_for": (), "devices": ()}
    )


def remove_reservation(
    cluster: Cluster, claim: ResourceClaim, pod: Pod
) -> ResourceClaim:
    """Take a pod from those that a claim is reserved for; it stays allocated.

    Returns:
        The claim as it is stored then.

    Raises:
        ApiError: The cluster refused.
    """

    def write(claim: ResourceClaim) -> ResourceClaim:
        left = [one for one in claim.status.reserved_for if one.uid != pod.uid]
        return cluster.patch_status(claim, {"reserved_for": tuple(left)})

    return _retried(cluster, claim, write)


def delete_claim(cluster: Cluster, claim: ResourceClaim) -> None:
    """Delete the claim of a pod's extended resources, and what protects it.

    Raises:
        ApiError: The cluster refused.
    """

    def write(claim: ResourceClaim) -> ResourceClaim:
        kept = [one for one in claim.metadata.finalizers if one != _FINALIZER]
        metadata = replace(claim.metadata, finalizers=tuple(kept))
        return cluster.update(replace(claim, metadata=metadata))

    try:
        _retried(cluster, claim, write)
        cluster.delete(ResourceClaim, claim.key, uid=claim.uid)
    except NotFoundError:
        return


def _given(
    cluster: Cluster,
    claim: ResourceClaim,
    changes: Mapping[str, object],
    allocation: AllocationResult,
    pod: Pod,
) -> ResourceClaim:
    """Change a claim's status; without an answer, read whether it has been changed."""
    try:
        return cluster.patch_status(claim, changes)
    except UnknownOutcomeError:
        with suppress(ApiError):
            stored = cluster.get(ResourceClaim, claim.key)
            found = stored.status.allocation
            is_given = found is not None and found.devices == allocation.devices
            if is_given and is_reserved_for(stored, pod):
                return stored
        raise


def _protected(cluster: Cluster, claim: ResourceClaim) -> ResourceClaim:
    """The claim with the finalizer that keeps it while it has devices."""
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
    """Write, and again with the claim as it is stored if somebody was faster."""
    for _ in range(_TRIES - 1):
        try:
            return write(claim)
        except ConflictError:
            claim = cluster.get(ResourceClaim, claim.key)
    return write(claim)
