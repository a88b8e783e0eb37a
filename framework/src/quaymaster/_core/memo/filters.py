"""PreFilter and Filter with a memo."""

from collections.abc import Mapping
from functools import partial
from typing import Final

import numpy as np

from quaymaster._core.contract.status import Status
from quaymaster._core.cycle.attempt import Attempt
from quaymaster._core.cycle.filtering import FilterStation, PlainFilters
from quaymaster._core.cycle.nominated import Ahead, NominatedPods
from quaymaster._core.cycle.pre_filter import ALL_NODES, PreFilterOutcome
from quaymaster._core.memo.filter_plan import FilterPlan
from quaymaster._core.memo.recorded_answers import AnswerRecorder, RecordedAnswers
from quaymaster._core.memo.signatures import SignatureMemo, Signatures
from quaymaster._core.state.arrays import Rows

__all__ = ["RememberedFilters"]

_NONE: Final[frozenset[str]] = frozenset()

# Up to this many rows are judged one by one with the pods that are nominated there.
# That takes 0.2 of the time of an imagined table for one row, 1.0 for 12, 2.2 for 96.
_FEW_NOMINATED: Final = 12


class RememberedFilters:
    """Finds the same nodes as `PlainFilters`, with a memo; implements `Filters`.

    Args:
        station: The plain station, asked about what is not known.
        nominated: The pods to leave room for.
        signatures: What is known of pods.
    """

    def __init__(
        self, station: FilterStation, nominated: NominatedPods, signatures: Signatures
    ) -> None:
        self._station = station
        self._nominated = nominated
        self._plain = PlainFilters(station, nominated)
        self._signatures = signatures

    def prepare(self, attempt: Attempt) -> PreFilterOutcome:
        """See `Filters.prepare`."""
        memo, pre_filter = self._signatures.of(attempt), self._station.pre_filter
        if memo is None:
            return pre_filter.run(attempt)
        known = memo.pre_filter
        if known is not None:
            return self._prepare_known(attempt, known)
        recorder = AnswerRecorder(attempt.state, memo.plugins, memo.skipping)
        outcome = pre_filter.run_some(attempt, pre_filter.calls, _NONE, recorder.heard)
        memo.pre_filter = recorder.recorded(pre_filter.calls)
        return outcome

    def _prepare_known(
        self, attempt: Attempt, known: RecordedAnswers
    ) -> PreFilterOutcome:
        """Give the recorded answers, and ask who has to be asked each time."""
        state, pre_filter = attempt.state, self._station.pre_filter
        skips, recorder = self._signatures.skips, None
        if skips is not None:
            if skips.pre_filter is not None:
                known = skips.pre_filter
                if not known.calls:  # nearly always: so it saves two calls
                    known.write(state)
                    state.skip_filter_plugins = known.skips
                    return ALL_NODES
            elif skips.listened:
                recorder = AnswerRecorder(state, _NONE, skips.listened)
        known.write(state)
        heard = None if recorder is None else recorder.heard
        outcome = pre_filter.run_some(attempt, known.calls, known.skips, heard)
        if outcome.ended_by:
            state.skip_filter_plugins -= known.take_back(state, outcome.ended_by)
        elif skips is not None and recorder is not None:
            skips.pre_filter = known.with_more(recorder)
        return outcome

    def passing(self, attempt: Attempt, rows: Rows) -> Rows | Status:
        """See `Filters.passing`."""
        memo = self._signatures.of(attempt)
        plan = memo and (memo.filters or self._new_plan(memo))
        # Identity: all rows come as the table's own slice. A memo is about all of them:
        # who looks at some asks about these alone. A DaemonSet's pods look at one node
        # each, and no two have the same signature.
        if not plan or attempt.is_sampled or rows is not attempt.rows:
            return self._plain.passing(attempt, rows)
        ahead = self._nominated.ahead(attempt.pod, rows)
        if not ahead:
            return plan.run(attempt, rows)
        found = self._passing_remembered(plan, attempt, ahead)
        if found is not None:
            return found
        left = self._plain.passing_with_nominated(attempt, rows, ahead)
        return left if isinstance(left, Status) else plan.run(attempt, left)

    def _passing_remembered(
        self, plan: FilterPlan, attempt: Attempt, ahead: Ahead
    ) -> Rows | Status | None:
        """Filter all rows, of which some have nominated pods, from memos alone.

        Returns:
            The rows, or an Error; None, and nothing is noted, if not everything that
            decides is remembered.
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
        """Judge rows with their nominated pods; return the rejected ones."""
        nodes, station = attempt.nodes, self._station
        if len(ahead) > _FEW_NOMINATED:
            apart = attempt.with_own_diagnosis()
            passed = station.run_with_pods_on_rows(apart, ahead, self._nominated)
            if isinstance(passed, Status):
                return passed
            gone = ahead.keys() - set(passed.tolist())
            infos = nodes.infos_at(np.array(list(gone), dtype=np.intp))
            return {info.row: apart.diagnosis[info.name] for info in infos}
        found: dict[int, Status] = {}
        for row, others in ahead.items():
            info = nodes.infos[row]
            assert info is not None, "only nodes have nominated pods"
            status = station.run_with_pods(attempt.state, attempt.pod, info, others)
            if status is None:
                continue
            if not status.is_rejected:
                return status
            found[row] = status
        return found

    def _new_plan(self, memo: SignatureMemo) -> FilterPlan | None:
        known = memo.pre_filter
        if known is not None:
            calls = [
                call for call in self._station.calls if call.plugin not in known.skips
            ]
            signatures = self._signatures
            memo_of = partial(signatures.shared.filter_memo, signatures.fragments(memo))
            memo.filters = FilterPlan(calls, memo.plugins, memo_of)
        return memo.filters
