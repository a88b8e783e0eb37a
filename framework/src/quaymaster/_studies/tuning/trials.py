"""The result of trying a configuration."""

import enum
from collections.abc import Mapping, Sequence

import attrs

__all__ = ["Trial", "TrialOutcome"]


class TrialOutcome(enum.Enum):
    """The outcome of a trial."""

    COMPLETE = "complete"
    PRUNED = "pruned"
    FAILED = "failed"


@attrs.frozen(kw_only=True)
class Trial:
    """A tried configuration.

    Attributes:
        number: Its number, from 0.
        fields: Searched field by its name -> value.
        outcome: Whether all runs were made, it was stopped early, or it failed.
        runs: How many of its runs count.
        values: The mean of each objective; empty unless it is complete.
        cause: The cause of a failure.
    """

    number: int
    fields: Mapping[str, object]
    outcome: TrialOutcome
    runs: int = 0
    values: Sequence[float] = ()
    cause: str = ""
