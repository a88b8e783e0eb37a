"""The strategies of workloads, with their defaults filled in.

Mirrors ``pkg/apis/apps/v1/defaults.go`` (Kubernetes v1.37).
"""

from typing import Final

from msgspec.structs import replace

from quaymaster._api.objects import (
    DaemonSetUpdateStrategy,
    DeploymentStrategy,
    RollingUpdateDaemonSet,
    RollingUpdateDeployment,
    RollingUpdateStatefulSetStrategy,
    StatefulSetUpdateStrategy,
)

__all__ = [
    "default_daemon_set_strategy",
    "default_deployment_strategy",
    "default_stateful_set_strategy",
]

_ROLLING: Final = "RollingUpdate"
_QUARTER: Final = "25%"


def default_deployment_strategy(strategy: DeploymentStrategy) -> DeploymentStrategy:
    """Fill in a Deployment's strategy: by default, a quarter of its pods at a time."""
    # Other strategies have no limits. A rolling update that is given beside them is
    # left for validation to reject.
    if strategy.type not in ("", _ROLLING):
        return strategy
    update = strategy.rolling_update or RollingUpdateDeployment()
    fewest, most = update.max_unavailable, update.max_surge
    rolling = RollingUpdateDeployment(
        max_unavailable=_QUARTER if fewest is None else fewest,
        max_surge=_QUARTER if most is None else most,
    )
    return replace(strategy, type=_ROLLING, rolling_update=rolling)


def default_daemon_set_strategy(
    strategy: DaemonSetUpdateStrategy,
) -> DaemonSetUpdateStrategy:
    """Fill in a DaemonSet's strategy: by default, one node at a time."""
    if strategy.type not in ("", _ROLLING):
        return strategy
    update = strategy.rolling_update or RollingUpdateDaemonSet()
    fewest, most = update.max_unavailable, update.max_surge
    rolling = RollingUpdateDaemonSet(
        max_unavailable=1 if fewest is None else fewest,
        max_surge=0 if most is None else most,
    )
    return replace(strategy, type=_ROLLING, rolling_update=rolling)


def default_stateful_set_strategy(
    strategy: StatefulSetUpdateStrategy, *, has_limit: bool
) -> StatefulSetUpdateStrategy:
    """Fill in a StatefulSet's strategy: by default, a rolling update of all its pods.

    Missing limits are filled in only if the strategy names no type.

    Args:
        strategy: The strategy.
        has_limit: Whether the feature gate ``MaxUnavailableStatefulSet`` is on; if it
            is off, the API server drops the field.
    """
    rolling = strategy.rolling_update
    if not strategy.type:
        rolling = rolling or RollingUpdateStatefulSetStrategy()
    # ``SetDefaults_StatefulSet`` fills in the limits of a strategy with a type only if
    # ``rollingUpdate`` is there.
    elif strategy.type != _ROLLING or rolling is None:
        return strategy
    if rolling.partition is None:
        rolling = replace(rolling, partition=0)
    limit = rolling.max_unavailable
    # Also an explicit limit is dropped without the gate.
    limit = (1 if limit is None else limit) if has_limit else None
    rolling = replace(rolling, max_unavailable=limit)
    return replace(strategy, type=_ROLLING, rolling_update=rolling)
