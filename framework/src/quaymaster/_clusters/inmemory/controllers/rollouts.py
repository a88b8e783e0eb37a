"""How many pods workloads may have too many or too few during an update.

Mirrors ``ResolveFenceposts`` (``pkg/controller/deployment/util``), and ``SurgeCount``
and ``UnavailableCount`` (``pkg/controller/daemon/util``), Kubernetes v1.36.
"""

from quaymaster._api.objects import (
    DaemonSetUpdateStrategy,
    DeploymentStrategy,
    RollingUpdateDaemonSet,
    RollingUpdateDeployment,
)

__all__ = ["daemon_limits", "deployment_limits", "scaled"]


def deployment_limits(strategy: DeploymentStrategy, replicas: int) -> tuple[int, int]:
    """Return how many pods a Deployment may have too many, and too few, in an update.

    Args:
        strategy: Its strategy, as it is stored; Recreate has no limits.
        replicas: Its number of replicas.
    """
    rolling = strategy.rolling_update or RollingUpdateDeployment()
    surge = scaled(rolling.max_surge, replicas)
    # Up for the surge, down for what may be missing: both are the cautious direction.
    unavailable = scaled(rolling.max_unavailable, replicas, rounds_up=False)
    # ``ResolveFenceposts``: rounding may leave 0 for both, with which no update could
    # begin.
    if surge == unavailable == 0:
        unavailable = 1
    # No more pods can be missing than there are.
    return surge, min(unavailable, replicas)


def daemon_limits(strategy: DaemonSetUpdateStrategy, pods: int) -> tuple[int, int]:
    """Return on how many nodes a DaemonSet may have two pods, and none, in an update.

    Args:
        strategy: Its strategy, as it is stored.
        pods: The number of nodes that should have a pod.
    """
    rolling = strategy.rolling_update or RollingUpdateDaemonSet()
    # Both are rounded up, unlike those of Deployments.
    surge = scaled(rolling.max_surge, pods)
    unavailable = scaled(rolling.max_unavailable, pods)
    if surge == unavailable == 0:
        unavailable = 1
    return surge, unavailable


def scaled(limit: int | str | None, total: int, *, rounds_up: bool = True) -> int:
    """Convert a limit to a number: a percentage is of the total, and None is 0."""
    if not isinstance(limit, str):
        return limit or 0
    share = int(limit.rstrip("%")) * total
    return -(-share // 100) if rounds_up else share // 100
