"""How workloads replace their pods when the template changes.

Mirrors k8s.io/api v0.37, ``apps/v1/types.go``.
"""

from quaymaster._api.objects.meta import ApiValue
from quaymaster._api.objects.numbers import Int32

__all__ = [
    "DaemonSetUpdateStrategy",
    "DeploymentStrategy",
    "RollingUpdateDaemonSet",
    "RollingUpdateDeployment",
    "RollingUpdateStatefulSetStrategy",
    "StatefulSetUpdateStrategy",
]


class RollingUpdateDeployment(ApiValue, frozen=True, kw_only=True):
    """How far a Deployment may be from its size: a number, or such as ``30%``.

    Attributes:
        max_unavailable: How many pods may be missing, rounded down; None: ``25%``.
        max_surge: How many surplus pods there may be, rounded up; None: ``25%``.
    """

    max_unavailable: Int32 | str | None = None
    max_surge: Int32 | str | None = None


class DeploymentStrategy(ApiValue, frozen=True, kw_only=True):
    """How a Deployment replaces its pods.

    Attributes:
        type: ``RollingUpdate`` (also if empty), or ``Recreate``: all old pods are gone
            before the first new one is created.
        rolling_update: The limits of a rolling update.
    """

    type: str = ""
    rolling_update: RollingUpdateDeployment | None = None


class RollingUpdateStatefulSetStrategy(ApiValue, frozen=True, kw_only=True):
    """Which pods of a StatefulSet are replaced.

    Attributes:
        partition: The first ordinal, counted from the first pod, that gets the new
            template; None: 0.
        max_unavailable: How many pods may be unavailable during an update: a number,
            or a percentage, which is rounded down; None: 1. Followed if the feature
            gate ``MaxUnavailableStatefulSet`` is on, as in Kubernetes 1.37 by default.
    """

    partition: Int32 | None = None
    max_unavailable: Int32 | str | None = None


class StatefulSetUpdateStrategy(ApiValue, frozen=True, kw_only=True):
    """How a StatefulSet replaces its pods.

    Attributes:
        type: ``RollingUpdate`` (also if empty), from the highest ordinal down, or
            ``OnDelete``: when a client deletes them.
        rolling_update: Which pods a rolling update replaces.
    """

    type: str = ""
    rolling_update: RollingUpdateStatefulSetStrategy | None = None


class RollingUpdateDaemonSet(ApiValue, frozen=True, kw_only=True):
    """On how many nodes a DaemonSet may be updating: a number, or such as ``30%``.

    Attributes:
        max_unavailable: How many nodes may lack a pod, rounded up; None: 1.
        max_surge: How many nodes may have an old and a new one, rounded up; None: 0.
    """

    max_unavailable: Int32 | str | None = None
    max_surge: Int32 | str | None = None


class DaemonSetUpdateStrategy(ApiValue, frozen=True, kw_only=True):
    """How a DaemonSet replaces its pods.

    Attributes:
        type: ``RollingUpdate`` (also if empty), or ``OnDelete``: when a client deletes
            them.
        rolling_update: The limits of a rolling update.
    """

    type: str = ""
    rolling_update: RollingUpdateDaemonSet | None = None
