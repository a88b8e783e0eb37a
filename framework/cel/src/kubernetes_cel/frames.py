"""What nodes are made: functions of a frame.

A frame is a list that holds what the evaluation has cost, the values of the declared
variables, and those of loops and bindings, each in a place that is known beforehand.
"""

from collections.abc import Callable
from typing import Final

from kubernetes_cel.errors import CelEndError, CelEvaluationError
from kubernetes_cel.values import Value

__all__ = ["COST", "FIRST", "Constant", "Evaluate", "Frame", "Run", "Unbound", "tried"]

Frame = list[Value]
Evaluate = Callable[[Frame], Value]
"""A node as a function of a frame; raises `CelEvaluationError`."""
Run = Callable[..., Value]
"""A program as a function of the values of the declared variables, in order."""

COST: Final = 0
"""Where a frame holds what the evaluation has cost."""
FIRST: Final = 1
"""Where a frame holds the first variable."""


class Constant:
    """A node whose value is known when the program is made."""

    __slots__ = ("value",)

    def __init__(self, value: Value) -> None:
        self.value = value

    def __call__(self, _frame: Frame) -> Value:
        """Return the value."""
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
