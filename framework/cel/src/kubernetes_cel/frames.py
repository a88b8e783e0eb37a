"""Frames, and the functions of frames to which nodes are compiled.

A frame is a list with the cost of an evaluation so far, the values of the declared
variables, and those of loops and bindings. The compiler assigns an index to each.
"""

from collections.abc import Callable
from typing import Final

from kubernetes_cel.errors import CelEndError, CelEvaluationError
from kubernetes_cel.values import Value

__all__ = [
    "COST",
    "FIRST",
    "NO_FRAME",
    "Constant",
    "Evaluate",
    "Frame",
    "Run",
    "Unbound",
    "tried",
]

# A list instead of a class with names: an access by index is the cheapest that Python
# has.
Frame = list[Value]
Evaluate = Callable[[Frame], Value]
"""A node as a function of a frame; raises `CelEvaluationError`."""
Run = Callable[..., Value]
"""A program as a function of the values of the declared variables, in order."""

COST: Final = 0
"""The index of the cost so far."""
FIRST: Final = 1
"""The index of the first variable."""

NO_FRAME: Final[Frame] = []
"""For nodes that are constant: they read no frame."""


class Constant:
    """A node with a value that the compiler has computed."""

    __slots__ = ("value",)

    def __init__(self, value: Value) -> None:
        self.value = value

    def __call__(self, _frame: Frame) -> Value:
        """Return the value."""
        return self.value


class Unbound:
    """A bound variable that has not been evaluated yet."""

    __slots__ = ("_start",)

    def __init__(self, start: Evaluate) -> None:
        self._start = start

    def bind(self, frame: Frame, place: int) -> Value:
        """Evaluate the variable, and keep its value or error in the frame."""
        # Evaluated once, when it is first needed: an error of a binding that is not
        # used does not count.
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
