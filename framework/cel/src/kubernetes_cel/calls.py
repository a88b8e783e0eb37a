"""Calls of functions as nodes."""

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
"""Functions of the language whose overloads are called in one way."""
_PANICKING: Final = frozenset({"distinct", "sort", "@sortByAssociatedKeys", "flatten"})
"""Functions whose cost upstream cannot count if an argument is an error."""
_UNLIMITED: Final = Meter(MAX_UINT, call_cost)


def make_call(
    function: str,
    overloads: Sequence[Overload],
    made: Sequence[Evaluate],
    meter: Meter | None,
) -> Evaluate:
    """Make a call of a function a node.

    Args:
        function: What is called.
        overloads: What the call may be of.
        made: The arguments, that of the target first.
        meter: What counts the cost; None if it is not counted.
    """
    if meter is None and function in _PANICKING:
        meter = _UNLIMITED
    if meter is not None:
        return _metered(function, overloads, made, meter)
    find_overload = dispatcher(overloads, len(made))
    if len(made) == 2:
        return _binary(function, find_overload, *made)
    if len(made) == 1:
        [argument] = made

        def unary(frame: Frame) -> Value:
            value = argument(frame)
            return find_overload((value,)).implementation(value)

        return unary

    def call(frame: Frame) -> Value:
        values = tuple([each(frame) for each in made])
        return find_overload(values).implementation(*values)

    return call


def _metered(
    function: str,
    overloads: Sequence[Overload],
    made: Sequence[Evaluate],
    meter: Meter,
) -> Evaluate:
    find_overload = dispatcher(overloads, len(made))
    known: Overload | str = overloads[0] if len(overloads) == 1 else function
    if _stops_at_errors(function, overloads, made):
        return _metered_in_order(known, find_overload, made, meter)

    def call(frame: Frame) -> Value:
        values = tuple([tried(each, frame) for each in made])
        result: Value = next(
            (each for each in values if isinstance(each, CelEvaluationError)), None
        )
        if result is None:
            try:
                result = find_overload(values).implementation(*values)
            except CelEvaluationError as error:
                result = error
        meter.pay(frame, meter.call_cost(known, values, result))
        if isinstance(result, CelEvaluationError):
            raise result
        return result

    return call


def _stops_at_errors(
    function: str, overloads: Sequence[Overload], made: Sequence[Evaluate]
) -> bool:
    """Whether arguments after one that is an error are not looked at.

    Then the call costs nothing. So it is with more than two arguments, with functions
    of libraries of which several overloads may be meant, and with known patterns.
    """
    if len(made) > 2:
        return True
    at = PATTERN_ARGUMENTS.get(function)
    if at is not None:
        return isinstance(made[at], Constant) or len(overloads) > 1
    return len(overloads) > 1 and function not in _ALIKE and function[0] not in "_-@!"


def _metered_in_order(
    known: Overload | str,
    find_overload: Callable[[tuple[Value, ...]], Overload],
    made: Sequence[Evaluate],
    meter: Meter,
) -> Evaluate:
    def call(frame: Frame) -> Value:
        values: list[Value] = []
        for each in made:
            value = tried(each, frame)
            values.append(value)
            if isinstance(value, CelEvaluationError):
                if len(values) == len(made):
                    meter.pay(frame, meter.call_cost(known, values, value))
                raise value
        try:
            result = find_overload(tuple(values)).implementation(*values)
        except CelEvaluationError as error:
            result = error
        meter.pay(frame, meter.call_cost(known, values, result))
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


def _same_string(constant: Value, wanted: bool, left: Evaluate) -> Evaluate | None:
    """Compare with a string that is written down, which is done often."""
    if type(constant) is not str:
        return None

    def same(frame: Frame) -> Value:
        value = left(frame)
        if type(value) is str:
            return (value == constant) is wanted
        if wanted:
            return equal(value, constant)
        try:
            return not equal(value, constant)
        except CelEvaluationError:
            return True

    return same
