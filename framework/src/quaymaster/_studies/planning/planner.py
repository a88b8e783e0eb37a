"""Answers the question of `plan`: looks at the input, searches, explains."""

from collections.abc import Iterable, Sequence

import attrs

from quaymaster._api.objects import Pod
from quaymaster._base.errors import counted
from quaymaster._studies.planning.amounts import Amounts, offered
from quaymaster._studies.planning.answers import (
    answer_of,
    failure_of,
    node_prices,
    without_plan,
)
from quaymaster._studies.planning.attempt import Attempt, Effort, Outcome
from quaymaster._studies.planning.costs import costs_of
from quaymaster._studies.planning.demand import Demand, demand_of
from quaymaster._studies.planning.groups import NodeGroupError
from quaymaster._studies.planning.losses import check_loss, untried_losses
from quaymaster._studies.planning.parts import with_parts
from quaymaster._studies.planning.plans import Plan, UnplacedKind
from quaymaster._studies.planning.pod_kinds import signature
from quaymaster._studies.planning.question import Question, is_tied
from quaymaster._studies.planning.shapes import Shapes
from quaymaster._studies.planning.spare import spare_counts, with_spare
from quaymaster._studies.planning.unneeded import unneeded_nodes
from quaymaster._studies.planning.unplaced import unplaced_kinds
from quaymaster._studies.simulation.results import UnscheduledPod

__all__ = ["Planner"]


class Planner:
    """Answers a question.

    Args:
        question: The question.
        effort: How to search.

    Raises:
        AdmissionError: Some objects are invalid, or create too many pods.
        NodeGroupError: The groups conflict, or no node has a resource with a limit.
        ProfileError: A profile's plugins cannot be built.
    """

    def __init__(self, question: Question, effort: Effort) -> None:
        self._question = question
        self._effort = effort
        self._cluster = question.cluster_of(question.objects)
        self._demand = demand_of(self._cluster)
        _check_loss(question, self._demand)
        _check_spare(question)
        _check_spot(question)
        _check_limits(question, self._demand)
        self._shapes = Shapes(question, self._pending)
        # Nodes that accept no pods by status or taints; whether even empty ones do is
        # found out by trying.
        shut = [node for node in self._demand.nodes if node.name in question.closed]
        if shut and self._shapes.are_shut(shut):
            names = frozenset(node.name for node in shut)
            self._demand = attrs.evolve(self._demand, shut=names)

    @property
    def _pending(self) -> list[Pod]:
        return [pod.pod for pod in self._demand.demands if not pod.node]

    def answer(self) -> Plan:
        """Return the best plan, or why there is none and what fits nevertheless.

        Raises:
            AdmissionError: Some objects are invalid, or create too many pods.
        """
        # The cheap tests come first: they answer without a single trial.
        useless = self._useless()
        if useless is not None:
            return useless
        pending = self._pending
        verdicts = ((pod, self._shapes.why_hopeless(pod)) for pod in pending)
        hopeless = [(pod, verdict) for pod, verdict in verdicts if verdict is not None]
        if not hopeless:
            return self._searched(self._question)
        what = counted(len(hopeless), "pod")
        failed = without_plan(
            self._question,
            f"no number of nodes helps {what}",
            [verdict for _, verdict in hopeless],
            self._kinds(hopeless),
        )
        # If no pod can be helped, there is no partial plan either.
        if len(hopeless) == len(pending):
            return failed
        return self._with_others(failed, self._question, [pod for pod, _ in hopeless])

    def _useless(self) -> Plan | None:
        """Return a failed plan if a required node has no room for its DaemonSets."""
        pairs = zip(self._question.groups, self._shapes.shapes, strict=True)
        for group, shape in pairs:
            if shape.misfit is not None and group.min_nodes:
                what = f"{group.name}: min is {group.min_nodes}, but no node of it can"
                obstacle = f"{what} run what a DaemonSet puts on each"
                return without_plan(self._question, obstacle, [shape.misfit])
        return None

    def _searched(self, question: Question) -> Plan:
        outcome = self._attempt(question)
        if outcome.trial is not None and outcome.trial.fits:
            return self._answer(question, outcome)
        failed = self._failed(question, outcome)
        lost = self._without_takers(outcome)
        if lost:
            return self._with_others(failed, question, lost)
        return attrs.evolve(failed, partial=self._closest(question, outcome))

    def _attempt(self, question: Question) -> Outcome:
        def search(question: Question, effort: Effort) -> Outcome:
            return Attempt(
                question, self._cluster, self._demand, self._shapes, effort
            ).run()

        # A loss makes each trial about twice as long.
        pods = self._demand.pods * (1 if question.loss is None else 2)
        return with_parts(question, self._effort, pods, search)

    def _with_others(
        self, failed: Plan, question: Question, pods: Iterable[Pod]
    ) -> Plan:
        """Add the best plan for all pods but some."""
        left_out = question.left_out | frozenset(map(signature, pods))
        others = self._searched(attrs.evolve(question, left_out=left_out))
        partial = others if others.is_found else others.partial
        return attrs.evolve(failed, partial=partial)

    def _without_takers(self, outcome: Outcome) -> list[Pod]:
        """Return the pods that prevent a plan and that no group can take."""
        trial = outcome.closest or outcome.trial
        pending = trial.pending if trial is not None else ()
        return [
            pod
            for pod, _ in pending
            if not is_tied(pod) and not self._shapes.takers(pod)
        ]

    def _closest(self, question: Question, outcome: Outcome) -> Plan | None:
        """Return the plan that places most pods, if it places any of them."""
        trial = outcome.closest
        if trial is None or not trial.pending or not any(trial.counts):
            return None
        return attrs.evolve(
            answer_of(question, trial),
            unplaced=tuple(verdict for _, verdict in trial.pending),
            unplaced_kinds=tuple(self._kinds(trial.pending)),
            has_bound=False,
            tried=outcome.tried,
        )

    def _failed(self, question: Question, outcome: Outcome) -> Plan:
        trial = outcome.trial
        if trial is None:
            is_final = outcome.is_final
            obstacle = f"no number of nodes helps: {outcome.lack}"
            if outcome.is_late:
                obstacle = "the time was over before any plan was found"
            elif not is_final:
                obstacle = "no plan that was tried works"
            failed = without_plan(question, obstacle)
        else:
            failed = failure_of(question, trial, self._kinds(trial.pending))
        return self._bounded(failed, outcome)

    def _answer(self, question: Question, outcome: Outcome) -> Plan:
        assert outcome.trial is not None, "the caller has checked that"
        trial, trials = outcome.trial, outcome.trials
        spare = spare_counts(trial.counts, question.spare)
        if any(spare):
            # Also when the time is over: the plan without spare nodes was found.
            self._effort.pace.is_open = False
            trial = with_spare(trials, trial, question.spare)
            self._effort.pace.is_open = True
        answer = answer_of(question, trial)
        left_out = self._left_out(question)
        prices = node_prices(question, trial, question.prices)
        assert trial.cluster is not None, "the plan that was found has its cluster"
        answer = attrs.evolve(
            answer,
            groups=tuple(
                attrs.evolve(group, spare=count)
                for group, count in zip(answer.groups, spare, strict=True)
            ),
            unplaced=tuple(
                verdict
                for verdict in trial.result.unscheduled
                if verdict.pod in left_out
            ),
            costs=costs_of(trial.cluster, prices, trial.pods_of),
            unneeded_nodes=unneeded_nodes(question, trials, trial),
            notices=(*answer.notices, *untried_losses(question.loss, trial.nodes)),
        )
        return self._bounded(answer, outcome)

    def _bounded(self, plan: Plan, outcome: Outcome) -> Plan:
        solution, scale = outcome.search, outcome.scale
        if solution is None:
            return attrs.evolve(plan, tried=outcome.tried)
        return attrs.evolve(
            plan,
            is_final=solution.is_final,
            is_final_at_once=solution.is_final_at_once,
            has_looked_at_rounds=self._effort.in_rounds,
            lower_bound=scale.value(solution.bound),
            lower_bound_in_rounds=scale.value(solution.bound_in_rounds),
            tried=outcome.tried,
        )

    def _left_out(self, question: Question) -> frozenset[str]:
        pods = self._pending if question.left_out else ()
        return frozenset(pod.key for pod in pods if question.leaves_out(pod))

    def _kinds(
        self, verdicts: Sequence[tuple[Pod, UnscheduledPod]]
    ) -> list[UnplacedKind]:
        offers: list[Amounts] = [shape.offered for shape in self._shapes.shapes]
        offers += map(offered, self._demand.nodes)
        return unplaced_kinds(verdicts, self._cluster, offers)


