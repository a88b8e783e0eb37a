"""The methods of disruption, in the order in which Karpenter tries them.

Mirrors ``pkg/controllers/disruption/controller.go``, ``emptiness.go`` and
``singlenodeconsolidation.go`` (sigs.k8s.io/karpenter v1.15).
"""

import functools
import random
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Final

import attrs

from quaymaster._studies.autoscaling.karpenter.disruption.balanced import (
    PoolTotals,
    may_pass,
    pool_totals,
    verdict_on,
)
from quaymaster._studies.autoscaling.karpenter.disruption.budgets import (
    DRIFTED,
    EMPTY,
    UNDERUTILIZED,
)
from quaymaster._studies.autoscaling.karpenter.disruption.candidates import (
    Candidate,
    in_order,
    is_balanced,
)
from quaymaster._studies.autoscaling.karpenter.disruption.commands import Command
from quaymaster._studies.autoscaling.karpenter.disruption.consolidation import (
    Consolidation,
)
from quaymaster._studies.autoscaling.karpenter.disruption.drift import drift_command
from quaymaster._studies.autoscaling.karpenter.disruption.eligibility import (
    Eligibility,
)
from quaymaster._studies.autoscaling.karpenter.disruption.events import (
    APPROVED,
    Report,
    ignore,
    node_events,
)
from quaymaster._studies.autoscaling.karpenter.disruption.multi_node import (
    MOST_NODES,
    multi_node_command,
    within_budgets,
)
from quaymaster._studies.autoscaling.karpenter.disruption.static_drift import (
    static_drift_commands,
)
from quaymaster._studies.autoscaling.karpenter.disruption.survey import Survey
from quaymaster._studies.autoscaling.karpenter.disruption.verdicts import Judged

__all__ = [
    "DRIFT",
    "METHODS",
    "STATIC_DRIFT",
    "Look",
    "Method",
    "interleaved",
]


@attrs.frozen(kw_only=True)
class Look:
    """What a method finds.

    Attributes:
        eligible: The nodes that it considers.
        budgets: How many more nodes of each pool may be disrupted.
        command: What it would do, or None.
        others: Further commands that begin at the same time.
    """

    eligible: Sequence[Candidate]
    budgets: Mapping[str, int]
    command: Command | None
    others: Sequence[Command] = ()
    _totals: Callable[[], Mapping[str, PoolTotals]] = dict

    @property
    def totals(self) -> Mapping[str, PoolTotals]:
        """The sums over pools; empty without eligible nodes."""
        return self._totals()


@attrs.frozen(kw_only=True, eq=False)
class _Task:
    """What a method works with."""

    survey: Survey
    judged: Judged
    eligible: Sequence[Candidate]
    budgets: Mapping[str, int]
    report: Report
    chance: random.Random | None

    # Only pools of the policy Balanced need the sums, which are over all nodes.
    @functools.cached_property
    def totals(self) -> Mapping[str, PoolTotals]:
        candidates = self.judged.candidates
        return pool_totals(self.survey.state, candidates, self.survey.finder)

    @functools.cached_property
    def ordered(self) -> Sequence[Candidate]:
        """The eligible nodes, those that are best to disrupt first."""
        # Identity: the same list needs to be sorted only once.
        if self.eligible is self.judged.usual:
            return self.judged.usual_in_order
        return in_order(self.eligible)

    @property
    def consolidation(self) -> Consolidation:
        return Consolidation(self.survey, self.report)


@attrs.frozen(kw_only=True, eq=False)
class Method:
    """A way to disrupt nodes.

    Attributes:
        name: Its name.
        reason: The reason for budgets.
        ignores_pods: Whether pods do not block if the claim limits its drain.
        delay: After how many seconds its command is checked again; 0 for not at all.
        tries: Whether it makes trials, for which some pool must be usable.
    """

    name: str
    reason: str
    ignores_pods: bool = False
    delay: float = 0.0
    tries: bool = False
    _rule: Callable[[Eligibility], bool | str]
    _command: Callable[[_Task], Command | None]
    _others: Callable[[_Task], Sequence[Command]] | None = None

    def look(
        self,
        survey: Survey,
        report: Report = ignore,
        chance: random.Random | None = None,
    ) -> Look:
        """Return what it would do.

        Args:
            survey: The cluster.
            report: Gets events.
            chance: Draws the order of pools; None for that of their best nodes.
        """
        survey.report_blocked(report, ignores_pods=self.ignores_pods)
        judged = survey.judged(ignores_pods=self.ignores_pods)
        eligible = self._eligible(judged, report)
        budgets = survey.budgets(self.reason, report)
        if not eligible:
            return Look(eligible=(), budgets=budgets, command=None)
        task = _Task(
            survey=survey,
            judged=judged,
            eligible=eligible,
            budgets=budgets,
            report=report,
            chance=chance,
        )
        # Without a usable pool, upstream's trials end with an error, and no node is
        # reported, not even if it needs no other one.
        is_possible = not self.tries or survey.has_pools
        return Look(
            eligible=eligible,
            budgets=budgets,
            totals=lambda: task.totals,
            command=self._command(task) if is_possible else None,
            others=self._others(task) if self._others is not None else (),
        )

    def _eligible(self, judged: Judged, report: Report) -> Sequence[Candidate]:
        """Return the nodes that it considers, in the order of the cluster."""
        unusual = set()
        for each in judged.unusual:
            if isinstance(each, Candidate):
                verdict = self._rule(each.eligibility)
                if verdict is True:
                    unusual.add(each)
                elif verdict:
                    report.refuse(each.node, verdict)
        # Most nodes are eligible for the same methods. Looking at each of 1,800 nodes
        # took 2 ms for each method.
        usual = judged.usual
        if not usual or self._rule(usual[0].eligibility) is not True:
            return [each for each in judged.unusual if each in unusual]
        if not unusual:
            return usual
        return [e for e in judged.candidates if e.is_usual or e in unusual]

    def still_eligible(
        self, survey: Survey, names: Collection[str]
    ) -> Mapping[str, Candidate]:
        """Return those of some nodes that it considers now, by name."""
        judged = survey.judged(ignores_pods=self.ignores_pods)
        by_name = survey.state.node_by_name
        nodes = (by_name[name] for name in names if name in by_name)
        candidates = filter(None, map(judged.candidate_of, nodes))
        return {
            each.name: each
            for each in candidates
            if self._rule(each.eligibility) is True
        }


