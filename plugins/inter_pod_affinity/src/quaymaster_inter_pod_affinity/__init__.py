"""Place pods near other pods, or away from them.

Mirrors ``InterPodAffinity`` (kube-scheduler 1.36.2,
``pkg/scheduler/framework/plugins/interpodaffinity``).
"""

from quaymaster_inter_pod_affinity.args import InterPodAffinityArgs
from quaymaster_inter_pod_affinity.inter_pod_affinity import InterPodAffinity

__all__ = ["InterPodAffinity", "InterPodAffinityArgs"]
