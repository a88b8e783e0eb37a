"""The order of decisions, as far as the queue fixes it.

Bindings are written side by side, so a record shows them in another order than that of
the decisions. But a scheduler takes one pod after the other from its queue: of two pods
that it tries for the first time, the one that came first and stands no further behind
was decided about first.
"""

from collections import deque
from collections.abc import Iterable, Sequence
from operator import attrgetter
from typing import Any, Final

from quaymaster._studies.recording.nearness import may_be_after
from quaymaster._studies.recording.survey import Outcome

__all__ = ["precedes", "put_in_order"]

_MOST: Final = 256  # decisions that may be seen before an earlier one


def precedes(one: Outcome, other: Outcome) -> bool:
    """Whether one decision was surely made before another one."""
    first: Any = one.place
    second: Any = other.place
    return (
        first is not None
        and second is not None
        and one.scheduler == other.scheduler
        and one.since < other.since
        and bool(first <= second)
    )


def put_in_order(outcomes: Sequence[Outcome]) -> dict[int, list[Outcome]]:
    """Say when each decision was made, from when it was seen.

    A decision that surely was made before another one is put before it, if both are of
    the same moment.

    Args:
        outcomes: The decisions, in the order in which they were seen. Their `decided`
            is brought forward where it has to be, and their `rank` is set.

    Returns:
        Number of an entry -> the decisions that were made before it, in order.
    """
    ordered = sorted(outcomes, key=attrgetter("decided"))
    before: deque[Outcome] = deque(maxlen=_MOST)
    decided: dict[int, int] = {}
    for outcome in ordered:
        while before and not may_be_after(before[0], outcome):
            before.popleft()
        later = (one for one in before if precedes(outcome, one))
        decided[id(outcome)] = min([outcome.decided, *(one.decided for one in later)])
        before.append(outcome)
    for outcome in ordered:
        outcome.decided = decided[id(outcome)]
    return _by_entry(ordered)


def _by_entry(outcomes: Iterable[Outcome]) -> dict[int, list[Outcome]]:
    found: dict[int, list[Outcome]] = {}
    for outcome in outcomes:
        found.setdefault(outcome.decided, []).append(outcome)
    for together in found.values():
        # The order of arrival follows that of the queue, if the record has it.
        together.sort(key=lambda one: one.seen if one.place is None else one.since)
    ranked = (one for number in sorted(found) for one in found[number])
    for rank, outcome in enumerate(ranked):
        outcome.rank = rank
    return found
