"""Quotas: their status says how much is used.

Mirrors ``pkg/controller/resourcequota`` (Kubernetes v1.36).
"""

from msgspec.structs import replace

from quaymaster._inmemory.workbench import Workbench
from quaymaster._objects import ResourceQuota, ResourceQuotaStatus

__all__ = ["sync_quota"]


def sync_quota(bench: Workbench, quota: ResourceQuota) -> None:
    """Write down how much is used."""
    status = ResourceQuotaStatus(hard=quota.spec.hard, used=bench.quotas.used(quota))
    if status != quota.status:
        bench.change(quota, replace(quota, status=status))
