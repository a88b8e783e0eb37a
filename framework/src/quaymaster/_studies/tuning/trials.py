"""What came of a configuration that was tried."""

import enum
from collections.abc import Mapping, Sequence

import attrs

__all__ = ["Trial", "TrialOutcome"]


class TrialOutcome(enum.Enum):
    """How a trial has ended."""

    COMPLETE = "complete"
    PRUNED = "pruned"
    FAILED = "failed"


@attrs.frozen(kw_only=True)
class Trial:
    """A configuration that was tried.

    Attributes:
        number: Which one it was, from 0.
        fields: Searched field by its name -> value.
        outcome: Whether all runs were made, it was given up early, or it failed.
        runs: How many of its runs count.
        values: The mean of each objective; empty unless it is complete.
        cause: Why it failed.
    """

    number: int
    fields: Mapping[str, object]
    outcome: TrialOutcome
    runs: int = 0
    values: Sequence[float] = ()
    cause: str = ""
