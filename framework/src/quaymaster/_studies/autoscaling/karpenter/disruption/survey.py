"""One look at a cluster: its candidates, its budgets, and trials without some nodes.

Mirrors ``pkg/controllers/disruption/helpers.go`` (sigs.k8s.io/karpenter v1.15).
"""

import functools
from collections.abc import Collection, Mapping, Sequence
from typing import Final

import attrs

from quaymaster._api.objects import Pod
from quaymaster._studies.autoscaling.karpenter.amounts import (
    Amounts,
    added,
    requests_of,
)
from quaymaster._studies.autoscaling.karpenter.cluster import ClusterState, StateNode
from quaymaster._studies.autoscaling.karpenter.disruption.budgets import (
    allowed_disruptions,
)
from quaymaster._studies.autoscaling.karpenter.disruption.candidates import (
    Blocked,
    Candidate,
    CandidateFinder,
)
from quaymaster._studies.autoscaling.karpenter.disruption.commands import source_price
from quaymaster._studies.autoscaling.karpenter.disruption.events import (
    BLOCKED,
    NO_TYPES,
    DisruptionEvent,
    Report,
)
from quaymaster._studies.autoscaling.karpenter.disruption.late_texts import LateText
from quaymaster._studies.autoscaling.karpenter.labels import NODE_POOL
from quaymaster._studies.autoscaling.karpenter.objects import is_true
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
        self.finder = CandidateFinder(state, options, busy=busy)
        self._limits = state.disruption_limits
        self.today = state.now + calendar_offset

    @functools.cached_property
    def _judged(self) -> Sequence[Candidate | Blocked]:
        return [self.finder.candidate(node) for node in self.state.nodes]

    @functools.cached_property
    def _judged_for_drift(self) -> Sequence[Candidate | Blocked]:
        return [
            self.finder.candidate(each.node, ignores_pods=True)
            if isinstance(each, Blocked) and each.is_by_pods
            else each
            for each in self._judged
        ]

    def judged(self, *, ignores_pods: bool = False) -> Sequence[Candidate | Blocked]:
        """Return each node as a candidate, or why it is none.

        Args:
            ignores_pods: Whether pods do not block if the claim limits its drain.
        """
        return self._judged_for_drift if ignores_pods else self._judged

    def candidates(self, *, ignores_pods: bool = False) -> Sequence[Candidate]:
        """Return the nodes that may be disrupted; arguments as for `judged`."""
        judged = self.judged(ignores_pods=ignores_pods)
        return [each for each in judged if isinstance(each, Candidate)]

    def report_blocked(self, report: Report, *, ignores_pods: bool = False) -> None:
        """Report the nodes that may not be disrupted."""
        for each in self.judged(ignores_pods=ignores_pods):
            if isinstance(each, Blocked) and each.message:
                report_node(report, each.node, BLOCKED, each.message)

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
        for node in self.state.nodes:
            claim = node.claim
            if claim is None or not (node.is_initialized or node.is_rebooting):
                continue
            if is_true(claim.status.conditions, "InstanceTerminating"):
                continue
            pool = node.labels.get(NODE_POOL, "")
            totals[pool] = totals.get(pool, 0) + 1
            is_leaving = node.marked_for_deletion or node.is_rebooting
            if is_leaving or not _is_ready(node):
                disrupting[pool] = disrupting.get(pool, 0) + 1
        return totals, disrupting

    def trial(self, candidates: Sequence[Candidate], *, consolidates: bool) -> Trial:
        """Return where pods would go without some nodes.

        Args:
            candidates: The nodes.
            consolidates: Whether nodes that changed recently get no moved pods.
        """
        moving = [pod for candidate in candidates for pod in self._moving(candidate)]
        pending, leaving = self._waiting.pending, self._waiting.leaving
        result = solve(
            self.state,
            [*pending, *moving, *leaving],
            self.options,
            exclude_nodes={candidate.name for candidate in candidates},
            consolidates=consolidates,
            strict_reservations=False,
        )
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
        # Most nodes are full, and in a large cluster a look would otherwise make a
        # trial for each: 96 % of 33,000 trials in two hours of a day.
        supply = supply_of(self.state, self.options)
        names = {candidate.name for candidate in candidates}
        nodes = nodes_of_solve(self.state, self.options, supply, names)
        homeless: Amounts = {}
        for candidate in candidates:
            for pod in self._moving(candidate):
                requests = requests_of(pod)
                if not nodes.may_have_room(requests):
                    homeless = added(homeless, requests)
        if not homeless:
            return False
        # These pods get no node that has started. With one that has not, or without
        # any, the trial fails. Otherwise all of them share one new node, which must
        # cost less.
        price = source_price(candidates)
        return not any(
            template.may_hold_for_less(homeless, price) for template in supply.templates
        )

    def _moving(self, candidate: Candidate) -> Sequence[Pod]:
        """Return the pods of a node that need another one."""
        return [
            pod
            for pod in candidate.pods
            if self._limits.is_currently_reschedulable(pod)
        ]

    @functools.cached_property
    def _waiting(self) -> PodsToSchedule:
        return pods_to_schedule(self.state, self.options)


def report_node(
    report: Report, node: StateNode, reason: str, text: str | LateText
) -> None:
    """Report about a node and its claim."""
    if node.node is not None:
        report(DisruptionEvent("Node", node.node.name, reason, text))
    if node.claim is not None:
        report(DisruptionEvent("NodeClaim", node.claim.name, reason, text))


def _node_text(node: StateNode) -> str:
    parts = []
    if node.claim is not None:
        parts.append(f"nodeclaim/{node.claim.name}")
    if node.node is not None:
        parts.append(f"node/{node.node.name}")
    return ", ".join(parts)


def _is_ready(node: StateNode) -> bool:
    return node.node is not None and any(
        condition.type == "Ready" and condition.status == "True"
        for condition in node.node.status.conditions
    )
