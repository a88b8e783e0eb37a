"""Claims of NodePools with a fixed number of nodes.

Mirrors ``NewNodeClaimTemplate`` as ``pkg/controllers/static`` calls it
(sigs.k8s.io/karpenter v1.15).
"""

from quaymaster._studies.autoscaling.karpenter.cluster import ClusterState
from quaymaster._studies.autoscaling.karpenter.objects import NodePool
from quaymaster._studies.autoscaling.karpenter.options import KarpenterOptions
from quaymaster._studies.autoscaling.karpenter.solve.chance import Chance
from quaymaster._studies.autoscaling.karpenter.solve.claims import (
    ProposedClaim,
    open_labels,
)
from quaymaster._studies.autoscaling.karpenter.solve.daemon_groups import DaemonPods
from quaymaster._studies.autoscaling.karpenter.solve.templates import (
    PoolTemplate,
    template_of,
    types_of_pools,
)
from quaymaster._studies.autoscaling.karpenter.solve.type_index import TypeIndex

__all__ = ["static_claim"]


def static_claim(
    state: ClusterState, pool: NodePool, options: KarpenterOptions
) -> ProposedClaim | None:
    """Return the claim for one more node of a pool; None if no type is possible.

    Args:
        state: The cluster.
        pool: The pool.
        options: The options of Karpenter.
    """
    types = types_of_pools(state, options, [pool]).get(pool.name, ())
    index = TypeIndex(types, options.well_known_labels)
    template = template_of(pool, index, DaemonPods(state), options)
    if not isinstance(template, PoolTemplate):
        return None
    requirements = template.requirements.copy()
    return ProposedClaim(
        pool=pool,
        pods=(),
        instance_types=index.members(template.types),
        requirements=requirements,
        requests={},
        labels=open_labels(template, requirements, options, Chance(options.seed)),
        annotations=pool.spec.template.metadata.annotations,
    )
