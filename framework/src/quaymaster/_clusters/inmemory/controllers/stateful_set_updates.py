"""Selects the pods of a StatefulSet to delete during an update.

Mirrors ``updateStatefulSet`` and ``updateStatefulSetAfterInvariantEstablished``
(``pkg/controller/statefulset/stateful_set_control.go``, Kubernetes v1.37), except
``minReadySeconds``.
"""

from collections.abc import Iterator, Sequence

import attrs

from quaymaster._api.objects import Pod, StatefulSetUpdateStrategy
from quaymaster._clusters.inmemory.controllers.rollouts import scaled

__all__ = ["Replica", "first_outdated", "outdated_within", "unavailable_limit"]


@attrs.frozen
class Replica:
    """The pod of one ordinal.

    Attributes:
        pod: The pod of the ordinal; None if it could not be created.
        is_old: Whether the pod has an older template.
        is_available: Whether the pod is ready, and not being deleted.
    """

    pod: Pod | None
    is_old: bool
    is_available: bool

    @property
    def outdated(self) -> Pod | None:
        """The pod if it has an older template and is not being deleted, or None."""
        pod = self.pod
        return pod if pod and self.is_old and not pod.is_terminating else None


def unavailable_limit(strategy: StatefulSetUpdateStrategy, replicas: int) -> int:
    """Return how many pods may be unavailable during an update; at least one.

    Args:
        strategy: The set's strategy.
        replicas: The number of replicas; percentages are rounded down.
    """
    rolling = strategy.rolling_update
    limit = None if rolling is None else rolling.max_unavailable
    # A percentage of a small set rounds down to 0, with which no update could progress.
    return max(1, scaled(limit, replicas, rounds_up=False))


def first_outdated(replicas: Sequence[Replica], partition: int) -> Iterator[Pod]:
    """Yield the highest outdated pod, if all pods above it are available.

    This is the rule while the feature gate ``MaxUnavailableStatefulSet`` is off.

    Args:
        replicas: All replicas by ordinal.
        partition: How many pods, from the lowest ordinal up, keep the older template.
    """
    for replica in reversed(replicas[partition:]):
        if replica.outdated is not None:
            yield replica.outdated
            return
        # A pod that has the new template, and is not available yet, holds up the next
        # one.
        if not replica.is_available:
            return


def outdated_within(
    replicas: Sequence[Replica], partition: int, limit: int, *, in_order: bool
) -> Iterator[Pod]:
    """Yield the outdated pods that may be deleted now, from the highest ordinal down.

    If pods need not start in order, unavailable pods come first and do not count for
    the limit. This is the rule with the feature gate ``MaxUnavailableStatefulSet``.

    Args:
        replicas: All replicas by ordinal.
        partition: How many pods, from the lowest ordinal up, keep the older template.
        limit: How many of all replicas may be unavailable.
        in_order: Whether each pod starts when the one before it is ready.
    """
    targets = replicas[partition:][::-1]
    # All pods count, also those below the partition, as in upstream.
    budget = limit - sum(not replica.is_available for replica in replicas)
    # Deleting a pod that does not serve costs nothing, so it takes nothing from the
    # budget.
    if not in_order:
        for replica in targets:
            if replica.outdated is not None and not replica.is_available:
                yield replica.outdated
        targets = [replica for replica in targets if replica.is_available]
    outdated = (replica.outdated for replica in targets)
    pods = [pod for pod in outdated if pod is not None]
    yield from pods[: max(0, budget)]
