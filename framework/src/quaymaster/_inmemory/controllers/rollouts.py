"""How far workloads may be from their size while they replace their pods.

Mirrors ``ResolveFenceposts`` (``pkg/controller/deployment/util``), and ``SurgeCount``
and ``UnavailableCount`` (``pkg/controller/daemon/util``), Kubernetes v1.36.
"""

from quaymaster._objects import (
    DaemonSetUpdateStrategy,
    DeploymentStrategy,
    RollingUpdateDaemonSet,
    RollingUpdateDeployment,
)

__all__ = ["daemon_limits", "deployment_limits", "scaled"]

_QUARTER = "25%"


def deployment_limits(strategy: DeploymentStrategy, wanted: int) -> tuple[int, int]:
    """How many pods a Deployment may have too many, and too few, during an update.

    Args:
        strategy: Its strategy, a rolling update.
        wanted: How many pods it is to have.
    """
    given = strategy.rolling_update or RollingUpdateDeployment()
    most = _QUARTER if given.max_surge is None else given.max_surge
    fewest = _QUARTER if given.max_unavailable is None else given.max_unavailable
    surge = scaled(most, wanted)
    unavailable = scaled(fewest, wanted, rounds_up=False)
    if surge == unavailable == 0:
        unavailable = 1
    return surge, min(unavailable, wanted)


def daemon_limits(strategy: DaemonSetUpdateStrategy, wanted: int) -> tuple[int, int]:
    """On how many nodes a DaemonSet may have two pods, and none, during an update.

    Args:
        strategy: Its strategy, a rolling update.
        wanted: On how many nodes it is to have one.
    """
    given = strategy.rolling_update or RollingUpdateDaemonSet()
    surge = scaled(0 if given.max_surge is None else given.max_surge, wanted)
    fewest = 1 if given.max_unavailable is None else given.max_unavailable
    unavailable = scaled(fewest, wanted)
    if surge == unavailable == 0:
        unavailable = 1
    return surge, unavailable


def scaled(limit: int | str, total: int, *, rounds_up: bool = True) -> int:
    """A limit as a number: a percentage is one of the total."""
    if isinstance(limit, int):
        return limit
    share = int(limit.rstrip("%")) * total
    return -(-share // 100) if rounds_up else share // 100
