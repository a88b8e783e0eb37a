"""The kind ElasticQuota: what a namespace is promised, and what it may have at most."""

from typing import ClassVar

from quaymaster import ApiObject
from quaymaster.objects import ApiValue, Quantity

__all__ = ["ElasticQuota", "ElasticQuotaSpec", "ElasticQuotaStatus"]


class ElasticQuotaSpec(ApiValue, frozen=True, kw_only=True):
    """What a quota says.

    Attributes:
        min: What the namespace can always have back from those who borrowed it.
        max: What it may have at most; empty for no bound. Of CPU, memory and ephemeral
            storage, what a maximum does not name may not be used at all.
    """

    min: dict[str, Quantity] = {}
    max: dict[str, Quantity] = {}


class ElasticQuotaStatus(ApiValue, frozen=True, kw_only=True):
    """What has been observed; nothing is decided by it.

    Attributes:
        used: What the running pods of the namespace request.
    """

    used: dict[str, Quantity] = {}


class ElasticQuota(ApiObject, frozen=True, kw_only=True):
    """The quota of a namespace; of several, the oldest counts.

    Mirrors ``ElasticQuota`` (sigs.k8s.io/scheduler-plugins v0.34.7,
    ``apis/scheduling/v1alpha1/types.go``).
    """

    api_version: ClassVar[str] = "scheduling.x-k8s.io/v1alpha1"
    kind: ClassVar[str] = "ElasticQuota"
    plural: ClassVar[str] = "elasticquotas"

    spec: ElasticQuotaSpec = ElasticQuotaSpec()
    status: ElasticQuotaStatus = ElasticQuotaStatus()
