"""Writes the hashes of NodePools, which their claims are compared with.

Mirrors ``pkg/controllers/nodepool/hash/controller.go`` (sigs.k8s.io/karpenter v1.15).
"""

from msgspec.structs import replace

from quaymaster._clusters.inmemory.cluster import InMemoryCluster
from quaymaster._studies.autoscaling.karpenter.labels import NODE_POOL
from quaymaster._studies.autoscaling.karpenter.objects import (
    NodeClaim,
    NodePool,
    condition,
)
from quaymaster._studies.autoscaling.karpenter.template_hash import (
    HASH,
    HASH_VERSION,
    VERSION,
    template_hash,
)

__all__ = ["write_hashes"]


def write_hashes(cluster: InMemoryCluster) -> None:
    """Write the hashes of all pools, and of claims with a hash of another version."""
    for pool in cluster.list(NodePool).items:
        own = template_hash(pool)
        if pool.annotations.get(HASH_VERSION) != VERSION:
            _write_to_claims(cluster, pool.name, own)
        annotations = {**pool.annotations, HASH: own, HASH_VERSION: VERSION}
        if annotations != pool.annotations:
            metadata = replace(pool.metadata, annotations=annotations)
            cluster.update(replace(pool, metadata=metadata))


def _write_to_claims(cluster: InMemoryCluster, pool: str, own: str) -> None:
    """Write a hash to claims whose hash cannot be compared; drifted ones keep it."""
    for claim in cluster.list(NodeClaim).items:
        present = claim.annotations
        if claim.labels.get(NODE_POOL) != pool or present.get(HASH_VERSION) == VERSION:
            continue
        annotations = {**present, HASH_VERSION: VERSION}
        if condition(claim.status.conditions, "Drifted") is None:
            annotations[HASH] = own
        metadata = replace(claim.metadata, annotations=annotations)
        cluster.update(replace(claim, metadata=metadata))
