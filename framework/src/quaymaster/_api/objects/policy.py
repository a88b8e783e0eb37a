"""Pod disruption budgets.

Mirrors k8s.io/api v0.36, ``policy/v1/types.go``.
"""

from typing import ClassVar

from quaymaster._api.objects.device_claims import Condition
from quaymaster._api.objects.meta import ApiObject, ApiValue, LabelSelector
from quaymaster._api.objects.numbers import Int32, Int64
from quaymaster._api.objects.time import Time

__all__ = [
    "PodDisruptionBudget",
    "PodDisruptionBudgetSpec",
    "PodDisruptionBudgetStatus",
]


class PodDisruptionBudgetSpec(ApiValue, frozen=True, kw_only=True):
    """The pods of a budget, and how many must remain: a number, or such as ``30%``.

    Attributes:
        unhealthy_pod_eviction_policy: When pods that are not ready may be evicted:
            ``IfHealthyBudget`` (also if None) or ``AlwaysAllow``.
    """

    min_available: Int32 | str | None = None
    selector: LabelSelector | None = None
    max_unavailable: Int32 | str | None = None
    unhealthy_pod_eviction_policy: str | None = None


class PodDisruptionBudgetStatus(ApiValue, frozen=True, kw_only=True):
    """The status of a budget: how many pods may be evicted now.

    Attributes:
        disrupted_pods: Names of pods whose eviction is in progress, and since when.
        conditions: ``DisruptionAllowed`` says why none may be evicted.
    """

    observed_generation: Int64 = 0
    disrupted_pods: dict[str, Time] = {}
    disruptions_allowed: Int32 = 0
    current_healthy: Int32 = 0
    desired_healthy: Int32 = 0
    expected_pods: Int32 = 0
    conditions: tuple[Condition, ...] = ()


class PodDisruptionBudget(ApiObject, frozen=True, kw_only=True):
    """Limits how many pods of a set may be evicted at once."""

    api_version: ClassVar[str] = "policy/v1"
    kind: ClassVar[str] = "PodDisruptionBudget"

    spec: PodDisruptionBudgetSpec = PodDisruptionBudgetSpec()
    status: PodDisruptionBudgetStatus = PodDisruptionBudgetStatus()
