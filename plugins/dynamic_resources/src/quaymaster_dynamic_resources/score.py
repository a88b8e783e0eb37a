"""Score the chosen alternatives of requests: earlier ones are better.

Mirrors ``computeScore`` (kube-scheduler 1.36.2,
``pkg/scheduler/framework/plugins/dynamicresources/dynamicresources.go``).
"""

from collections.abc import Iterable
from typing import Final

from quaymaster.objects import AllocationResult, ResourceClaim

__all__ = ["score_of"]

# FirstAvailableDeviceRequestMaxSize of k8s.io/api.
_MOST_ALTERNATIVES: Final = 8


def score_of(
    claims: Iterable[ResourceClaim], allocations: Iterable[AllocationResult]
) -> int:
    """Return the score of a node.

    Args:
        claims: All claims of a pod.
        allocations: The new allocations of claims that had none, in their order.
    """
    results = iter(allocations)
    score = 0
    for claim in claims:
        allocation = claim.status.allocation or next(results)
        chosen = {result.request for result in allocation.devices.results}
        for request in claim.spec.devices.requests:
            for place, alternative in enumerate(request.first_available):
                if f"{request.name}/{alternative.name}" in chosen:
                    score += _MOST_ALTERNATIVES - place
    return score
