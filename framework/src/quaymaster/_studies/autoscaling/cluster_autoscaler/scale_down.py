"""Finds the nodes that are not needed, and those that may be removed now.

Mirrors ``core/scaledown/planner/planner.go``, ``eligibility/eligibility.go`` and
``unneeded/nodes.go``.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Final

import attrs

from quaymaster._api.objects import Node
from quaymaster._studies.autoscaling.cloud import Cloud
from quaymaster._studies.autoscaling.cluster_autoscaler.ages import age_of
from quaymaster._studies.autoscaling.cluster_autoscaler.budgets import RemainingBudgets
from quaymaster._studies.autoscaling.cluster_autoscaler.drainability import (
    Drainability,
)
from quaymaster._studies.autoscaling.cluster_autoscaler.node_taints import (
    time_of_deletion,
)
from quaymaster._studies.autoscaling.cluster_autoscaler.options import (
    ClusterAutoscalerOptions,
)
from quaymaster._studies.autoscaling.cluster_autoscaler.quotas import Quota
from quaymaster._studies.autoscaling.cluster_autoscaler.readiness import is_ready
from quaymaster._studies.autoscaling.cluster_autoscaler.removal import (
    Removable,
    RemovalTrial,
)
from quaymaster._studies.autoscaling.cluster_autoscaler.unremovable import (
    Unremovable,
    UnremovableNodes,
    UnremovableReason,
)
from quaymaster._studies.autoscaling.cluster_autoscaler.utilization import (
    Utilization,
    Utilizations,
)
from quaymaster._studies.autoscaling.trial_cluster import TrialCluster

__all__ = ["ScaleDownPlanner", "Unneeded"]

_DISABLED: Final = "cluster-autoscaler.kubernetes.io/scale-down-disabled"
_DELETION_SECONDS: Final = 300
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


class ScaleDownPlanner:
    """Follows the nodes that are not needed from loop to loop.

    Args:
        trial: The cluster.
        cloud: The groups.
        drainability: Judges the pods.
        options: The options of the autoscaler.

    Attributes:
        unneeded: The nodes that are not needed, by name.
        unremovable: The nodes that cannot be removed.
        utilization: The utilisation of the nodes that were looked at, by name.
    """

    def __init__(
        self,
        trial: TrialCluster,
        cloud: Cloud,
        drainability: Drainability,
        options: ClusterAutoscalerOptions,
    ) -> None:
        self._trial = trial
        self._cloud = cloud
        self._drainability = drainability
        self._options = options
        self._removal = RemovalTrial(trial, drainability)
        self.unneeded: dict[str, Unneeded] = {}
        self.unremovable = UnremovableNodes()
        self.utilization: dict[str, Utilization] = {}
        self._utilizations = Utilizations(options)
        self._last_loop: float | None = None
        self._shortest_loop = options.scale_down_unneeded_time or 1e-9

    def update(
        self,
        nodes: Sequence[Node],
        budgets: RemainingBudgets,
        in_deletion: Iterable[str],
        now: float,
    ) -> int:
        """Find the nodes that are not needed.

        Args:
            nodes: The nodes of the cluster, without those that are starting.
            budgets: What the disruption budgets allow; it is counted down.
            in_deletion: The nodes that are being deleted.
            now: The time, in seconds since the epoch.

        Returns:
            The number of nodes that were considered.
        """
        if self._last_loop is not None:
            self._shortest_loop = min(self._shortest_loop, now - self._last_loop)
        self._last_loop = now
        going = set(in_deletion)
        candidates = self._candidates(nodes, now)
        staying = [node for node in candidates if node.name not in going]
        destinations = {node.name for node in nodes} - going
        with self._trial.fork():
            self._categorize(staying, destinations, budgets, now)
        self._removal.forget_old_hints()
        return len(candidates)

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
        self, nodes: Iterable[Node], deletions: Mapping[str, int], now: float
    ) -> tuple[list[Removable], list[Removable]]:
        """Return the empty nodes that may be removed now, and those with pods.

        Args:
            nodes: All nodes.
            deletions: How many nodes of each group are being deleted.
            now: The time, in seconds since the epoch.
        """
        quota = Quota(self._options, nodes, removes=True)
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
                self.unremovable.add(removable.node.name, Unremovable(reason))
            elif removable.drain.moving:
                with_pods.append(removable)
            else:
                empty.append(removable)
        with_pods.sort(key=lambda removable: removable.is_risky)
        return empty, with_pods

    def _candidates(self, nodes: Iterable[Node], now: float) -> list[Node]:
        """Return the nodes of groups that may shrink, the best ones first.

        Mirrors ``processors/scaledowncandidates``: empty nodes, then those of the last
        loop, then the others.
        """
        no_budgets = RemainingBudgets()

        def order(node: Node) -> tuple[bool, bool, bool]:
            info = self._trial.get(node.name)
            pods = () if info is None else info.pods.values()
            is_full = self._drainability.has_moving(pods, no_budgets, now)
            return is_full is True, is_full is None, node.name not in self.unneeded

        shrinking = []
        for node in nodes:
            group = self._cloud.group_of(node.name)
            if group is not None and self._cloud.sizes[group.name] > group.min_size:
                shrinking.append(node)
        return sorted(shrinking, key=order)

    def _categorize(
        self,
        candidates: Iterable[Node],
        destinations: set[str],
        budgets: RemainingBudgets,
        now: float,
    ) -> None:
        until = now + self._options.unremovable_node_recheck_timeout
        unneeded: dict[str, Unneeded] = {}
        self.unremovable.begin(now)
        eligible = self._eligible(candidates, now)
        limit = self._unneeded_limit()
        for name in eligible:
            if len(unneeded) >= limit:
                break
            result = self._removal.remove(name, destinations, budgets, now)
            if isinstance(result, Unremovable):
                self.unremovable.add(name, result, until)
                continue
            result.is_risky = not budgets.allow_at_once(result.drain.moving)
            destinations.discard(name)
            budgets.use(result.drain.moving)
            before = self.unneeded.get(name)
            unneeded[name] = Unneeded(result, before.since if before else now)
        self.unneeded = unneeded

    def _eligible(self, candidates: Iterable[Node], now: float) -> list[str]:
        """Return the nodes that are worth a trial; note why the others are not."""
        self.utilization = {}
        self._utilizations.begin()
        eligible = []
        for node in candidates:
            reason = self._why_ineligible(node, now)
            if reason is None:
                eligible.append(node.name)
            else:
                self.unremovable.add(node.name, Unremovable(reason))
        return eligible

    def _why_ineligible(self, node: Node, now: float) -> UnremovableReason | None:
        info, options = self._trial.get(node.name), self._options
        if info is None:
            return UnremovableReason.UNEXPECTED_ERROR
        if self.unremovable.is_recent(node.name):
            return UnremovableReason.RECENTLY_UNREMOVABLE
        marked = time_of_deletion(node)
        if marked is not None and age_of(marked, now) < _DELETION_SECONDS:
            return UnremovableReason.CURRENTLY_BEING_DELETED
        if node.metadata.annotations.get(_DISABLED) == "true":
            return UnremovableReason.SCALE_DOWN_DISABLED_ANNOTATION
        utilization = self._utilizations.of(info, now)
        if utilization is None:
            return UnremovableReason.UNEXPECTED_ERROR
        if not options.scale_down_unready_enabled and not is_ready(node):
            return UnremovableReason.SCALE_DOWN_UNREADY_DISABLED
        self.utilization[node.name] = utilization
        if utilization.highest > utilization.threshold(options):
            return UnremovableReason.NOT_UNDERUTILIZED
        return None

    def _unneeded_limit(self) -> int:
        """Return how many nodes are found in one loop at most."""
        most = self._options.max_scale_down_parallelism
        time = max(self._options.scale_down_unneeded_time, self._shortest_loop)
        upper = most * int(time / self._shortest_loop) + most
        return min(upper, len(self.unneeded) + 2 * most)

    def _threshold(self, unneeded: Unneeded) -> float:
        """Return how long a node must be unneeded."""
        if is_ready(unneeded.removable.node):
            return self._options.scale_down_unneeded_time
        return self._options.scale_down_unready_time

    def _why_not_now(
        self,
        unneeded: Unneeded,
        sizes: dict[str, int],
        deletions: Mapping[str, int],
        quota: Quota,
        now: float,
    ) -> UnremovableReason | None:
        node = unneeded.removable.node
        if node.metadata.annotations.get(_DISABLED) == "true":
            return UnremovableReason.SCALE_DOWN_DISABLED_ANNOTATION
        threshold = self._threshold(unneeded)
        if threshold > 0 and unneeded.since + threshold >= now:
            return _TOO_SOON[0] if is_ready(node) else _TOO_SOON[1]
        group = self._cloud.group_of(node.name)
        if group is None:
            return UnremovableReason.NOT_AUTOSCALED
        if sizes[group.name] - deletions.get(group.name, 0) <= group.min_size:
            return UnremovableReason.NODE_GROUP_MIN_SIZE_REACHED
        if not quota.consume(node, 1):
            return UnremovableReason.MINIMAL_RESOURCE_LIMIT_EXCEEDED
        sizes[group.name] -= 1
        return None


def _has_moving_pods(unneeded: Unneeded) -> bool:
    return bool(unneeded.removable.drain.moving)
