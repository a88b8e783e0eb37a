"""One look at a cluster: its candidates, its budgets, and trials without some nodes.

Mirrors ``pkg/controllers/disruption/helpers.go`` (sigs.k8s.io/karpenter v1.15).
"""

import functools
from collections.abc import Collection, Mapping, Sequence, Set
from typing import Final

import attrs

from quaymaster._api.objects import Pod
from quaymaster._studies.autoscaling.karpenter.amounts import (
    Amounts,
    added,
)
from quaymaster._studies.autoscaling.karpenter.cluster import ClusterState, StateNode
from quaymaster._studies.autoscaling.karpenter.disruption.budgets import (
    allowed_disruptions,
)
from quaymaster._studies.autoscaling.karpenter.disruption.candidates import (
    Blocked,
    Candidate,
    CandidateFinder,
    Shape,
)
from quaymaster._studies.autoscaling.karpenter.disruption.commands import source_price
from quaymaster._studies.autoscaling.karpenter.disruption.events import (
    BLOCKED,
    NO_TYPES,
    DisruptionEvent,
    Report,
)
from quaymaster._studies.autoscaling.karpenter.disruption.quick_trials import (
    QuickTrials,
)
from quaymaster._studies.autoscaling.karpenter.disruption.stay_proofs import (
    may_go,
    surely_staying,
)
from quaymaster._studies.autoscaling.karpenter.disruption.unchanged import (
    budgets_hold_until,
)
from quaymaster._studies.autoscaling.karpenter.disruption.verdicts import (
    Judged,
    Verdicts,
    verdicts_on,
)
from quaymaster._studies.autoscaling.karpenter.options import KarpenterOptions
from quaymaster._studies.autoscaling.karpenter.solve.claims import ProposedClaim
from quaymaster._studies.autoscaling.karpenter.solve.node_facts import nodes_of_solve
from quaymaster._studies.autoscaling.karpenter.solve.pending import (
    PodsToSchedule,
    pods_to_schedule,
)
from quaymaster._studies.autoscaling.karpenter.solve.scheduler import solve
from quaymaster._studies.autoscaling.karpenter.solve.templates import (
    NO_TYPES_REASONS,
    supply_of,
)

__all__ = ["Survey", "Trial"]

_SHOWN_ERRORS: Final = 5


@attrs.frozen(kw_only=True, eq=False)
class Trial:
    """Where pods would go without some nodes.

    Attributes:
        claims: The claims that would be needed.
        moves: Existing node -> the pods that it would get.
        problems: Key of a pod that would have no place -> why; pods that are pending
            anyway are left out.
    """

    claims: Sequence[ProposedClaim]
    moves: Mapping[str, Sequence[Pod]]
    problems: Mapping[str, str]

    @property
    def problem(self) -> str:
        """Why not all pods would have a place; empty if they have."""
        if not self.problems:
            return ""
        listed = list(self.problems.items())
        shown = "".join(f"{key} => {why} " for key, why in listed[:_SHOWN_ERRORS])
        left = len(listed) - _SHOWN_ERRORS
        # With exactly five errors, upstream names 0 others, too
        # (``NonPendingPodSchedulingErrors``, scheduler.go).
        others = f" and {left} other(s)" if left >= 0 else ""
        return f"not all pods would schedule, {shown}{others}"


