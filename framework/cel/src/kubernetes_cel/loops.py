"""The loops to which macros are expanded.

Mirrors ``evalFold`` of ``interpreter/interpretable.go`` (cel-go v0.26.0). Only macros
make loops, so there are five kinds: ``all``, ``exists``, counting, and collecting a
list or a map.
"""

from collections.abc import Callable, Iterable
from typing import Final

import attrs

from kubernetes_cel.conversions import go_type_name
from kubernetes_cel.errors import CelEndError, CelEvaluationError
from kubernetes_cel.frames import Constant, Evaluate, Frame
from kubernetes_cel.metering import LIST_COST
from kubernetes_cel.values import (
    MAP_TYPES,
    Value,
    from_key,
    no_such_overload,
    to_key,
)

__all__ = ["Step", "collect", "count", "quantify"]

Pay = Callable[[Frame, int], None]
"""Adds a cost to that of an evaluation."""


@attrs.frozen
class Step:
    """The parts of a loop.

    Attributes:
        over: The list or map.
        places: The indexes of the variables in the frame.
        test: The test that members must pass, or None.
        results: What the loop computes for each member: the predicate of ``all`` and
            ``exists``, the element of a list, or the key and value (or the map) that
            are added to a map.
        pay: Adds a cost if the program is metered, or None.
    """

    over: Evaluate
    places: tuple[int, ...]
    test: Evaluate | None
    results: tuple[Evaluate, ...]
    pay: Pay | None


def _members(value: Value, variables: int) -> Iterable[tuple[Value, ...]]:
    kind = type(value)
    if kind is list:
        # With two variables, a list yields its index and its element; a map yields key
        # and value.
        return enumerate(value) if variables == 2 else ((each,) for each in value)
    if kind in MAP_TYPES:
        if variables == 2:
            return ((from_key(key), each) for key, each in value.items())
        return ((from_key(key),) for key in value)
    raise CelEvaluationError(f"got '{go_type_name(value)}', expected iterable type")


def _each(step: Step, frame: Frame) -> Iterable[None]:
    """Write the members to their places in the frame, one after the other."""
    members = _members(step.over(frame), len(step.places))
    if len(step.places) == 1:
        [place] = step.places
        # The loop writes each member directly into the frame, without an assignment of
        # its own.
        for (frame[place],) in members:
            yield
    else:
        first, second = step.places
        for frame[first], frame[second] in members:
            yield


def quantify(step: Step, *, decisive: bool) -> Evaluate:
    """Compile ``all`` or ``exists``.

    Args:
        step: The loop; its result is the predicate.
        decisive: The value that ends the loop: False for ``all``, True for ``exists``.
    """
    if step.pay is not None:
        return _metered_quantity(step, step.pay, decisive=decisive)
    [predicate] = step.results

    def quantified(frame: Frame) -> Value:
        pending: CelEvaluationError | None = None
        for _ in _each(step, frame):
            try:
                if _passes(predicate, frame) == decisive:
                    return decisive
            except CelEvaluationError as error:
                # The first error counts, and only if no later member decides.
                pending = pending or error
        if pending is not None:
            raise pending
        return not decisive

    return quantified


def _metered_quantity(step: Step, pay: Pay, *, decisive: bool) -> Evaluate:
    [predicate] = step.results
    # The cost of ``@not_strictly_false``, and of the ``!`` that ``exists`` has beside
    # it.
    condition = 3 if decisive else 2

    def quantified(frame: Frame) -> Value:
        result: bool | CelEvaluationError = not decisive
        for _ in _each(step, frame):
            # Upstream evaluates the condition before it ends the loop: that costs too.
            pay(frame, condition)
            if result == decisive:
                break
            pay(frame, 1)
            try:
                if _passes(predicate, frame) == decisive:
                    result = decisive
            except CelEndError:
                raise
            except CelEvaluationError as error:
                if isinstance(result, bool):
                    result = error
        # The result of the comprehension is one identifier.
        pay(frame, 1)
        if isinstance(result, CelEvaluationError):
            raise result
        return result

    return quantified


def _passes(test: Evaluate, frame: Frame) -> bool:
    value = test(frame)
    if value is True or value is False:
        return bool(value)
    raise no_such_overload()


def count(step: Step) -> Evaluate:
    """Compile ``exists_one``: whether exactly one member passes a test."""
    test, pay = step.test, step.pay
    assert test is not None

    def counted(frame: Frame) -> Value:
        matches = 0
        for _ in _each(step, frame):
            if _passes(test, frame):
                matches += 1
                if pay:
                    pay(frame, 2)
        if pay:
            pay(frame, 2)
        return matches == 1

    return counted


_ADDED: Final = 2


def collect(step: Step, *, into_map: bool) -> Evaluate:
    """Compile a loop that collects its results in a list or a map."""
    return _collected_map(step) if into_map else _collected_list(step)


def _collected_list(step: Step) -> Evaluate:
    test, pay = step.test, step.pay
    [element] = step.results
    # Upstream makes a list of one element for each; constants have that list already.
    cost = _ADDED if isinstance(element, Constant) else _ADDED + LIST_COST

    def collected(frame: Frame) -> Value:
        elements = []
        for _ in _each(step, frame):
            if test is None or _passes(test, frame):
                elements.append(element(frame))
                if pay:
                    pay(frame, cost)
        if pay:
            pay(frame, 1)
        return elements

    return collected


def _collected_map(step: Step) -> Evaluate:
    test, pay = step.test, step.pay

    def collect_entries(frame: Frame) -> Value:
        collected: dict[Value, Value] = {}
        for _ in _each(step, frame):
            if test is not None and not _passes(test, frame):
                continue
            values = [each(frame) for each in step.results]
            entries = values[0] if len(values) == 1 else {to_key(values[0]): values[1]}
            if type(entries) not in MAP_TYPES:
                raise no_such_overload()
            for key, value in entries.items():
                # Only ``transformMapEntry`` can hit this: keys of one map differ.
                if key in collected:
                    raise CelEvaluationError(
                        f"insert failed: key {from_key(key)} already exists"
                    )
                collected[key] = value
            if pay:
                pay(frame, _ADDED)
        if pay:
            pay(frame, 1)
        return collected

    return collect_entries
