"""What nodes are made: functions of a frame.

A frame is a list that holds the device, what the evaluation has cost, and the variables
of loops and bindings, each in a place that is known beforehand.
"""

from collections.abc import Callable
from typing import Final

from quaymaster._api.cel.errors import CelEndError, CelEvaluationError
from quaymaster._api.cel.values import Value

__all__ = ["COST", "FIRST", "Constant", "Evaluate", "Frame", "Unbound", "tried"]

Frame = list[Value]
Evaluate = Callable[[Frame], Value]
"""A node as a function of a frame; raises `CelEvaluationError`."""

COST: Final = 1
"""Where a frame holds what the evaluation has cost; the device is before it."""
FIRST: Final = 2
"""Where a frame holds the first variable."""


class Constant:
    """A node whose value is known when the program is made."""

    __slots__ = ("value",)

    def __init__(self, value: Value) -> None:
        self.value = value

    def __call__(self, _frame: Frame) -> Value:
        return self.value


class Unbound:
    """A variable that has not been asked for yet."""

    __slots__ = ("_start",)

    def __init__(self, start: Evaluate) -> None:
        self._start = start

    def bind(self, frame: Frame, place: int) -> Value:
        """Evaluate what is bound, once."""
        value = frame[place] = tried(self._start, frame)
        return value


def tried(evaluate: Evaluate, frame: Frame) -> Value:
    """Evaluate a node; return its value or its error."""
    try:
        return evaluate(frame)
    except CelEndError:
        raise
    except CelEvaluationError as error:
        return error
