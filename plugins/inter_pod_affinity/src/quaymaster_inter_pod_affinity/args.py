"""The arguments of InterPodAffinity.

Mirrors ``InterPodAffinityArgs`` (kube-scheduler 1.36.2, ``pkg/scheduler/apis/config``:
types, defaults and validation).
"""

import attrs

from quaymaster.config import integer

__all__ = ["InterPodAffinityArgs"]


@attrs.frozen(kw_only=True)
class InterPodAffinityArgs:
    """The arguments of InterPodAffinity.

    Attributes:
        hard_pod_affinity_weight: The weight of running pods' required affinity terms in
            the score; 0 ignores them.
        ignore_preferred_terms_of_existing_pods: Whether to skip the score for pods
            without preferred terms.
    """

    hard_pod_affinity_weight: int = attrs.field(default=1, validator=integer(0, 100))
    ignore_preferred_terms_of_existing_pods: bool = False
