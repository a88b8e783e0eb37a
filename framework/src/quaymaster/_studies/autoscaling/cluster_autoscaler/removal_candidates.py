"""The nodes that may be worth a trial to remove them, kept from loop to loop.

Mirrors ``eligibility/eligibility.go`` and ``processors/scaledowncandidates``. What is
computed of a node is computed again when the node or its pods have changed; a few nodes
depend on time as well, and are looked at in each loop.
"""

from collections.abc import Iterable, Set
from itertools import filterfalse
from typing import Final

import attrs

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
from quaymaster._studies.autoscaling.cluster_autoscaler.seen_cluster import (
    SeenCluster,
    SeenNode,
)
from quaymaster._studies.autoscaling.cluster_autoscaler.unremovable import (
    Unremovable,
    UnremovableNodes,
    UnremovableReason,
)
from quaymaster._studies.autoscaling.cluster_autoscaler.utilization import (
    Utilization,
    utilization_of,
)
from quaymaster._studies.autoscaling.trial_cluster import TrialCluster

__all__ = ["DISABLED", "RemovalCandidates"]

DISABLED: Final = "cluster-autoscaler.kubernetes.io/scale-down-disabled"
_DELETION_SECONDS: Final = 300
_EMPTY, _WAITING, _FULL = range(3)
_NO_BUDGETS: Final = RemainingBudgets()


@attrs.frozen(eq=False)
class _Facts:
    """What a node alone says about its removal.

    Attributes:
        seen: The node.
        reason: Why no trial is worth it, or None.
        utilization: How much of it pods request; None if that was not looked at.
        rank: Whether it is tried first, as it is empty, or last, as pods must move.
        has_pods: Whether it has any pods.
        depends_on_time: Whether all this may change without a change of the node.
    """

    seen: SeenNode
    reason: UnremovableReason | None
    utilization: Utilization | None
    rank: int
    has_pods: bool
    depends_on_time: bool


