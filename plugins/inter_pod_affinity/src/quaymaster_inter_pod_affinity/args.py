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
        hard_pod_affinity_weight: How much a required affinity of a running pod counts
            as that pod's preference for the incoming one; 0 does not count it.
        ignore_preferred_terms_of_existing_pods: Whether pods without preferences of
            their own are not scored at all.
    """

    hard_pod_affinity_weight: int = attrs.field(default=1, validator=integer(0, 100))
    ignore_preferred_terms_of_existing_pods: bool = False
