"""The methods of disruption, in the order in which Karpenter tries them.

Mirrors ``pkg/controllers/disruption/controller.go``, ``emptiness.go`` and
``singlenodeconsolidation.go`` (sigs.k8s.io/karpenter v1.15).
"""

import functools
import random
from collections.abc import Callable, Iterable, Mapping, Sequence
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
from quaymaster._studies.autoscaling.karpenter.disruption.candidates import Candidate
from quaymaster._studies.autoscaling.karpenter.disruption.commands import Command
from quaymaster._studies.autoscaling.karpenter.disruption.consolidation import (
    Consolidation,
    is_consolidatable,
    is_removable_when_empty,
)
from quaymaster._studies.autoscaling.karpenter.disruption.drift import (
    drift_command,
    is_drifted,
)
from quaymaster._studies.autoscaling.karpenter.disruption.events import (
    APPROVED,
    Report,
    ignore,
)
from quaymaster._studies.autoscaling.karpenter.disruption.multi_node import (
    multi_node_command,
    within_budgets,
)
from quaymaster._studies.autoscaling.karpenter.disruption.static_drift import (
    is_statically_drifted,
    static_drift_commands,
)
from quaymaster._studies.autoscaling.karpenter.disruption.survey import (
    Survey,
    report_node,
)
from quaymaster._studies.autoscaling.karpenter.go_sort import sort_slice

__all__ = [
    "DRIFT",
    "METHODS",
    "STATIC_DRIFT",
    "Look",
    "Method",
    "in_order",
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
    candidates: Sequence[Candidate]
    eligible: Sequence[Candidate]
    budgets: Mapping[str, int]
    report: Report
    chance: random.Random | None

    # Only pools of the policy Balanced need the sums, which are over all nodes.
    @functools.cached_property
    def totals(self) -> Mapping[str, PoolTotals]:
        return pool_totals(self.survey.state, self.candidates, self.survey.finder)

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
    _is_eligible: Callable[[Candidate, Report], bool]
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
        candidates = survey.candidates(ignores_pods=self.ignores_pods)
        eligible = [each for each in candidates if self._is_eligible(each, report)]
        budgets = survey.budgets(self.reason, report)
        if not eligible:
            return Look(eligible=(), budgets=budgets, command=None)
        task = _Task(
            survey=survey,
            candidates=candidates,
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

    def still_eligible(self, survey: Survey) -> Mapping[str, Candidate]:
        """Return the nodes that it considers now, by name."""
        candidates = survey.candidates(ignores_pods=self.ignores_pods)
        return {
            each.name: each for each in candidates if self._is_eligible(each, ignore)
        }


def in_order(candidates: Iterable[Candidate]) -> Sequence[Candidate]:
    """Return nodes by price for each unit of cost, the highest first."""
    # By savings and not by disruption cost alone: most documentation still describes
    # that older order.
    return sort_slice(candidates, lambda each: -each.ratio)


def interleaved(
    candidates: Iterable[Candidate], chance: random.Random | None
) -> Sequence[Candidate]:
    """Return nodes in order, but one of each pool after the other.

    Upstream leaves the order of pools to chance.
    """
    # Without chance the pool of the first node goes first. Upstream reads a Go map,
    # and a small one begins most often with what was put into it first.
    by_pool: dict[str, list[Candidate]] = {}
    for candidate in in_order(candidates):
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
        within_budgets(in_order(task.eligible), task.budgets),
        task.consolidation,
        lambda: task.totals,
        task.report,
        task.survey.options.well_known_labels,
    )


def _single_node(task: _Task) -> Command | None:
    consolidation = task.consolidation
    for candidate in interleaved(task.eligible, task.chance):
        if not task.budgets.get(candidate.pool.name):
            continue
        if candidate.is_in_balanced_pool and not may_pass(candidate, task.totals):
            continue
        command = consolidation.command([candidate])
        if command is not None and _is_approved(command, task):
            return command
    return None


def _is_approved(command: Command, task: _Task) -> bool:
    verdict = verdict_on(command, lambda: task.totals)
    [candidate] = command.candidates
    score = verdict.scores.get(candidate.pool.name)
    if score is not None and score.is_approved:
        report_node(task.report, candidate.node, APPROVED, str(score))
    return verdict.holds


# ``commandValidationDelay`` (consolidation.go).
_VALIDATION_SECONDS: Final = 15.0

DRIFT: Final = Method(
    name="drift",
    reason=DRIFTED,
    ignores_pods=True,
    tries=True,
    is_eligible=lambda candidate, _report: is_drifted(candidate),
    command=_drift,
)

STATIC_DRIFT: Final = Method(
    name="static drift",
    reason=DRIFTED,
    ignores_pods=True,
    is_eligible=lambda candidate, _report: is_statically_drifted(candidate),
    command=lambda task: next(iter(_static_drift(task)), None),
    others=lambda task: _static_drift(task)[1:],
)

METHODS: Final = (
    Method(
        name="empty",
        reason=EMPTY,
        delay=_VALIDATION_SECONDS,
        is_eligible=is_removable_when_empty,
        command=_emptiness,
    ),
    STATIC_DRIFT,
    DRIFT,
    Method(
        name="multi",
        reason=UNDERUTILIZED,
        delay=_VALIDATION_SECONDS,
        tries=True,
        is_eligible=is_consolidatable,
        command=_multi_node,
    ),
    Method(
        name="single",
        reason=UNDERUTILIZED,
        delay=_VALIDATION_SECONDS,
        tries=True,
        is_eligible=is_consolidatable,
        command=_single_node,
    ),
)
"""The methods in order."""