class RemovalCandidates:
    """Follows the nodes of groups that may shrink.

    Args:
        seen: The nodes and pods of the cluster.
        trial: The cluster, with what the loop has tried on it.
        cloud: The groups.
        drainability: Judges the pods.
        unremovable: Gets the reasons of the nodes that are not worth a trial.
        options: The options of the autoscaler.

    Attributes:
        utilization: The utilisation of the nodes that were looked at, by name.
        changed: The nodes whose facts are new in this loop.
        sorted_in: Those that were settled and may be worth a trial again, and others.
    """

    def __init__(
        self,
        seen: SeenCluster,
        trial: TrialCluster,
        cloud: Cloud,
        drainability: Drainability,
        unremovable: UnremovableNodes,
        options: ClusterAutoscalerOptions,
    ) -> None:
        self._seen = seen
        self._trial = trial
        self._cloud = cloud
        self._drainability = drainability
        self._unremovable = unremovable
        self._options = options
        self.utilization: dict[str, Utilization] = {}
        self.changed: Set[str] = frozenset()
        self.sorted_in: Set[str] = frozenset()
        self._facts: dict[str, _Facts] = {}
        # The nodes that are worth a trial, and are not settled.
        self._ranks: dict[str, int] = {}
        self._numbers: dict[str, int] = {}
        self._depend_on_time: set[str] = set()
        self._tried_on: set[str] = set()
        self._left_out: Set[str] = frozenset()
        self._shrinking: Set[str] = frozenset()

    def update(
        self,
        starting: Set[str],
        going: Set[str],
        resting: Set[str],
        judged: Iterable[str],
        now: float,
    ) -> bool:
        """Look at the nodes that have changed since the last loop.

        Args:
            starting: The nodes that are starting; they are not considered.
            going: The nodes that are being deleted; they are not tried.
            resting: The groups that may not shrink yet.
            judged: The nodes that the last loop has judged in other ways.
            now: The time, in seconds since the epoch.

        Returns:
            Whether any node is a candidate.
        """
        # Pods that wait for a place are on nodes only in the trial of this loop: their
        # nodes have changed in this loop, and back in the next one.
        tried_on, self._tried_on = self._tried_on, self._trial.take_changed()
        changed = {
            *self._seen.take_touched(),
            *tried_on,
            *self._tried_on,
            *self._depend_on_time,
        }
        left_out = starting | going
        changed |= left_out ^ self._left_out
        self._left_out = left_out
        shrinking = {
            name
            for name, group in self._cloud.groups.items()
            if self._cloud.sizes[name] > group.min_size and name not in resting
        }
        others = {*judged, *self._unremovable.pop_expired(now)}
        for group in shrinking ^ self._shrinking:
            others.update(self._seen.members[group])
        self._shrinking = shrinking
        # Without expected nodes: they have no facts, and change most.
        nodes, facts = self._seen.nodes, self._facts
        changed = {name for name in changed if name in nodes or name in facts}
        for name in changed:
            self._look_at(name, now)
        self.changed, self.sorted_in = changed, changed | others
        for name in self.sorted_in:
            self._sort_in(name)
        members = self._seen.members
        return any(
            len(members[group]) > sum(name in members[group] for name in starting)
            for group in shrinking
        )

    def in_order(self, first: Set[str]) -> list[str]:
        """Return the nodes that are worth a trial and not settled, the best ones first.

        These are empty nodes, then others; among both first those of the last loop.

        Args:
            first: The nodes that the last loop has found.
        """
        # Three passes of built-in functions: a sort by one function of names took a
        # quarter of the first loops, in which 3,500 of 5,000 nodes are candidates.
        names = sorted(self._numbers, key=self._numbers.__getitem__)
        is_first = first.__contains__
        names = [*filter(is_first, names), *filterfalse(is_first, names)]
        return sorted(names, key=self._ranks.__getitem__)

    def settle(self, name: str) -> int:
        """Leave out a node until it is sorted in again; return its number.

        The number is its place in the order of the cluster's list.
        """
        del self._ranks[name]
        return self._numbers.pop(name)

    def number_if_empty(self, name: str) -> int | None:
        """Return the number of a node on which no pod moves; None for others."""
        return self._numbers[name] if self._ranks[name] == _EMPTY else None

    def has_pods(self, name: str) -> bool:
        """Return whether a node has any pods."""
        return self._facts[name].has_pods

    def _look_at(self, name: str, now: float) -> None:
        """Compute the facts of a node again, or forget it if it is gone."""
        self._depend_on_time.discard(name)
        seen = self._seen.nodes.get(name)
        if seen is None or not seen.group:
            self._facts.pop(name, None)
            return
        facts = self._facts[name] = self._facts_of(seen, now)
        if facts.depends_on_time:
            self._depend_on_time.add(name)

    def _facts_of(self, seen: SeenNode, now: float) -> _Facts:
        info, node = self._trial.get(seen.name), seen.node
        if info is None:
            error = UnremovableReason.UNEXPECTED_ERROR
            return _Facts(seen, error, None, _EMPTY, False, False)
        pods = info.pods.values()
        moves = self._drainability.has_moving(pods, _NO_BUDGETS, now)
        rank = _FULL if moves else _WAITING if moves is None else _EMPTY
        marked = time_of_deletion(node)
        # A pod that is ending counts only for some time, as does the mark.
        depends = marked is not None or any(pod.is_terminating for pod in pods)
        utilization = None
        reason: UnremovableReason | None
        if marked is not None and age_of(marked, now) < _DELETION_SECONDS:
            reason = UnremovableReason.CURRENTLY_BEING_DELETED
        elif node.metadata.annotations.get(DISABLED) == "true":
            reason = UnremovableReason.SCALE_DOWN_DISABLED_ANNOTATION
        else:
            utilization = utilization_of(info, self._options, now)
            reason = self._why_needed(seen, utilization)
            if reason is UnremovableReason.SCALE_DOWN_UNREADY_DISABLED:
                utilization = None
        return _Facts(seen, reason, utilization, rank, bool(pods), depends)

    def _why_needed(
        self, seen: SeenNode, utilization: Utilization | None
    ) -> UnremovableReason | None:
        if utilization is None:
            return UnremovableReason.UNEXPECTED_ERROR
        if not self._options.scale_down_unready_enabled and not seen.is_ready:
            return UnremovableReason.SCALE_DOWN_UNREADY_DISABLED
        if utilization.highest > utilization.threshold(self._options):
            return UnremovableReason.NOT_UNDERUTILIZED
        return None

    def _sort_in(self, name: str) -> None:
        """Note whether a node is worth a trial, and why not."""
        self._ranks.pop(name, None)
        self._numbers.pop(name, None)
        self.utilization.pop(name, None)
        self._unremovable.drop(name)
        facts = self._facts.get(name)
        if (
            facts is None
            or name in self._left_out
            or facts.seen.group not in self._shrinking
        ):
            return
        if self._unremovable.is_recent(name):
            self._unremovable.add_recent(name)
            return
        if facts.utilization is not None:
            self.utilization[name] = facts.utilization
        if facts.reason is None:
            self._ranks[name] = facts.rank
            self._numbers[name] = facts.seen.number
        else:
            self._unremovable.add(name, Unremovable(facts.reason))
