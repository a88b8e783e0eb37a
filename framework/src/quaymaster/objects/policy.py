"""Pod disruption budgets.

Mirrors k8s.io/api v0.36, ``policy/v1/types.go``.
"""

from typing import ClassVar

from quaymaster.objects.meta import ApiObject, ApiValue, LabelSelector
from quaymaster.objects.time import Time

__all__ = [
    "PodDisruptionBudget",
    "PodDisruptionBudgetSpec",
    "PodDisruptionBudgetStatus",
]


class PodDisruptionBudgetSpec(ApiValue, frozen=True, kw_only=True):
    """How many of which pods must stay; numbers, or texts such as ``30%``."""

    min_available: int | str | None = None
    selector: LabelSelector | None = None
    max_unavailable: int | str | None = None


class PodDisruptionBudgetStatus(ApiValue, frozen=True, kw_only=True):
    """How many pods may go right now.

    Attributes:
        disrupted_pods: Names of pods whose eviction is under way, and since when.
    """

    observed_generation: int = 0
    disrupted_pods: dict[str, Time] = {}
    disruptions_allowed: int = 0
    current_healthy: int = 0
    desired_healthy: int = 0
    expected_pods: int = 0


class PodDisruptionBudget(ApiObject, frozen=True, kw_only=True):
    """Limits how many pods of a set may be evicted at once."""

    api_version: ClassVar[str] = "policy/v1"
    kind: ClassVar[str] = "PodDisruptionBudget"

    spec: PodDisruptionBudgetSpec = PodDisruptionBudgetSpec()
    status: PodDisruptionBudgetStatus = PodDisruptionBudgetStatus()
