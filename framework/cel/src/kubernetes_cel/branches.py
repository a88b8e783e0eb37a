"""Compiles operators that do not evaluate all their operands.

Mirrors ``evalAnd``, ``evalOr`` and ``evalExhaustiveConditional`` of
``interpreter/interpretable.go`` (cel-go v0.26.0), and ``or`` and ``orValue`` of
optional values.
"""

from kubernetes_cel.errors import CelEndError, CelEvaluationError
from kubernetes_cel.frames import Evaluate, Frame, tried
from kubernetes_cel.lookups import Convert, begun
from kubernetes_cel.values import Optional, Value, no_such_overload

__all__ = ["alternative", "condition", "logic"]


def logic(left: Evaluate, right: Evaluate, *, neutral: bool) -> Evaluate:
    """Compile ``&&`` or ``||``: an error counts only if the other side decides nothing.

    Args:
        left: The first operand.
        right: The second operand.
        neutral: The value that leaves the decision to the other operand.
    """
    decisive = not neutral

    def evaluate(frame: Frame) -> Value:
        pending: CelEvaluationError | None = None
        # Both operators are commutative in CEL: an error on the left is forgotten if
        # the right side decides.
        try:
            value = left(frame)
            # Identity: 1 equals True, but is not true.
            if value is decisive:
                return decisive
            if value is not neutral:
                pending = no_such_overload()
        # An exceeded cost limit must end the evaluation, or ``||`` would make it look
        # like a value.
        except CelEndError:
            raise
        except CelEvaluationError as error:
            pending = error
        # Only after an error are errors of the right side caught: otherwise they are
        # the result.
        value = right(frame) if pending is None else tried(right, frame)
        # Identity: as above.
        if value is decisive:
            return decisive
        if pending is not None:
            raise pending
        if value is not neutral:
            raise no_such_overload()
        return neutral

    return evaluate


def condition(
    test: Evaluate, then: Evaluate, other: Evaluate, convert: Convert
) -> Evaluate:
    """Compile ``test ? then : other``."""

    def evaluate(frame: Frame) -> Value:
        value = test(frame)
        if value is True:
            return begun(then(frame), convert)
        if value is False:
            return begun(other(frame), convert)
        raise no_such_overload()

    return evaluate


def alternative(first: Evaluate, second: Evaluate, *, takes_value: bool) -> Evaluate:
    """Compile ``first.or(second)``; with ``takes_value`` ``first.orValue(second)``."""

    def evaluate(frame: Frame) -> Value:
        value = first(frame)
        if type(value) is not Optional:
            return value
        # The second operand is evaluated only now, so an error in it does not matter if
        # the first has a value.
        if value.present:
            return _valid(value.value) if takes_value else value
        return second(frame)

    return evaluate


def _valid(value: Value) -> Value:
    """Return the value of an optional value, or raise it if it is an error."""
    if isinstance(value, CelEvaluationError):
        raise value
    return value