def interleaved(
    ordered: Sequence[Candidate], chance: random.Random | None
) -> Sequence[Candidate]:
    """Return nodes in order, but one of each pool after the other.

    Upstream leaves the order of pools to chance.
    """
    # Without chance the pool of the first node goes first. Upstream reads a Go map,
    # and a small one begins most often with what was put into it first.
    by_pool: dict[str, list[Candidate]] = {}
    for candidate in ordered:
        by_pool.setdefault(candidate.pool.name, []).append(candidate)
    names = [*by_pool]
    if chance is not None:
        chance.shuffle(names)
    most = max(map(len, by_pool.values()), default=0)
    return [
        by_pool[name][place]
        for place in range(most)
        for name in names
        if place < len(by_pool[name])
    ]


def _emptiness(task: _Task) -> Command | None:
    allowed = within_budgets(in_order(task.eligible), task.budgets)
    return Command(candidates=allowed) if allowed else None


def _drift(task: _Task) -> Command | None:
    return drift_command(task.eligible, task.budgets, task.survey, task.report)


def _static_drift(task: _Task) -> Sequence[Command]:
    return static_drift_commands(task.eligible, task.budgets, task.survey, task.report)


def _multi_node(task: _Task) -> Command | None:
    return multi_node_command(
        within_budgets(task.ordered, task.budgets, MOST_NODES),
        task.consolidation,
        lambda: task.totals,
        task.report,
        task.survey.options.well_known_labels,
    )


def _single_node(task: _Task) -> Command | None:
    consolidation = task.consolidation
    candidates = _candidates_in_turn(task)
    if candidates:
        task.survey.report_pools(task.report)
    staying = task.survey.surely_staying(candidates)
    refused = 0
    for place, candidate in enumerate(candidates):
        if candidate in staying or task.survey.surely_fails([candidate]):
            continue
        consolidation.refuse_all(candidates[refused:place])
        refused = place + 1
        command = consolidation.tried([candidate])
        if command is not None and _is_approved(command, task):
            return command
    consolidation.refuse_all(candidates[refused:])
    return None


def _candidates_in_turn(task: _Task) -> Sequence[Candidate]:
    """Return the nodes that may go alone, one of each pool after the other."""
    pools = task.survey.state.pools
    # One after the other of a single pool is as they are: it has 2,500 nodes or more.
    ordered = task.ordered
    if len(pools) > 1:
        ordered = interleaved(ordered, task.chance)
    if all(map(task.budgets.get, pools)) and not any(map(is_balanced, pools.values())):
        return ordered
    return [
        each
        for each in ordered
        if task.budgets.get(each.pool.name)
        and (not is_balanced(each.pool) or may_pass(each, task.totals))
    ]


def _is_approved(command: Command, task: _Task) -> bool:
    verdict = verdict_on(command, lambda: task.totals)
    [candidate] = command.candidates
    score = verdict.scores.get(candidate.pool.name)
    if score is not None and score.is_approved:
        for event in node_events(candidate.node, APPROVED, str(score)):
            task.report(event)
    return verdict.holds


# ``commandValidationDelay`` (consolidation.go).
_VALIDATION_SECONDS: Final = 15.0

DRIFT: Final = Method(
    name="drift",
    reason=DRIFTED,
    ignores_pods=True,
    tries=True,
    rule=lambda eligibility: eligibility.drift,
    command=_drift,
)

STATIC_DRIFT: Final = Method(
    name="static drift",
    reason=DRIFTED,
    ignores_pods=True,
    rule=lambda eligibility: eligibility.static_drift,
    command=lambda task: next(iter(_static_drift(task)), None),
    others=lambda task: _static_drift(task)[1:],
)

METHODS: Final = (
    Method(
        name="empty",
        reason=EMPTY,
        delay=_VALIDATION_SECONDS,
        rule=lambda eligibility: eligibility.emptiness,
        command=_emptiness,
    ),
    STATIC_DRIFT,
    DRIFT,
    Method(
        name="multi",
        reason=UNDERUTILIZED,
        delay=_VALIDATION_SECONDS,
        tries=True,
        rule=lambda eligibility: eligibility.consolidation,
        command=_multi_node,
    ),
    Method(
        name="single",
        reason=UNDERUTILIZED,
        delay=_VALIDATION_SECONDS,
        tries=True,
        rule=lambda eligibility: eligibility.consolidation,
        command=_single_node,
    ),
)
"""The methods in order."""
