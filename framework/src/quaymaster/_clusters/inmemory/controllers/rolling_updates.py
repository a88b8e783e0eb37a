"""Rolling updates of Deployments: new pods come, and old ones go.

Mirrors ``pkg/controller/deployment/rolling.go`` and ``NewRSNewReplicas``
(``pkg/controller/deployment/util``), Kubernetes v1.37.
"""

from collections.abc import Sequence

from quaymaster._api.objects import Deployment, ReplicaSet
from quaymaster._clusters.inmemory.controllers.replica_scaling import (
    ReplicaScaler,
    oldest_first,
    replicas_of,
)
from quaymaster._clusters.inmemory.controllers.rollouts import deployment_limits

__all__ = ["RollingUpdater", "new_replicas"]


def new_replicas(deployment: Deployment, count: int, total: int) -> int:
    """Return how many pods the newest ReplicaSet may have now.

    Args:
        deployment: The Deployment; only a rolling update limits its size.
        count: How many the ReplicaSet has.
        total: How many all of its ReplicaSets have.
    """
    replicas, strategy = replicas_of(deployment), deployment.spec.strategy
    if strategy.type == "Recreate":
        return replicas
    surge, _ = deployment_limits(strategy, replicas)
    room = max(0, replicas + surge - total)
    # The surge may allow more pods than the set should have in the end.
    return count + min(room, replicas - count)


class RollingUpdater:
    """Takes the steps of rolling updates.

    Args:
        scaler: Scales the ReplicaSets, and counts their available pods.
    """

    def __init__(self, scaler: ReplicaScaler) -> None:
        self._scaler = scaler

    def step(
        self, deployment: Deployment, new: ReplicaSet, old: Sequence[ReplicaSet]
    ) -> None:
        """Scale the newest ReplicaSet up if possible, else the old ones down.

        Args:
            deployment: The Deployment.
            new: The ReplicaSet with its template.
            old: The other ReplicaSets.
        """
        replicas, count = replicas_of(deployment), replicas_of(new)
        total = count + sum(map(replicas_of, old))
        # A set that is too large is cut first, whatever the surge
        # (``reconcileNewReplicaSet``).
        size = min(replicas, count)
        if count < replicas:
            size = new_replicas(deployment, count, total)
        if size != count:
            # This change leads to the next step.
            self._scaler.scale(deployment, new, size)
        else:
            active = [each for each in oldest_first(old) if replicas_of(each)]
            if active:
                self._shrink(deployment, new, active)

    def _shrink(
        self, deployment: Deployment, new: ReplicaSet, old: Sequence[ReplicaSet]
    ) -> None:
        replicas = replicas_of(deployment)
        _, unavailable = deployment_limits(deployment.spec.strategy, replicas)
        least = replicas - unavailable
        total = replicas_of(new) + sum(map(replicas_of, old))
        ready = self._scaler.available(deployment, new)
        # New pods that are not available count as missing already, so they leave less
        # to remove.
        budget = total - least - (replicas_of(new) - ready)
        if budget <= 0:
            return
        # Pods that are not available go first: that costs no availability
        # (``cleanupUnhealthyReplicas``).
        available = [self._scaler.available(deployment, each) for each in old]
        useless = [
            replicas_of(each) - count
            for each, count in zip(old, available, strict=True)
        ]
        old = self._take(deployment, old, useless, budget)
        # Then as many as may be missing (``scaleDownOldReplicaSetsForRollingUpdate``).
        # Counted before the first step: the pods that it removed were not available
        # anyway.
        budget = ready + sum(available) - least
        self._take(deployment, old, list(map(replicas_of, old)), budget)

    def _take(
        self,
        deployment: Deployment,
        sets: Sequence[ReplicaSet],
        counts: Sequence[int],
        budget: int,
    ) -> list[ReplicaSet]:
        """Scale ReplicaSets down, each by its count, all by the budget at most."""
        scaled = []
        for each, count in zip(sets, counts, strict=True):
            step = max(0, min(count, budget))
            budget -= step
            size = replicas_of(each) - step
            scaled.append(self._scaler.scale(deployment, each, size))
        return scaled
