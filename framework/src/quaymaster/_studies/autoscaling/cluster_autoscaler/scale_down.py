"""Finds the nodes that are not needed, and those that may be removed now.

Mirrors ``core/scaledown/planner/planner.go`` and ``unneeded/nodes.go``.
"""

import math
from collections import Counter
from collections.abc import Container, Iterable, Mapping, Set
from operator import itemgetter
from typing import Final, TypeAlias

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
from quaymaster._studies.autoscaling.cluster_autoscaler.idle_nodes import (
    IdleNodes,
    Unneeded,
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

__all__ = ["ScaleDownPlanner"]

_READY: Final = Unremovable(UnremovableReason.NOT_UNNEEDED_LONG_ENOUGH)
_UNREADY: Final = Unremovable(UnremovableReason.NOT_UNREADY_LONG_ENOUGH)
_TOO_SOON: Final = (_READY.reason, _UNREADY.reason)

_Place: TypeAlias = tuple[int, int]
"""The place of an unneeded node: empty nodes of the last loop come first."""


@attrs.define(eq=False)
class _Destinations:
    """The nodes that may take pods of removed nodes.

    They are not listed: most loops ask for few of them, or for none.
    """

    seen: SeenCluster
    left_out: Set[str]
    idle: Container[str]
    removed: set[str] = attrs.field(factory=set)

    def __contains__(self, name: object) -> bool:
        return (
            name in self.seen.nodes
            and name not in self.left_out
            and name not in self.idle
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
        self._idle = IdleNodes()
        self._removal = RemovalTrial(trial, drainability, self._idle)
        # The other nodes that are not needed, with their places in the order of all.
        self._others: dict[str, tuple[_Place, Unneeded]] = {}
        self._unneeded: dict[str, Unneeded] | None = None
        self._is_judged = False
        self.unremovable = UnremovableNodes()
        self.resting: Set[str] = frozenset()
        self._candidates = RemovalCandidates(
            seen, trial, cloud, drainability, self.unremovable, options
        )
        self._has_atomic = any(each.zero_or_max for each in cloud.groups.values())
        self._judged: list[str] = []
        self._last_loop: float | None = None
        self._shortest_loop = options.scale_down_unneeded_time or 1e-9

    @property
    def unneeded(self) -> Mapping[str, Unneeded]:
        """The nodes that are not needed, by name, in the order of the last loop."""
        if self._unneeded is None:
            placed = [
                (_of_empty(number), each) for number, each in self._idle.numbered()
            ]
            placed += self._others.values()
            placed.sort(key=itemgetter(0))
            self._unneeded = {each.name: each for _, each in placed}
        return self._unneeded

    @property
    def reasons(self) -> Mapping[str, Unremovable]:
        """Why the last loop could not remove nodes, by name."""
        return {**self.unremovable.reasons, **self._early()}

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
        self._is_judged = False
        destinations = _Destinations(self._seen, starting | going, self._idle)
        with self._trial.fork():
            self._find_unneeded(destinations, budgets, now)
        self._removal.end()
        # These trials were reverted: nothing has changed by them.
        self._trial.take_changed()
        return has_any

    def clear(self) -> None:
        """Forget all nodes that are not needed."""
        # The reasons of the last loop stay until the next one looks at nodes.
        for name, reason in self._early().items():
            self.unremovable.add(name, reason)
        self._is_judged = False
        self._judged += self._idle
        self._idle.clear()
        self._others, self._unneeded = {}, None

    def next_change(self) -> float:
        """Return when time alone changes what may be removed, or infinity."""
        reasons = self.unremovable.reasons
        ends: list[float | None] = [
            each.end
            for name, (_, each) in self._others.items()
            if name in reasons and reasons[name].reason in _TOO_SOON
        ]
        ends.append(self._idle.next_end() if self._is_judged else None)
        ends.append(self.unremovable.next_look())
        return min((end for end in ends if end is not None), default=math.inf)

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
        self._is_judged = True
        self._idle.note_due(now)
        for unneeded in self._idle.take_new():
            self.unremovable.remember(unneeded.name, _too_soon(unneeded))
        placed = [(_of_empty(number), each) for number, each in self._idle.due.values()]
        placed += self._others.values()
        placed.sort(key=lambda each: (each[1].has_moving_pods, each[0]))
        for _, unneeded in placed:
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
        candidates, others = self._candidates, dict[str, tuple[_Place, Unneeded]]()
        limit = self._unneeded_limit()
        last = self._take_visited()
        # All idle nodes are within the limit: it never shrinks.
        count = len(self._idle) - self._count_atomic(self._idle)
        for name in candidates.in_order(last.keys()):
            if count >= limit:
                break
            before = last.get(name)
            if candidates.has_pods(name):
                result = self._removal.remove(name, destinations, budgets, now)
            elif before is not None and name not in candidates.changed:
                self._idle.add(name, candidates.settle(name), before)
                count += not self._is_atomic(name)
                self._unneeded = None
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
            number = None if before is None else candidates.number_if_empty(name)
            place = (1, len(others)) if number is None else _of_empty(number)
            since = now if before is None else before.since
            others[name] = place, self._unneeded_since(since, result)
            count += not self._is_atomic(name)
        if others or self._others:
            self._unneeded = None
        self._others = others

    def _take_visited(self) -> dict[str, Unneeded]:
        """Return the nodes of the last loop that are looked at again."""
        last = {name: each for name, (_, each) in self._others.items()}
        for name in self._candidates.sorted_in:
            idle = self._idle.drop(name)
            if idle is not None:
                last[name] = idle
                self._unneeded = None
        return last

    def _unneeded_since(self, since: float, removable: Removable) -> Unneeded:
        """Return a node with the end of the time for which it must be unneeded."""
        options = self._options
        seconds = (
            options.scale_down_unneeded_time
            if removable.is_ready
            else options.scale_down_unready_time
        )
        end = since + seconds if seconds > 0 else -math.inf
        return Unneeded(removable, since, end)

    def _early(self) -> Mapping[str, Unremovable]:
        """Return the idle nodes that the last loop could not remove yet."""
        waiting = self._idle.waiting() if self._is_judged else ()
        return {each.name: _too_soon(each) for each in waiting}

    def _count_atomic(self, names: Iterable[str]) -> int:
        """Count the nodes that go together with their groups."""
        if not self._has_atomic:
            return 0
        return sum(map(self._is_atomic, names))

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
        return min(upper, len(self._idle) + len(self._others) + 2 * most)

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
        if unneeded.end >= now:
            return _too_soon(unneeded).reason
        group = self._cloud.group_of(node.name)
        if group is None:
            return UnremovableReason.NOT_AUTOSCALED
        if sizes[group.name] - deletions.get(group.name, 0) <= group.min_size:
            return UnremovableReason.NODE_GROUP_MIN_SIZE_REACHED
        if quota is not None and not quota.consume(node, 1):
            return UnremovableReason.MINIMAL_RESOURCE_LIMIT_EXCEEDED
        sizes[group.name] -= 1
        return None


def _of_empty(number: int) -> _Place:
    """Return the place of a node without pods, which a loop looks at first."""
    return 0, number


def _too_soon(unneeded: Unneeded) -> Unremovable:
    return _READY if unneeded.removable.is_ready else _UNREADY
