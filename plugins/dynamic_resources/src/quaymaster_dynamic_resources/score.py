"""How good the alternatives are that were found: the earlier ones are better.

Mirrors ``computeScore`` (kube-scheduler 1.36.2,
``pkg/scheduler/framework/plugins/dynamicresources/dynamicresources.go``).
"""

from collections.abc import Iterable
from typing import Final

from quaymaster.objects import AllocationResult, ResourceClaim

__all__ = ["score_of"]

_MOST_ALTERNATIVES: Final = 8


def score_of(claims: Iterable[ResourceClaim], found: Iterable[AllocationResult]) -> int:
    """Return the score of a node.

    Args:
        claims: All claims of a pod.
        found: What was found for those without devices, in their order.
    """
    results = iter(found)
    score = 0
    for claim in claims:
        allocation = claim.status.allocation or next(results)
        chosen = {result.request for result in allocation.devices.results}
        for request in claim.spec.devices.requests:
            for place, alternative in enumerate(request.first_available):
                if f"{request.name}/{alternative.name}" in chosen:
                    score += _MOST_ALTERNATIVES - place
    return score