class Survey:
    """A cluster at one moment.

    Args:
        state: The cluster.
        options: The options of Karpenter.
        busy: The names of nodes that are being disrupted.
        calendar_offset: How much later than the time of the state it is on the
            calendar, for budgets with a schedule.

    Attributes:
        state: The cluster.
        options: The options of Karpenter.
        finder: Decides which nodes may be disrupted.
        busy: The names of nodes that are being disrupted.
        today: The time on the calendar, for budgets with a schedule.
    """

    def __init__(
        self,
        state: ClusterState,
        options: KarpenterOptions,
        *,
        busy: Collection[str] = (),
        calendar_offset: float = 0.0,
    ) -> None:
        self.state = state
        self.options = options
        self.finder = CandidateFinder(state, options)
        self.busy = busy
        self.today = state.now + calendar_offset

    @functools.cached_property
    def _verdicts(self) -> Verdicts:
        return verdicts_on(self.state, self.finder.candidate)

    @property
    def holds_until(self) -> float:
        """When time alone may change what is found; infinite for never."""
        pools, now = self.state.pools.values(), self.state.now
        budgets = budgets_hold_until(pools, now, self.today)
        return min(self._verdicts.holds_until, budgets)

    @functools.cached_property
    def _judged(self) -> Judged:
        judged, by_name = self._verdicts.judged, self.state.node_by_name
        if not self.busy:
            return judged
        nodes = [by_name[name] for name in self.busy if name in by_name]
        return judged.with_others(nodes, map(self.finder.busy, nodes))

    @functools.cached_property
    def _judged_for_drift(self) -> Judged:
        judged = self._judged
        blocked = [
            each.node
            for each in judged.unusual
            if isinstance(each, Blocked) and each.is_by_pods
        ]
        if not blocked:
            return judged
        again = functools.partial(self.finder.candidate, ignores_pods=True)
        return judged.with_others(blocked, map(again, blocked))

    def judged(self, *, ignores_pods: bool = False) -> Judged:
        """Return each node as a candidate, or why it is none.

        Args:
            ignores_pods: Whether pods do not block if the claim limits its drain.
        """
        return self._judged_for_drift if ignores_pods else self._judged

    def report_blocked(self, report: Report, *, ignores_pods: bool = False) -> None:
        """Report the nodes that may not be disrupted."""
        report.block_all(self.judged(ignores_pods=ignores_pods).blocked)

    @property
    def has_pools(self) -> bool:
        """Whether any pool can be used. Without one, upstream makes no trials."""
        return bool(supply_of(self.state, self.options).pools)

    def report_pools(self, report: Report) -> None:
        """Report the pools that can have no type, as a trial does."""
        for name, reason in supply_of(self.state, self.options).left_out.items():
            if reason in NO_TYPES_REASONS:
                report(DisruptionEvent("NodePool", name, NO_TYPES, reason, "Warning"))

    def budgets(self, reason: str, report: Report) -> dict[str, int]:
        """Return how many more nodes of each pool may be disrupted for a reason."""
        totals, disrupting = self._counts
        allowed: dict[str, int] = {}
        for name, pool in self.state.pools.items():
            total = totals.get(name, 0)
            most = allowed_disruptions(pool, total, reason, self.today)
            allowed[name] = max(most - disrupting.get(name, 0), 0)
            if total and not most:
                text = (
                    f"No allowed disruptions for disruption reason {reason} due to "
                    "blocking budget"
                )
                report(DisruptionEvent("NodePool", name, BLOCKED, text))
        return allowed

    def counts_of(self, pool: str) -> tuple[int, int]:
        """Return how many nodes of a pool have started, and how many of them leave."""
        totals, disrupting = self._counts
        return totals.get(pool, 0), disrupting.get(pool, 0)

    @functools.cached_property
    def _counts(self) -> tuple[Mapping[str, int], Mapping[str, int]]:
        """The nodes of each pool that have started, and those that are disrupted now.

        A node that restarts is not initialised, but counts among both.
        """
        totals: dict[str, int] = {}
        disrupting: dict[str, int] = {}
        for key, count in self.state.groups.counts.items():
            if key is not None and count:
                pool, is_disrupted = key
                totals[pool] = totals.get(pool, 0) + count
                if is_disrupted:
                    disrupting[pool] = disrupting.get(pool, 0) + count
        return totals, disrupting

    def trial(self, candidates: Sequence[Candidate], *, consolidates: bool) -> Trial:
        """Return where pods would go without some nodes.

        Args:
            candidates: The nodes.
            consolidates: Whether nodes that changed recently get no moved pods.
        """
        trial = self._trial(candidates, consolidates=consolidates, ends_early=False)
        assert trial is not None  # it has not ended early
        return trial

    def successful_trial(self, candidates: Sequence[Candidate]) -> Trial | None:
        """Return where pods would go in a consolidation, or None if it surely fails."""
        return self._trial(candidates, consolidates=True, ends_early=True)

    def _trial(
        self, candidates: Sequence[Candidate], *, consolidates: bool, ends_early: bool
    ) -> Trial | None:
        moving = [pod for candidate in candidates for pod in candidate.moving_pods]
        pending, leaving = self._waiting.pending, self._waiting.leaving
        result = solve(
            self.state,
            [*pending, *moving, *leaving],
            self.options,
            exclude_nodes={candidate.name for candidate in candidates},
            consolidates=consolidates,
            strict_reservations=False,
            # More than half of all trials fail by a node that has not started. Ending
            # them there saves half of the time of trials.
            needing_started={pod.key for pod in moving} if ends_early else (),
        )
        if result.is_given_up:
            return None
        problems = dict(result.errors)
        if result.problem:
            problems = {pod.key: result.problem for pod in (*moving, *leaving)}
        expected = {pod.key for pod in leaving}
        moves = {name: pods for name, pods in result.existing.items() if pods}
        for name, pods in moves.items():
            node = self.state.node_by_name[name]
            if not node.is_initialized:
                text = f"would schedule against uninitialized {_node_text(node)}"
                for pod in pods:
                    if pod.key not in expected:
                        problems[pod.key] = text
        # Pods that are pending already would be so without the command as well.
        unplaced = {pod.key for pod in pending}
        return Trial(
            claims=result.new_claims,
            moves=moves,
            problems={key: why for key, why in problems.items() if key not in unplaced},
        )

    def surely_stay(self, candidates: Sequence[Candidate]) -> bool:
        """Return whether some nodes surely cannot go together, without a trial.

        False does not mean that they can go.
        """
        supply = supply_of(self.state, self.options)
        names = {candidate.name for candidate in candidates}
        nodes = nodes_of_solve(self.state, self.options, supply, names)
        shapes: dict[Shape, Amounts] = {}
        for candidate in candidates:
            for shape, requests in candidate.shapes.items():
                shapes[shape] = added(shapes.get(shape, {}), requests)
        homeless: Amounts = {}
        for shape, requests in shapes.items():
            if not nodes.may_have_room(dict(shape)):
                homeless = added(homeless, requests)
        return bool(homeless) and not may_go(supply, homeless, source_price(candidates))

    @property
    def follows_trials(self) -> bool:
        """Whether `surely_fails` can return True."""
        return self._quick.are_possible

    def surely_fails(self, candidates: Sequence[Candidate]) -> bool:
        """Return whether a trial without some nodes surely fails.

        It takes longer than `surely_stay`, and finds more of them.
        """
        return self._quick.surely_fails(candidates)

    def surely_staying(self, candidates: Sequence[Candidate]) -> Set[Candidate]:
        """Return the nodes that surely cannot go alone; others may be among them."""
        return surely_staying(self.state, self.options, candidates)

    @functools.cached_property
    def _quick(self) -> QuickTrials:
        return QuickTrials(self.state, self.options, self._waiting)

    @functools.cached_property
    def _waiting(self) -> PodsToSchedule:
        return pods_to_schedule(self.state, self.options)


def _node_text(node: StateNode) -> str:
    parts = []
    if node.claim is not None:
        parts.append(f"nodeclaim/{node.claim.name}")
    if node.node is not None:
        parts.append(f"node/{node.node.name}")
    return ", ".join(parts)
