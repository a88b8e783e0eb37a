"""Queueing hints for changes of claims, and of the rejected pod itself.

Mirrors ``isSchedulableAfterClaimChange`` and ``isSchedulableAfterPodChange``
(kube-scheduler 1.36.2; ``isSchedulableAfterTargetPodUpdate`` in 1.37.2,
``pkg/scheduler/framework/plugins/dynamicresources/dynamicresources.go``).
"""

from collections.abc import Iterable

from quaymaster import Pod, QueueingHint
from quaymaster.objects import ResourceClaim
from quaymaster_dynamic_resources.claims import claims_of
from quaymaster_dynamic_resources.group_claims import ClaimError, GroupClaims
from quaymaster_dynamic_resources.tracker import ClaimTracker

__all__ = [
    "after_claim_change",
    "after_claim_generation",
    "claim_keys",
    "keys_of_claim_change",
]


def after_claim_change(
    tracker: ClaimTracker,
    groups: GroupClaims,
    pod: Pod,
    old: ResourceClaim | None,
    new: ResourceClaim | None,
) -> QueueingHint:
    """Queue the pod if devices were released, or if one of its own claims has changed.

    Args:
        tracker: The claims.
        groups: Finds out which claims are those of a pod's group.
        pod: The rejected pod.
        old: The claim before, or None if it was added.
        new: The claim after, or None if it was deleted (only since Kubernetes 1.37).
    """
    if new is None:
        assert old is not None, "a deleted claim existed before"
        has_devices = old.status.allocation is not None
        return QueueingHint.QUEUE if has_devices else QueueingHint.SKIP
    try:
        claims = claims_of(tracker, pod, groups)
    except ClaimError:
        return QueueingHint.SKIP
    # Before the check whose claim it is: freed devices may serve any pod.
    if old is not None and old.status.allocation and not new.status.allocation:
        return QueueingHint.QUEUE
    # After the claims are read, as in ``isSchedulableAfterClaimChange``: a pod that
    # lacks another claim is not woken by freed devices either.
    if all(claim.uid != new.uid for claim in claims):
        return QueueingHint.SKIP
    if old is not None and old.status == new.status:
        return QueueingHint.SKIP
    return QueueingHint.QUEUE


def after_claim_generation(
    tracker: ClaimTracker, groups: GroupClaims, pod: Pod, new: Pod
) -> QueueingHint:
    """Queue the pod if it has changed itself, and all its claims exist.

    Args:
        tracker: The claims.
        groups: Finds out which claims are those of a pod's group.
        pod: The rejected pod.
        new: The pod after the change.
    """
    if new.uid != pod.uid:
        return QueueingHint.SKIP
    try:
        claims_of(tracker, new, groups)
    except ClaimError:
        return QueueingHint.SKIP
    return QueueingHint.QUEUE


def claim_keys(pod: Pod) -> Iterable[str]:
    """Return the keys of a pod's claims that have names already."""
    names = {claim.resource_claim_name for claim in pod.spec.resource_claims}
    names |= {claim.resource_claim_name for claim in pod.status.resource_claim_statuses}
    return [f"{pod.namespace}/{name}" for name in names if name is not None]


def keys_of_claim_change(
    old: ResourceClaim | None, new: ResourceClaim | None
) -> Iterable[str] | None:
    """Return the key of a changed claim, or None if it has released devices."""
    had_devices = old is not None and old.status.allocation is not None
    if new is None:
        return None if had_devices else ()
    if had_devices and new.status.allocation is None:
        return None
    return (new.key,)
