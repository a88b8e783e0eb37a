"""Namespaces lend each other unused quota, and reclaim it."""

from quaymaster_capacity_scheduling.args import CapacitySchedulingArgs
from quaymaster_capacity_scheduling.elastic_quota import (
    ElasticQuota,
    ElasticQuotaSpec,
    ElasticQuotaStatus,
)
from quaymaster_capacity_scheduling.plugin import CapacityScheduling

__all__ = [
    "CapacityScheduling",
    "CapacitySchedulingArgs",
    "ElasticQuota",
    "ElasticQuotaSpec",
    "ElasticQuotaStatus",
]
