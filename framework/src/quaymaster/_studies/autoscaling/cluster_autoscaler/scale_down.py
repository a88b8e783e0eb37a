"""Finds the nodes that are not needed, and those that may be removed now.

Mirrors ``core/scaledown/planner/planner.go`` and ``unneeded/nodes.go``.
"""

import math
from collections import Counter
from collections.abc import Mapping, Set
from typing import Final

import attrs

from quaymaster._studies.autoscaling.cloud import Cloud
from quaymaster._studies.autoscaling.cluster_autoscaler.budgets import RemainingBudgets
from quaymaster._studies.autoscaling.cluster_autoscaler.capacity import CapacityReader
from quaymaster._studies.autoscaling.cluster_autoscaler.deletion_batches import (
    registered,
)
from quaymaster._studies.autoscaling.cluster_autoscaler.drainability import (
    Drainability,
)
from quaymaster._studies.autoscaling.cluster_autoscaler.options import (
    ClusterAutoscalerOptions,
)
from quaymaster._studies.autoscaling.cluster_autoscaler.quotas import Quota
from quaymaster._studies.autoscaling.cluster_autoscaler.removal import (
    Removable,
    RemovalTrial,
)
from quaymaster._studies.autoscaling.cluster_autoscaler.removal_candidates import (
    DISABLED,
    RemovalCandidates,
)
from quaymaster._studies.autoscaling.cluster_autoscaler.seen_cluster import (
    SeenCluster,
)
from quaymaster._studies.autoscaling.cluster_autoscaler.unremovable import (
    Unremovable,
    UnremovableNodes,
    UnremovableReason,
)
from quaymaster._studies.autoscaling.cluster_autoscaler.utilization import (
    Utilization,
)
from quaymaster._studies.autoscaling.trial_cluster import TrialCluster

__all__ = ["ScaleDownPlanner", "Unneeded"]

_TOO_SOON: Final = (
    UnremovableReason.NOT_UNNEEDED_LONG_ENOUGH,
    UnremovableReason.NOT_UNREADY_LONG_ENOUGH,
)


@attrs.define(eq=False)
class Unneeded:
    """A node that is not needed.

    Attributes:
        removable: The node with its pods.
        since: Since when each loop has found that.
    """

    removable: Removable
    since: float


@attrs.define(eq=False)
class _Destinations:
    """The nodes that may take pods of removed nodes.

    They are not listed: most loops ask for few of them, or for none.
    """

    seen: SeenCluster
    left_out: Set[str]
    removed: set[str] = attrs.field(factory=set)

    def __contains__(self, name: object) -> bool:
        return (
            name in self.seen.nodes
            and name not in self.left_out
            and name not in self.removed
        )


