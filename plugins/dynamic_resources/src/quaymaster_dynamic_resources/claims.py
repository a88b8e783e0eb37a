"""The claims of a pod.

Mirrors ``foreachPodResourceClaim`` (kube-scheduler 1.36.2,
``pkg/scheduler/framework/plugins/dynamicresources/dynamicresources.go``) and
``resourceclaim.Name`` (k8s.io/dynamic-resource-allocation v0.36).
"""

from collections.abc import Iterator

from quaymaster import Pod
from quaymaster.devices import may_be_served_by_devices
from quaymaster.objects import PodResourceClaim, ResourceClaim
from quaymaster_dynamic_resources.group_claims import ClaimError, GroupClaims
from quaymaster_dynamic_resources.tracker import ClaimTracker

__all__ = [
    "claims_of",
    "is_used_by_others",
    "may_need_devices",
]


def claims_of(
    tracker: ClaimTracker, pod: Pod, groups: GroupClaims
) -> list[ResourceClaim]:
    """Return the claims of a pod, in the pod's order.

    Args:
        tracker: The claims.
        pod: The pod.
        groups: Finds out which claims are those of the pod's group.

    Raises:
        ClaimError: One of them cannot be used, at least for now.
    """
    return list(_claims_of(tracker, pod, groups)) if pod.spec.resource_claims else []


def may_need_devices(pod: Pod) -> bool:
    """Return whether a pod has claims, or resources that devices may serve."""
    return bool(pod.spec.resource_claims) or any(
        amount and may_be_served_by_devices(name)
        for container in (*pod.spec.init_containers, *pod.spec.containers)
        for name, amount in container.resources.requests.items()
    )


def is_used_by_others(claim: ResourceClaim, uid: str) -> bool:
    """Return whether a claim is reserved for anything but a pod or a group.

    Args:
        claim: The claim.
        uid: The uid of the pod or the group.
    """
    return any(reference.uid != uid for reference in claim.status.reserved_for)


def _claims_of(
    tracker: ClaimTracker, pod: Pod, groups: GroupClaims
) -> Iterator[ResourceClaim]:
    for named in pod.spec.resource_claims:
        name = _name_of(pod, named)
        # A template may yield no claim for a pod; the resource claim controller then
        # writes a status without a name.
        if name is None:
            continue
        claim = tracker.get(f"{pod.namespace}/{name}")
        if claim is None:
            text = f'could not find ResourceClaim "{pod.namespace}/{name}"'
            raise ClaimError(text)
        if claim.metadata.deletion_timestamp is not None:
            raise ClaimError(f'resourceclaim "{name}" is being deleted')
        if named.resource_claim_name is None and not groups.is_made_for(claim, pod):
            raise ClaimError(groups.refusal(claim, pod))
        yield claim


def _name_of(pod: Pod, named: PodResourceClaim) -> str | None:
    """Return the name of a claim, or None if the pod needs no claim."""
    if named.resource_claim_name is not None:
        return named.resource_claim_name
    if named.resource_claim_template_name is None:
        raise ClaimError(
            f'pod "{pod.key}", spec.resourceClaim "{named.name}": none of the '
            "supported fields are set"
        )
    for status in pod.status.resource_claim_statuses:
        if status.name == named.name:
            return status.resource_claim_name
    raise ClaimError(f'pod "{pod.key}": ResourceClaim not created yet')
