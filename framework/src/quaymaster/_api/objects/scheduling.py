"""Priority classes.

Mirrors k8s.io/api v0.36, ``scheduling/v1/types.go``.
"""

from typing import ClassVar

from quaymaster._api.objects.meta import ApiObject
from quaymaster._api.objects.numbers import Int32

__all__ = ["PriorityClass"]


class PriorityClass(ApiObject, frozen=True, kw_only=True):
    """A name for a priority.

    Attributes:
        preemption_policy: ``PreemptLowerPriority`` (also if None) or ``Never``.
    """

    api_version: ClassVar[str] = "scheduling.k8s.io/v1"
    kind: ClassVar[str] = "PriorityClass"
    namespaced: ClassVar[bool] = False

    value: Int32 = 0
    global_default: bool = False
    description: str = ""
    preemption_policy: str | None = None
