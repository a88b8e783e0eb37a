"""Writes the status of quotas: how much is used.

Mirrors ``pkg/controller/resourcequota`` (Kubernetes v1.36).
"""

from msgspec.structs import replace

from quaymaster._api.objects import ResourceQuota, ResourceQuotaStatus
from quaymaster._clusters.inmemory.access import ClusterAccess

__all__ = ["sync_quota"]


def sync_quota(cluster: ClusterAccess, quota: ResourceQuota) -> None:
    """Write into the quota's status how much is used."""
    status = ResourceQuotaStatus(hard=quota.spec.hard, used=cluster.quotas.used(quota))
    if status != quota.status:
        cluster.change(quota, replace(quota, status=status))