def _check_loss(question: Question, demand: Demand) -> None:
    """Raise an error if nothing remains after a loss."""
    if question.loss is None:
        return
    samples = [
        node for group in question.groups if group.max_nodes for node in group.samples()
    ]
    check_loss(question.loss, demand.nodes, samples)


def _check_spare(question: Question) -> None:
    """Raise an error if a group has too few nodes for spare ones."""
    for group in question.groups:
        least = max(1, group.min_nodes) + question.spare
        if question.spare and 0 < group.max_nodes < least:
            expected = f"expected at least {least} for {question.spare} spare nodes"
            raise NodeGroupError(group.where, f"max: {expected}, got {group.max_nodes}")


def _check_spot(question: Question) -> None:
    """Raise an error if no group has spot nodes."""
    rule = question.spot_rule()
    if rule is not None and not any(rule.spot):
        raise NodeGroupError(
            "min spot",
            "expected a group of spot nodes, by a label such as "
            "karpenter.sh/capacity-type=spot, got none",
        )


def _check_limits(question: Question, demand: Demand) -> None:
    """Raise an error for limits of resources that no node has: probably misspelt."""
    samples = (group.samples()[0] for group in question.groups)
    there = set().union(*(offered(node) for node in (*samples, *demand.nodes)))
    for name in question.max_utilization:
        if name not in there:
            expected = f"expected what nodes have ({', '.join(sorted(there))})"
            raise NodeGroupError("max utilization", f"{expected}, got {name!r}")
