"""The order of decisions, as far as the queue determines it.

Bindings are written concurrently, so a record shows them in another order than that of
the decisions. But a scheduler pops one pod after the other. So of two pods at their
first attempt, the pod that arrived first and sorts no later was decided first.
"""

from collections import deque
from collections.abc import Iterable, Sequence
from operator import attrgetter
from typing import Any, Final

from quaymaster._studies.recording.nearness import may_be_after
from quaymaster._studies.recording.survey import Outcome

__all__ = ["precedes", "put_in_order"]

_MOST: Final = 256  # decisions that may be seen before an earlier one


def precedes(outcome: Outcome, other: Outcome) -> bool:
    """Whether a decision was certainly made before another one."""
    first: Any = outcome.place
    second: Any = other.place
    return (
        first is not None
        and second is not None
        and outcome.scheduler == other.scheduler
        and outcome.since < other.since
        and bool(first <= second)
    )


def put_in_order(outcomes: Sequence[Outcome]) -> dict[int, list[Outcome]]:
    """Determine when each decision was made, from when it was seen.

    If two decisions belong to the same moment, a decision that was certainly made
    before the other one is put before it.

    Args:
        outcomes: The decisions, in the order in which they were seen. Their `decided`
            is moved forward where necessary, and their `rank` is set.

    Returns:
        Number of an entry -> the decisions that were made before it, in order.
    """
    ordered = sorted(outcomes, key=attrgetter("decided"))
    before: deque[Outcome] = deque(maxlen=_MOST)
    decided: dict[int, int] = {}
    for outcome in ordered:
        while before and not may_be_after(before[0], outcome):
            before.popleft()
        later = (earlier for earlier in before if precedes(outcome, earlier))
        decided[id(outcome)] = min(
            [outcome.decided, *(earlier.decided for earlier in later)]
        )
        before.append(outcome)
    for outcome in ordered:
        outcome.decided = decided[id(outcome)]
    return _by_entry(ordered)


def _arrival(outcome: Outcome) -> int:
    return outcome.seen if outcome.place is None else outcome.since


def _by_entry(outcomes: Iterable[Outcome]) -> dict[int, list[Outcome]]:
    by_entry: dict[int, list[Outcome]] = {}
    for outcome in outcomes:
        by_entry.setdefault(outcome.decided, []).append(outcome)
    for together in by_entry.values():
        # The order of arrival follows that of the queue, if the record has it.
        together.sort(key=_arrival)
    ranked = (outcome for number in sorted(by_entry) for outcome in by_entry[number])
    for rank, outcome in enumerate(ranked):
        outcome.rank = rank
    return by_entry
