"""Calls of functions, compiled to functions of a frame."""

from collections.abc import Callable, Sequence
from typing import Final

from kubernetes_cel.costs import call_cost
from kubernetes_cel.declarations import Overload
from kubernetes_cel.dispatch import dispatcher
from kubernetes_cel.equality import equal
from kubernetes_cel.errors import CelEvaluationError
from kubernetes_cel.frames import Constant, Evaluate, Frame, tried
from kubernetes_cel.libraries.conversions import CONVERSIONS
from kubernetes_cel.libraries.regexes import PATTERN_ARGUMENTS
from kubernetes_cel.metering import Meter
from kubernetes_cel.values import MAX_UINT, Value

__all__ = ["make_call"]

_ALIKE: Final = frozenset({*CONVERSIONS, "size", "contains", "startsWith", "endsWith"})
"""Functions of the language whose overloads are all called in the same way."""
_PANICKING: Final = frozenset({"distinct", "sort", "@sortByAssociatedKeys", "flatten"})
"""Functions whose cost upstream cannot count if an argument is an error."""
_UNLIMITED: Final = Meter(MAX_UINT, call_cost)


def make_call(
    function: str,
    overloads: Sequence[Overload],
    arguments: Sequence[Evaluate],
    meter: Meter | None,
) -> Evaluate:
    """Compile a call of a function.

    Args:
        function: The name of the function.
        overloads: The overloads that the call may be of.
        arguments: The compiled arguments, that of the target first.
        meter: The meter of costs; None if costs are not counted.
    """
    # Counting the cost is what panics upstream, so these calls are counted even without
    # a limit.
    if meter is None and function in _PANICKING:
        meter = _UNLIMITED
    if meter is not None:
        return _metered(function, overloads, arguments, meter)
    find_overload = dispatcher(overloads, len(arguments))
    # Most calls have one or two arguments, so these have functions without a loop.
    if len(arguments) == 2:
        return _binary(function, find_overload, *arguments)
    if len(arguments) == 1:
        [argument] = arguments

        def unary(frame: Frame) -> Value:
            value = argument(frame)
            return find_overload((value,)).implementation(value)

        return unary

    def call(frame: Frame) -> Value:
        values = tuple([each(frame) for each in arguments])
        return find_overload(values).implementation(*values)

    return call


def _metered(
    function: str,
    overloads: Sequence[Overload],
    arguments: Sequence[Evaluate],
    meter: Meter,
) -> Evaluate:
    find_overload = dispatcher(overloads, len(arguments))
    called: Overload | str = overloads[0] if len(overloads) == 1 else function
    if _stops_at_errors(function, overloads, arguments):
        return _metered_in_order(called, find_overload, arguments, meter)

    def call(frame: Frame) -> Value:
        # Both sides are evaluated even if the first is an error, and their cost counts
        # (``evalBinary``).
        values = tuple([tried(each, frame) for each in arguments])
        result: Value = next(
            (each for each in values if isinstance(each, CelEvaluationError)), None
        )
        if result is None:
            try:
                result = find_overload(values).implementation(*values)
            except CelEvaluationError as error:
                result = error
        # A failed call costs as much as a successful one.
        meter.pay(frame, meter.call_cost(called, values, result))
        if isinstance(result, CelEvaluationError):
            raise result
        return result

    return call


def _stops_at_errors(
    function: str, overloads: Sequence[Overload], arguments: Sequence[Evaluate]
) -> bool:
    """Return whether an error in an argument ends the call at once.

    Then later arguments are not evaluated, and the call costs nothing unless the last
    argument is the error. This is the case with more than two arguments, with functions
    of libraries that have several possible overloads, and with constant patterns.
    """
    if len(arguments) > 2:
        return True
    at = PATTERN_ARGUMENTS.get(function)
    if at is not None:
        return isinstance(arguments[at], Constant) or len(overloads) > 1
    # Operators have their overloads chosen in another way than functions of libraries.
    return len(overloads) > 1 and function not in _ALIKE and function[0] not in "_-@!"


def _metered_in_order(
    called: Overload | str,
    find_overload: Callable[[tuple[Value, ...]], Overload],
    arguments: Sequence[Evaluate],
    meter: Meter,
) -> Evaluate:
    def call(frame: Frame) -> Value:
        values: list[Value] = []
        for each in arguments:
            value = tried(each, frame)
            values.append(value)
            if isinstance(value, CelEvaluationError):
                if len(values) == len(arguments):
                    meter.pay(frame, meter.call_cost(called, values, value))
                raise value
        try:
            result = find_overload(tuple(values)).implementation(*values)
        except CelEvaluationError as error:
            result = error
        meter.pay(frame, meter.call_cost(called, values, result))
        if isinstance(result, CelEvaluationError):
            raise result
        return result

    return call


def _binary(
    function: str,
    find_overload: Callable[[tuple[Value, ...]], Overload],
    left: Evaluate,
    right: Evaluate,
) -> Evaluate:
    if function in ("_==_", "_!=_") and isinstance(right, Constant):
        same = _same_string(right.value, function == "_==_", left)
        if same is not None:
            return same

    def binary(frame: Frame) -> Value:
        values = (left(frame), right(frame))
        return find_overload(values).implementation(*values)

    return binary


def _same_string(constant: Value, is_equality: bool, left: Evaluate) -> Evaluate | None:
    """Compile a comparison with a literal string, or return None.

    Most selectors contain one, so it has a short cut without overloads.
    """
    if type(constant) is not str:
        return None

    def same(frame: Frame) -> Value:
        value = left(frame)
        if type(value) is str:
            return (value == constant) is is_equality
        if is_equality:
            return equal(value, constant)
        try:
            return not equal(value, constant)
        # Upstream's ``!=`` negates ``equal`` and takes an error for different.
        except CelEvaluationError:
            return True

    return same
