"""A profile's filters for one signature: each is remembered, or asked every time."""

import itertools
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TypeAlias

from quaymaster._core.contract.declarations import PodUse
from quaymaster._core.contract.results import NodeVerdicts
from quaymaster._core.contract.status import Status
from quaymaster._core.cycle.attempt import Attempt
from quaymaster._core.cycle.diagnosis import PluginRejections
from quaymaster._core.cycle.filter_call import FilterCall
from quaymaster._core.memo.filter_memo import FilterMemo
from quaymaster._core.memo.nominated_memo import NominatedMemo
from quaymaster._core.state.arrays import Rows, is_frozen

__all__ = ["FilterPlan"]

MemoOf: TypeAlias = Callable[[Sequence[FilterCall]], FilterMemo]
"""Gives the memo of neighbouring filters: one of their own, or one that is shared."""


class FilterPlan:
    """The filters of a profile for one signature, without those that skip its pods.

    Args:
        calls: The filters, in profile order.
        remembered: The plugins whose verdicts may be remembered.
        memo_of: Gives the memo of some filters.

    Attributes:
        memos: What is remembered, in profile order.
        passing: The rows that passed last, if they were all that what is remembered
            lets pass; else None.
        nominated: What was said of nodes with nominated pods.
        revision: That of all changes, when all that is remembered was up to date last.
    """

    __slots__ = (
        "_skipped",
        "_steps",
        "_unskipped",
        "memos",
        "nominated",
        "passing",
        "revision",
    )

    def __init__(
        self, calls: Iterable[FilterCall], remembered: frozenset[str], memo_of: MemoOf
    ) -> None:
        self._steps = list(_steps(calls, remembered, memo_of))
        self.memos = [step for step in self._steps if isinstance(step, FilterMemo)]
        self._skipped: frozenset[str] | None = None
        self._unskipped = self._steps
        self.passing: Rows | None = None
        self.nominated = NominatedMemo()
        self.revision = -1

    def remembers_all(self, skipped: frozenset[str]) -> bool:
        """Return whether each filter is remembered, or skips the pod."""
        return all(
            isinstance(step, FilterMemo) or step.plugin in skipped
            for step in self._steps
        )

    def run(self, attempt: Attempt, rows: Rows) -> Rows | Status:
        """Filter as `FilterStation.run_on_rows` does; ask only what is not remembered.

        Args:
            attempt: The attempt.
            rows: The rows to judge; most rows, or it is not worth it.
        """
        nodes, skipped = attempt.nodes, attempt.state.skip_filter_plugins
        # Identity: rows are all that memos let pass as long as they are the object that
        # a memo gave. Scores of just these are remembered; see `RememberedScores`.
        remembered = rows if rows is attempt.rows else None
        revision = nodes.changes.revision
        # Identity: what is known of Skips is the same object from pod to pod.
        if skipped is not self._skipped:
            self._unskipped = self._left_by(skipped)
            # A plugin may have left anything there, which may change later.
            self._skipped = skipped if type(skipped) is frozenset else None
        for step in self._unskipped:
            calls: Sequence[FilterCall]
            if isinstance(step, FilterMemo):
                if step.refresh(attempt) is None:
                    if not step.rejected:
                        continue
                    passing = step.narrow(attempt, rows)
                    if remembered is rows:  # Identity: as above
                        remembered = passing
                    rows = passing
                    continue
                revision = -1
                calls = step.calls
            else:
                calls = (step,)
            for call in calls:
                if nodes.count(rows) == 0:
                    return rows
                passed = call.judge_rows(attempt, rows)
                if isinstance(passed, Status):
                    return passed
                rows = passed
        self.passing = rows if rows is remembered else None  # Identity: as above
        self.revision = revision  # here, where no step was left out
        return rows

    def _left_by(self, skipped: frozenset[str]) -> list[FilterCall | FilterMemo]:
        """Return the steps for a pod that some plugins skip."""
        return [
            step
            for step in self._steps
            if isinstance(step, FilterMemo) or step.plugin not in skipped
        ]


def _steps(
    calls: Iterable[FilterCall], remembered: frozenset[str], memo_of: MemoOf
) -> Iterator[FilterCall | FilterMemo]:
    """Group neighbouring filters that are remembered: they share an array of codes."""
    kinds = itertools.groupby(
        calls, lambda call: (call.plugin in remembered, call.pod_use is PodUse.NONE)
    )
    for (is_remembered, _), group in kinds:
        if is_remembered:
            yield memo_of(tuple(group))
        else:
            yield from map(_RepeatedCall, group)


class _RepeatedCall(FilterCall):
    """A filter that is asked every time, and may return the same array again."""

    __slots__ = ("_codes", "_rows", "_split_before")

    def __init__(self, call: FilterCall) -> None:
        super().__init__(call.call, call.imagines)
        self._codes: object = None
        self._rows: object = None
        self._split_before: tuple[Rows, PluginRejections | None]

    def _split(
        self, rows: Rows, verdicts: NodeVerdicts
    ) -> tuple[Rows, PluginRejections | None]:
        codes = verdicts.codes
        # Identity: the same array, which cannot be written to, about the same rows.
        # InterPodAffinity's and PodTopologySpread's twins give it until a verdict
        # changes. To count and pick out of it takes 18 us for 5,000 nodes.
        if codes is self._codes and rows is self._rows:
            return self._split_before
        found = super()._split(rows, verdicts)
        if is_frozen(codes):
            self._codes, self._rows, self._split_before = codes, rows, found
        return found