class ScaleDownPlanner:
    """Follows the nodes that are not needed from loop to loop.

    Args:
        seen: The nodes and pods of the cluster.
        trial: The cluster, with what the loop has tried on it.
        capacity: Adds up the nodes of the trial.
        cloud: The groups.
        drainability: Judges the pods.
        options: The options of the autoscaler.

    Attributes:
        unneeded: The nodes that are not needed, by name.
        unremovable: The nodes that cannot be removed.
        resting: The groups that may not shrink yet.
    """

    def __init__(
        self,
        seen: SeenCluster,
        trial: TrialCluster,
        capacity: CapacityReader,
        cloud: Cloud,
        drainability: Drainability,
        options: ClusterAutoscalerOptions,
    ) -> None:
        self._seen = seen
        self._trial = trial
        self._capacity = capacity
        self._cloud = cloud
        self._options = options
        self._removal = RemovalTrial(trial, drainability)
        self.unneeded: dict[str, Unneeded] = {}
        self.unremovable = UnremovableNodes()
        self.resting: Set[str] = frozenset()
        self._candidates = RemovalCandidates(
            seen, trial, cloud, drainability, self.unremovable, options
        )
        self._judged: list[str] = []
        self._last_loop: float | None = None
        self._shortest_loop = options.scale_down_unneeded_time or 1e-9

    @property
    def utilization(self) -> Mapping[str, Utilization]:
        """The utilisation of the nodes that were looked at, by name."""
        return self._candidates.utilization

    def update(
        self,
        starting: Set[str],
        going: Set[str],
        resting: Set[str],
        budgets: RemainingBudgets,
        now: float,
    ) -> bool:
        """Find the nodes that are not needed.

        Args:
            starting: The nodes that are starting; they are not considered.
            going: The nodes that are being deleted.
            resting: The groups that may not shrink yet.
            budgets: What the disruption budgets allow; it is counted down.
            now: The time, in seconds since the epoch.

        Returns:
            Whether any node was considered.
        """
        if self._last_loop is not None:
            self._shortest_loop = min(self._shortest_loop, now - self._last_loop)
        self._last_loop = now
        has_any = self._candidates.update(starting, going, resting, self._judged, now)
        self.resting = resting
        self._judged = []
        destinations = _Destinations(self._seen, starting | going)
        with self._trial.fork():
            self._find_unneeded(destinations, budgets, now)
        self._removal.end()
        # These trials were reverted: nothing has changed by them.
        self._trial.take_changed()
        return has_any

    def clear(self) -> None:
        """Forget all nodes that are not needed."""
        self.unneeded = {}

    def next_change(self) -> float:
        """Return when time alone changes what may be removed, or infinity."""
        ends = [
            each.since + self._threshold(each)
            for name, each in self.unneeded.items()
            if name in self.unremovable.reasons
            and self.unremovable.reasons[name].reason in _TOO_SOON
        ]
        look = self.unremovable.next_look()
        return min(ends if look is None else [*ends, look], default=math.inf)

    def removable_now(
        self, deletions: Mapping[str, int], now: float
    ) -> tuple[list[Removable], list[Removable]]:
        """Return the empty nodes that may be removed now, and those with pods.

        Args:
            deletions: How many nodes of each group are being deleted.
            now: The time, in seconds since the epoch.
        """
        quota = self._quota()
        sizes = dict(self._cloud.sizes)
        empty: list[Removable] = []
        with_pods: list[Removable] = []
        each = sorted(self.unneeded.values(), key=_has_moving_pods)
        for unneeded in each:
            removable = unneeded.removable
            reason = self._why_not_now(unneeded, sizes, deletions, quota, now)
            if reason is None and removable.drain.completing:
                reason = UnremovableReason.BLOCKED_BY_ON_COMPLETION_POD
            if reason is not None:
                self._note(removable.node.name, Unremovable(reason))
            elif removable.drain.moving:
                with_pods.append(removable)
            else:
                empty.append(removable)
        with_pods.sort(key=lambda removable: removable.is_risky)
        return self._whole(empty, with_pods)

    def _whole(
        self, empty: list[Removable], with_pods: list[Removable]
    ) -> tuple[list[Removable], list[Removable]]:
        """Leave out the nodes of groups that go at once, unless all of them can go.

        Mirrors ``processors/nodes/scale_down_set_processor.go``.
        """
        going = Counter(
            group.name
            for removable in (*empty, *with_pods)
            if (group := self._cloud.group_of(removable.node.name))
            and group.zero_or_max
        )
        partial = {
            name
            for name, count in going.items()
            if count not in (self._cloud.sizes[name], registered(self._cloud, name))
        }
        if not partial:
            return empty, with_pods
        return self._without(empty, partial), self._without(with_pods, partial)

    def _without(
        self, removables: list[Removable], groups: Set[str]
    ) -> list[Removable]:
        kept: list[Removable] = []
        for removable in removables:
            group = self._cloud.group_of(removable.node.name)
            if group is not None and group.name in groups:
                reason = Unremovable(UnremovableReason.ATOMIC_SCALE_DOWN_FAILED)
                self._note(removable.node.name, reason)
            else:
                kept.append(removable)
        return kept

    def _quota(self) -> Quota | None:
        """Return what the cluster must keep; None if it need not keep anything."""
        options = self._options
        if not options.cores_total[0] and not options.memory_total[0]:
            return None
        return Quota(options, self._capacity.read(), removes=True)

    def _find_unneeded(
        self, destinations: _Destinations, budgets: RemainingBudgets, now: float
    ) -> None:
        until = now + self._options.unremovable_node_recheck_timeout
        candidates, unneeded = self._candidates, dict[str, Unneeded]()
        limit, atomic = self._unneeded_limit(), 0
        for name in candidates.in_order(self.unneeded.keys()):
            if len(unneeded) - atomic >= limit:
                break
            before = self.unneeded.get(name)
            if candidates.has_pods(name):
                result = self._removal.remove(name, destinations, budgets, now)
            elif before is not None and name not in candidates.changed:
                self._removal.leave_out(name)
                destinations.removed.add(name)
                unneeded[name] = before
                atomic += self._is_atomic(name)
                continue
            else:
                result = self._removal.remove_empty(name)
            if isinstance(result, Unremovable):
                self._note(name, result, until)
                continue
            result.is_risky = not budgets.allow_at_once(result.drain.moving)
            result.is_ready = self._seen.nodes[name].is_ready
            destinations.removed.add(name)
            budgets.use(result.drain.moving)
            unneeded[name] = Unneeded(result, before.since if before else now)
            atomic += self._is_atomic(name)
        self.unneeded = unneeded

    def _is_atomic(self, name: str) -> bool:
        group = self._cloud.group_of(name)
        return group is not None and group.zero_or_max

    def _note(
        self, name: str, unremovable: Unremovable, until: float | None = None
    ) -> None:
        """Note a reason of this loop; the next one judges the node again."""
        self.unremovable.add(name, unremovable, until)
        self._judged.append(name)

    def _unneeded_limit(self) -> int:
        """Return how many nodes are found in one loop at most."""
        most = self._options.max_scale_down_parallelism
        time = max(self._options.scale_down_unneeded_time, self._shortest_loop)
        upper = most * int(time / self._shortest_loop) + most
        return min(upper, len(self.unneeded) + 2 * most)

    def _threshold(self, unneeded: Unneeded) -> float:
        """Return how long a node must be unneeded."""
        if unneeded.removable.is_ready:
            return self._options.scale_down_unneeded_time
        return self._options.scale_down_unready_time

    def _why_not_now(
        self,
        unneeded: Unneeded,
        sizes: dict[str, int],
        deletions: Mapping[str, int],
        quota: Quota | None,
        now: float,
    ) -> UnremovableReason | None:
        node = unneeded.removable.node
        if node.metadata.annotations.get(DISABLED) == "true":
            return UnremovableReason.SCALE_DOWN_DISABLED_ANNOTATION
        threshold = self._threshold(unneeded)
        if threshold > 0 and unneeded.since + threshold >= now:
            return _TOO_SOON[0] if unneeded.removable.is_ready else _TOO_SOON[1]
        group = self._cloud.group_of(node.name)
        if group is None:
            return UnremovableReason.NOT_AUTOSCALED
        if sizes[group.name] - deletions.get(group.name, 0) <= group.min_size:
            return UnremovableReason.NODE_GROUP_MIN_SIZE_REACHED
        if quota is not None and not quota.consume(node, 1):
            return UnremovableReason.MINIMAL_RESOURCE_LIMIT_EXCEEDED
        sizes[group.name] -= 1
        return None


def _has_moving_pods(unneeded: Unneeded) -> bool:
    return bool(unneeded.removable.drain.moving)
