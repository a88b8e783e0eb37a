"""The claims that the pods of a group share.

A PodGroup lists claims in ``spec.resourceClaims``. A pod of the group that lists the
same claim uses the claim of the group, which is reserved for the group and not for the
pod. Mirrors ``BindTo``, ``IsForPod`` and ``IsReservedForPod``
(k8s.io/dynamic-resource-allocation v0.37, ``resourceclaim/resourceclaim.go``), and
``podGroupStateData`` (kube-scheduler 1.37.2,
``pkg/scheduler/framework/plugins/dynamicresources/dynamicresources.go``).
"""

from collections.abc import Iterator, Sequence
from typing import Final

from quaymaster import CycleState, Handle, Pod, StateKey
from quaymaster.objects import (
    PodGroup,
    PodResourceClaim,
    ResourceClaim,
    ResourceClaimConsumerReference,
)

__all__ = [
    "ClaimError",
    "GroupClaims",
    "consumer",
    "is_reserved_for",
    "pending_claims",
]

_GATE: Final = "DRAWorkloadResourceClaims"
_API_GROUP: Final = "scheduling.k8s.io"
_RESOURCE: Final = "podgroups"

_PENDING: Final = StateKey[set[str]]("DynamicResources of the group")
"""The uids of the claims that the pods of a group have reserved in its cycle."""


class ClaimError(Exception):
    """A claim does not exist, or a pod cannot use it."""


def consumer(pod: Pod) -> ResourceClaimConsumerReference:
    """Return the reservation entry for a pod."""
    return ResourceClaimConsumerReference(resource="pods", name=pod.name, uid=pod.uid)


def is_reserved_for(claim: ResourceClaim, uid: str) -> bool:
    """Return whether a claim is reserved for a pod or a group, by its uid."""
    return any(reference.uid == uid for reference in claim.status.reserved_for)


def pending_claims(state: CycleState) -> set[str] | None:
    """Return the uids of the claims that the cycle of a pod's group has reserved.

    The set may be changed. It is None for pods outside groups, and while a pod of a
    group is being bound.
    """
    group = state.group
    if group is None:
        return None
    pending = group.get(_PENDING)
    if pending is None:
        pending = group[_PENDING] = set()
    return pending


class GroupClaims:
    """Finds out which claims of pods are claims of their groups.

    Args:
        handle: The framework.

    Attributes:
        is_on: Whether groups have claims: the feature gate DRAWorkloadResourceClaims.
    """

    def __init__(self, handle: Handle) -> None:
        self.is_on = handle.kubernetes.enabled(_GATE)
        self._groups = handle.pod_groups

    def group_of(self, pod: Pod) -> PodGroup | None:
        """Return the group of a pod; None if it is in none, or groups have no claims.

        Raises:
            ClaimError: The group does not exist.
        """
        if not self.is_on or not pod.group_key:
            return None
        state = None if self._groups is None else self._groups.get(pod.group_key)
        if state is None:
            key = pod.group_key
            raise ClaimError(f"pod group state not found for pod group {key}")
        if state.group is None:
            key = pod.group_key
            raise ClaimError(f"pod group object not found for pod group {key}")
        return state.group

    def consumers(self, pod: Pod) -> Sequence[ResourceClaimConsumerReference]:
        """Return the object that each claim of a pod is reserved for: it or its group.

        Raises:
            ClaimError: The group of the pod does not exist.
        """
        if not self.is_on:
            return [consumer(pod)] * len(pod.spec.resource_claims)
        group = self.group_of(pod)
        return [self._consumer(pod, group, claim) for claim in _used_claims(pod)]

    def is_made_for(self, claim: ResourceClaim, pod: Pod) -> bool:
        """Whether a claim was made from a template for a pod or its group."""
        owner = claim.metadata.controller
        if owner is None:
            return False
        if owner.uid == pod.uid:
            return True
        # Pods do not know the uid of their group.
        return (
            self.is_on
            and bool(pod.group_key)
            and owner.name == _name_of_group(pod)
            and owner.kind == PodGroup.kind
            and owner.api_version.startswith(f"{_API_GROUP}/")
        )

    def refusal(self, claim: ResourceClaim, pod: Pod) -> str:
        """Return why a pod cannot use a claim that was made for another object."""
        owners = "Pod is not owner"
        if self.is_on and pod.group_key:
            name = _name_of_group(pod)
            owners = f"neither Pod nor PodGroup {name} is the owner"
        return f"ResourceClaim {claim.key} was not created for Pod {pod.key} ({owners})"

    def is_reserved(self, claim: ResourceClaim, pod: Pod) -> bool:
        """Whether a claim is reserved for a pod or for its group."""
        name = _name_of_group(pod) if self.is_on else ""
        return any(
            reference.uid == pod.uid
            or (
                name
                and reference.api_group == _API_GROUP
                and reference.resource == _RESOURCE
                and reference.name == name
            )
            for reference in claim.status.reserved_for
        )

    def _consumer(
        self, pod: Pod, group: PodGroup | None, claim: PodResourceClaim
    ) -> ResourceClaimConsumerReference:
        if group is None or claim not in _claims(group):
            return consumer(pod)
        return ResourceClaimConsumerReference(
            api_group=_API_GROUP, resource=_RESOURCE, name=group.name, uid=group.uid
        )


def _used_claims(pod: Pod) -> Iterator[PodResourceClaim]:
    """Yield the claims of a pod, without those for which no claim was generated."""
    generated = {
        status.name: status.resource_claim_name
        for status in pod.status.resource_claim_statuses
    }
    for claim in pod.spec.resource_claims:
        is_generated = claim.resource_claim_name is None
        if not is_generated or generated.get(claim.name) is not None:
            yield claim


def _claims(group: PodGroup) -> Sequence[PodResourceClaim]:
    """Return the claims of a group as its pods list them."""
    return [
        PodResourceClaim(
            name=claim.name,
            resource_claim_name=claim.resource_claim_name,
            resource_claim_template_name=claim.resource_claim_template_name,
        )
        for claim in group.spec.resource_claims
    ]


def _name_of_group(pod: Pod) -> str:
    return pod.group_key.partition("/")[2]
