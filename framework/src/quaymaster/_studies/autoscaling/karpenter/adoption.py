"""Takes over the nodes of the input.

A dump often lacks NodeClaims. A node with the label of a pool then gets one, as if
Karpenter had made the node.
"""

from typing import Final

from msgspec.structs import replace

from quaymaster._api.objects import Node, ObjectMeta, Time
from quaymaster._clusters.inmemory.cluster import InMemoryCluster
from quaymaster._studies.autoscaling.karpenter.claim_objects import (
    FINALIZER,
    as_ready,
    with_condition,
)
from quaymaster._studies.autoscaling.karpenter.labels import (
    INITIALIZED,
    NODE_POOL,
    REGISTERED,
)
from quaymaster._studies.autoscaling.karpenter.objects import (
    ClaimSpec,
    ClaimStatus,
    NodeClaim,
    NodePool,
)
from quaymaster._studies.autoscaling.karpenter.template_hash import (
    HASH,
    HASH_VERSION,
    VERSION,
    template_hash,
)

__all__ = ["adopt_nodes"]

_OWN: Final = frozenset({REGISTERED, INITIALIZED})
"""Labels of nodes that claims lack."""
_CONDITIONS: Final = ("Launched", "Registered", "Initialized", "Ready")


def adopt_nodes(cluster: InMemoryCluster) -> None:
    """Give claims to the nodes of pools that have none."""
    pools = {pool.name: pool for pool in cluster.list(NodePool).items}
    claimed = {claim.status.provider_id for claim in cluster.list(NodeClaim).items} | {
        claim.status.node_name for claim in cluster.list(NodeClaim).items
    }
    for node in cluster.list(Node).items:
        pool = pools.get(node.labels.get(NODE_POOL, ""))
        is_claimed = node.name in claimed or (
            bool(node.spec.provider_id) and node.spec.provider_id in claimed
        )
        if pool is not None and not is_claimed:
            _adopt(cluster, node, pool)


def _adopt(cluster: InMemoryCluster, node: Node, pool: NodePool) -> None:
    provider_id = node.spec.provider_id or f"simulation://{node.name}"
    # Lines of --nodes say nothing about conditions; such nodes get pods, too.
    if not any(each.type == "Ready" for each in node.status.conditions):
        node = as_ready(node, cluster.clock.now())
    labels = {**node.labels, REGISTERED: "true", INITIALIZED: "true"}
    cluster.update(
        replace(
            node,
            metadata=replace(node.metadata, labels=labels),
            spec=replace(node.spec, provider_id=provider_id),
        )
    )
    template = pool.spec.template.spec
    moment = node.metadata.creation_timestamp or Time(cluster.clock.now())
    claim = NodeClaim(
        metadata=ObjectMeta(
            name=node.name,
            creation_timestamp=moment,
            labels={k: v for k, v in labels.items() if k not in _OWN},
            annotations={HASH: template_hash(pool), HASH_VERSION: VERSION},
            finalizers=(FINALIZER,),
        ),
        spec=ClaimSpec(
            taints=template.taints,
            startup_taints=template.startup_taints,
            requirements=template.requirements,
            node_class_ref=template.node_class_ref,
            termination_grace_period=template.termination_grace_period,
            expire_after=template.expire_after,
        ),
        status=ClaimStatus(
            node_name=node.name,
            provider_id=provider_id,
            capacity=node.status.capacity,
            allocatable=node.status.allocatable,
        ),
    )
    for condition in _CONDITIONS:
        claim = with_condition(claim, condition, moment)
    cluster.create(claim)
