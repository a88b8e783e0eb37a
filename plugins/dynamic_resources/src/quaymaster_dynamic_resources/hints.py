"""Whether a change of a claim, or of the pod itself, may help a rejected pod.

Mirrors ``isSchedulableAfterClaimChange`` and ``isSchedulableAfterPodChange``
(kube-scheduler 1.36.2; ``isSchedulableAfterTargetPodUpdate`` in 1.37.2,
``pkg/scheduler/framework/plugins/dynamicresources/dynamicresources.go``).
"""

from collections.abc import Iterable

from quaymaster import Pod, QueueingHint
from quaymaster.objects import ResourceClaim
from quaymaster_dynamic_resources.claims import ClaimError, claims_of
from quaymaster_dynamic_resources.tracker import ClaimTracker

__all__ = [
    "after_claim_change",
    "after_claim_generation",
    "claim_keys",
    "keys_of_claim_change",
]


def after_claim_change(
    tracker: ClaimTracker,
    pod: Pod,
    old: ResourceClaim | None,
    new: ResourceClaim | None,
) -> QueueingHint:
    """Queue the pod if devices were given back, or if a claim of its own has changed.

    Args:
        tracker: The claims.
        pod: The rejected pod.
        old: The claim before; None if it was added.
        new: The claim after; None if it was deleted, which Kubernetes 1.36 does not
            ask about.
    """
    if new is None:
        assert old is not None, "a deleted claim was there"
        gives_back = old.status.allocation is not None
        return QueueingHint.QUEUE if gives_back else QueueingHint.SKIP
    try:
        claims = claims_of(tracker, pod)
    except ClaimError:
        return QueueingHint.SKIP
    if old is not None and old.status.allocation and not new.status.allocation:
        return QueueingHint.QUEUE
    if all(claim.uid != new.uid for claim in claims):
        return QueueingHint.SKIP
    if old is not None and old.status == new.status:
        return QueueingHint.SKIP
    return QueueingHint.QUEUE


def after_claim_generation(tracker: ClaimTracker, pod: Pod, new: Pod) -> QueueingHint:
    """Queue the pod if it is the one that changed, and all its claims are there.

    Args:
        tracker: The claims.
        pod: The rejected pod.
        new: The pod after the change.
    """
    if new.uid != pod.uid:
        return QueueingHint.SKIP
    try:
        claims_of(tracker, new)
    except ClaimError:
        return QueueingHint.SKIP
    return QueueingHint.QUEUE


def claim_keys(pod: Pod) -> Iterable[str]:
    """Return the keys of the claims that a pod names, as far as they have names."""
    names = {one.resource_claim_name for one in pod.spec.resource_claims}
    names |= {one.resource_claim_name for one in pod.status.resource_claim_statuses}
    return [f"{pod.namespace}/{name}" for name in names if name is not None]


def keys_of_claim_change(
    old: ResourceClaim | None, new: ResourceClaim | None
) -> Iterable[str] | None:
    """Return the claim that has changed; None if it has given devices back."""
    gives_back = old is not None and old.status.allocation is not None
    if new is None:
        return None if gives_back else ()
    if gives_back and new.status.allocation is None:
        return None
    return (new.key,)
