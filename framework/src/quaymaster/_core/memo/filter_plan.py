"""A profile's filters for one signature: each is cached, or called for every pod."""

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
"""Returns the memo of neighbouring filters; signatures may share it."""


class FilterPlan:
    """The filters of a profile for one signature, without those that skip its pods.

    Args:
        calls: The filters, in profile order.
        remembered: The plugins whose verdicts may be cached.
        memo_of: Returns the memo of some filters.

    Attributes:
        memos: The memos, in profile order.
        passing: The rows that passed last, if only memos rejected rows; else None.
        nominated: The cached verdicts on nodes with nominated pods.
        revision: The revision of the node table when all memos were up to date last.
    """

    __slots__ = (
        "_asked_with",
        "_has_all",
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
        self._asked_with: frozenset[str] | None = None
        self._has_all = False
        self._skipped: frozenset[str] | None = None
        self._unskipped = self._steps
        self.passing: Rows | None = None
        self.nominated = NominatedMemo()
        self.revision = -1

    def remembers_all(self, skipped: frozenset[str]) -> bool:
        """Return whether each filter is cached, or skips the pod."""
        # Identity: pods of a template have the same object of cached Skips.
        if skipped is self._asked_with:
            return self._has_all
        has_all = all(
            isinstance(step, FilterMemo) or step.plugin in skipped
            for step in self._steps
        )
        # A plugin may have assigned a mutable set, which could change later.
        if type(skipped) is frozenset:
            self._asked_with, self._has_all = skipped, has_all
        return has_all

    def run(self, attempt: Attempt, rows: Rows) -> Rows | Status:
        """Filter as `FilterStation.run_on_rows` does; call only uncached filters.

        Args:
            attempt: The attempt.
            rows: The rows to judge. A memo is refreshed for all rows, so this pays
                only if they are most of them.
        """
        nodes, skipped = attempt.nodes, attempt.state.skip_filter_plugins
        # Identity: as long as `rows` is the object that a memo returned, only memos
        # have rejected rows. `RememberedScores` caches the best of exactly these rows.
        remembered = rows if rows is attempt.rows else None
        revision = nodes.changes.revision
        # Identity first: pods of a template have the same object of cached Skips.
        if skipped is not self._skipped and skipped != self._skipped:
            self._unskipped = self._left_by(skipped)
            # A plugin may have assigned a mutable set, which could change later.
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
        # Only here: after an early return some memos may not have been refreshed.
        self.revision = revision
        return rows

    def _left_by(self, skipped: frozenset[str]) -> list[FilterCall | FilterMemo]:
        """Return the steps without the plugins that skip the pod."""
        return [
            step
            for step in self._steps
            if isinstance(step, FilterMemo) or step.plugin not in skipped
        ]


def _steps(
    calls: Iterable[FilterCall], remembered: frozenset[str], memo_of: MemoOf
) -> Iterator[FilterCall | FilterMemo]:
    """Group neighbouring cached filters, because a group shares one array of codes."""
    kinds = itertools.groupby(
        calls, lambda call: (call.plugin in remembered, call.pod_use is PodUse.NONE)
    )
    for (is_remembered, _), group in kinds:
        if is_remembered:
            yield memo_of(tuple(group))
        else:
            yield from map(_RepeatedCall, group)


class _RepeatedCall(FilterCall):
    """A filter that is called for every pod, and may return the same array again."""

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
        # Identity: a frozen array about the same rows has the same content. The vector
        # hooks of InterPodAffinity and PodTopologySpread return one array until a
        # verdict changes. Counting and selecting in it takes 18 us for 5,000 nodes.
        if codes is self._codes and rows is self._rows:
            return self._split_before
        split = super()._split(rows, verdicts)
        if is_frozen(codes):
            self._codes, self._rows, self._split_before = codes, rows, split
        return split
