"""PreFilter and Filter with cached answers."""

from collections.abc import Mapping
from functools import partial
from typing import Final

import numpy as np

from quaymaster._core.contract.status import Status
from quaymaster._core.cycle.attempt import Attempt
from quaymaster._core.cycle.decisions import FitError, Unfit
from quaymaster._core.cycle.filtering import (
    FilterStation,
    KindOnNode,
    PlainFilters,
)
from quaymaster._core.cycle.nominated import Ahead, NominatedPods
from quaymaster._core.cycle.pre_filter import ALL_NODES, PreFilterOutcome
from quaymaster._core.memo.filter_plan import FilterPlan
from quaymaster._core.memo.recorded_answers import AnswerRecorder, RecordedAnswers
from quaymaster._core.memo.signatures import SignatureMemo, Signatures
from quaymaster._core.state.arrays import Rows

__all__ = ["RememberedFilters"]

_NONE: Final[frozenset[str]] = frozenset()

# Up to this many rows are judged one by one with the pods that are nominated there.
# Compared with judging all of them in one imagined table, that takes 0.2 of the time
# for one row, the same time for 12 rows, and 2.2 times as long for 96 rows.
_FEW_NOMINATED: Final = 12


class RememberedFilters:
    """Finds the same nodes as `PlainFilters`, with a memo; implements `Filters`.

    Args:
        station: The plain station, called for answers that are not cached.
        nominated: The pods to leave room for.
        signatures: The memos by signature.

    Attributes:
        has_unfit: Whether any attempt has found no node, and its outcome was kept.
    """

    def __init__(
        self, station: FilterStation, nominated: NominatedPods, signatures: Signatures
    ) -> None:
        self._station = station
        self._nominated = nominated
        self._plain = PlainFilters(station, nominated)
        self._signatures = signatures
        self.has_unfit = False

    def known_unfit(self, attempt: Attempt) -> Unfit | None:
        """See `Filters.known_unfit`."""
        memo = self._signatures.of(attempt)
        unfit = None if memo is None else memo.unfit
        if memo is None or unfit is None:
            return None
        if unfit.revision != attempt.nodes.changes.revision:
            return None
        answers = self._complete_answers(memo)
        if answers is None or answers.skips != unfit.skipped:
            return None
        if self._nominated.ahead(attempt.pod, attempt.rows):
            return None
        answers.write(attempt.state)
        attempt.state.skip_filter_plugins = answers.skips
        return unfit

    def unfit(self, attempt: Attempt, outcome: FitError) -> Unfit:
        """See `Filters.unfit`."""
        memo = self._signatures.of(attempt)
        if memo is None or not self._is_from_memos(attempt, memo, outcome):
            return Unfit(outcome)
        skipped = attempt.state.skip_filter_plugins
        revision = attempt.nodes.changes.revision
        unfit = memo.unfit
        if unfit is None:
            unfit = memo.unfit = Unfit(outcome, revision, skipped)
            self.has_unfit = True
            return unfit
        unfit.revision, unfit.skipped = revision, skipped
        if not _are_equal(unfit.outcome, outcome):
            unfit.outcome = outcome
        return unfit

    def kind_on_node(self, attempt: Attempt) -> KindOnNode | None:
        """See `Filters.kind_on_node`."""
        memo = self._signatures.of(attempt)
        if memo is None:
            return None
        answers = self._complete_answers(memo)
        if answers is not None:
            skipped = answers.skips
        else:
            outcome = self.prepare(attempt)
            if outcome.status is not None or outcome.node_names is not None:
                return None
            skipped = attempt.state.skip_filter_plugins
            answers = self._complete_answers(memo)
        plan = memo.filters or self._new_plan(memo)
        if plan is None or not plan.remembers_all(skipped):
            return None
        data = None if answers is None else self._signatures.data()
        return KindOnNode(memo, data)

    def _is_from_memos(
        self, attempt: Attempt, memo: SignatureMemo, outcome: FitError
    ) -> bool:
        """Whether an equal attempt on the same nodes ends the same way."""
        answers, plan = self._complete_answers(memo), memo.filters
        skipped = attempt.state.skip_filter_plugins
        return (
            answers is not None
            and plan is not None
            and outcome.diagnosis is not None
            and outcome.diagnosis.is_filtered
            and answers.skips == skipped
            and plan.revision == attempt.nodes.changes.revision
            and plan.remembers_all(skipped)
            and not self._nominated.ahead(attempt.pod, attempt.rows)
        )

    def _complete_answers(self, memo: SignatureMemo) -> RecordedAnswers | None:
        """Return the recorded answers of PreFilter, if no plugin has to be called."""
        skips, answers = self._signatures.skips, memo.pre_filter
        if skips is not None and skips.pre_filter is not None:
            answers = skips.pre_filter
        return None if answers is None or answers.calls else answers

    def prepare(self, attempt: Attempt) -> PreFilterOutcome:
        """See `Filters.prepare`."""
        memo, pre_filter = self._signatures.of(attempt), self._station.pre_filter
        if memo is None:
            return pre_filter.run(attempt)
        answers = memo.pre_filter
        if answers is not None:
            return self._prepare_cached(attempt, answers)
        recorder = AnswerRecorder(attempt.state, memo.plugins, memo.skipping)
        outcome = pre_filter.run_some(attempt, pre_filter.calls, _NONE, recorder.record)
        memo.pre_filter = recorder.recorded(pre_filter.calls)
        return outcome

    def _prepare_cached(
        self, attempt: Attempt, answers: RecordedAnswers
    ) -> PreFilterOutcome:
        """Replay the recorded answers, and call the plugins that are not cached."""
        state, pre_filter = attempt.state, self._station.pre_filter
        skips, recorder = self._signatures.skips, None
        if skips is not None:
            if skips.pre_filter is not None:
                answers = skips.pre_filter
                # Nearly every pod ends here, without the two calls below.
                if not answers.calls:
                    answers.write(state)
                    state.skip_filter_plugins = answers.skips
                    return ALL_NODES
            elif skips.cacheable:
                recorder = AnswerRecorder(state, _NONE, skips.cacheable)
        answers.write(state)
        record = None if recorder is None else recorder.record
        outcome = pre_filter.run_some(attempt, answers.calls, answers.skips, record)
        if outcome.ended_by:
            state.skip_filter_plugins -= answers.take_back(state, outcome.ended_by)
        elif skips is not None and recorder is not None:
            skips.pre_filter = answers.with_more(recorder)
        return outcome

    def passing(self, attempt: Attempt, rows: Rows) -> Rows | Status:
        """See `Filters.passing`."""
        memo = self._signatures.of(attempt)
        plan = memo and (memo.filters or self._new_plan(memo))
        # Identity: "all rows" is always the table's own object. A memo covers all rows,
        # so an attempt that looks at some of them calls the filters directly. A pod of
        # a DaemonSet looks at one node, and no two of them have the same signature. The
        # pods of a group look at one placement after the other, in the end at all rows.
        is_whole = rows is attempt.rows
        is_usual = is_whole or rows is attempt.placement  # Identity: as above
        if not plan or attempt.is_sampled or not is_usual:
            return self._plain.passing(attempt, rows)
        ahead = self._nominated.ahead(attempt.pod, rows)
        if not ahead:
            return plan.run(attempt, rows)
        if not is_whole:
            return self._plain.passing(attempt, rows)
        passing = self._passing_cached(plan, attempt, ahead)
        if passing is not None:
            return passing
        left = self._plain.passing_with_nominated(attempt, rows, ahead)
        return left if isinstance(left, Status) else plan.run(attempt, left)

    def _passing_cached(
        self, plan: FilterPlan, attempt: Attempt, ahead: Ahead
    ) -> Rows | Status | None:
        """Filter all rows from memos alone; some rows have nominated pods.

        Returns:
            The rows, or an Error; None if some filter is not cached. Then the diagnosis
            is unchanged.
        """
        nodes = attempt.nodes
        if not plan.remembers_all(attempt.state.skip_filter_plugins):
            return None
        if any(memo.refresh(attempt) is not None for memo in plan.memos):
            return None
        judge = partial(self._judge_ahead, attempt)
        rejections = plan.nominated.rejections(nodes, ahead, judge)
        if isinstance(rejections, Status):
            return rejections
        passed = plan.run(attempt, nodes.rows)
        if isinstance(passed, Status) or not len(rejections):
            return passed
        attempt.diagnosis.override(rejections)
        return plan.nominated.without(nodes, passed, rejections)

    def _judge_ahead(
        self, attempt: Attempt, ahead: Ahead
    ) -> Mapping[int, Status] | Status:
        """Judge rows with their nominated pods; return the rejected rows."""
        nodes, station = attempt.nodes, self._station
        if len(ahead) > _FEW_NOMINATED:
            apart = attempt.with_own_diagnosis()
            passed = station.run_with_pods_on_rows(apart, ahead, self._nominated)
            if isinstance(passed, Status):
                return passed
            gone = ahead.keys() - set(passed.tolist())
            infos = nodes.infos_at(np.array(list(gone), dtype=np.intp))
            return {info.row: apart.diagnosis[info.name] for info in infos}
        rejected: dict[int, Status] = {}
        for row, others in ahead.items():
            info = nodes.infos[row]
            assert info is not None, "only nodes have nominated pods"
            status = station.run_with_pods(attempt.state, attempt.pod, info, others)
            if status is None:
                continue
            if not status.is_rejected:
                return status
            rejected[row] = status
        return rejected

    def _new_plan(self, memo: SignatureMemo) -> FilterPlan | None:
        answers = memo.pre_filter
        if answers is not None:
            calls = [
                call for call in self._station.calls if call.plugin not in answers.skips
            ]
            signatures = self._signatures
            memo_of = partial(signatures.shared.filter_memo, signatures.fragments(memo))
            memo.filters = FilterPlan(calls, memo.plugins, memo_of)
        return memo.filters


def _are_equal(outcome: FitError, other: FitError) -> bool:
    """Whether two attempts have rejected the same nodes with the same verdicts."""
    diagnosis, others = outcome.diagnosis, other.diagnosis
    if diagnosis is None or others is None:
        return False
    return diagnosis.is_equal_to(others)
