"""The kind ElasticQuota: the guarantee and the limit of a namespace."""

from typing import ClassVar

from quaymaster import ApiObject
from quaymaster.objects import ApiValue, Quantity

__all__ = ["ElasticQuota", "ElasticQuotaSpec", "ElasticQuotaStatus"]


class ElasticQuotaSpec(ApiValue, frozen=True, kw_only=True):
    """The spec of a quota.

    Attributes:
        min: The amounts that the namespace can always reclaim from borrowers.
        max: The amounts that it may use at most; empty for no limit. CPU, memory and
            ephemeral storage may not be used at all if a maximum does not list them.
    """

    min: dict[str, Quantity] = {}
    max: dict[str, Quantity] = {}


class ElasticQuotaStatus(ApiValue, frozen=True, kw_only=True):
    """The observed usage; no decision depends on it.

    Attributes:
        used: The requests of the namespace's running pods.
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
