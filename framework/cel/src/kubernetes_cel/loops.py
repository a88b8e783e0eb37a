"""The loops that macros make.

Mirrors ``evalFold`` of ``interpreter/interpretable.go`` (cel-go v0.26.0). Since macros
alone make loops, there are five kinds: ``all``, ``exists``, counting, and collecting
a list or a map.
"""

from collections.abc import Callable, Iterable
from typing import Final

import attrs

from kubernetes_cel.dispatch import type_name
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
"""Lets an evaluation cost something."""


@attrs.frozen
class Step:
    """What a loop does for each member.

    Attributes:
        over: The list or map.
        places: Where the frame holds the variables.
        test: Whether a member counts, if there is a test.
        made: What is made of a member: the predicate of ``all`` and ``exists``, the
            element of a list, the key and the value or the map that go into a map.
        pay: Lets the loop cost something, if the program is metered.
    """

    over: Evaluate
    places: tuple[int, ...]
    test: Evaluate | None
    made: tuple[Evaluate, ...]
    pay: Pay | None


def _members(value: Value, variables: int) -> Iterable[tuple[Value, ...]]:
    kind = type(value)
    if kind is list:
        return enumerate(value) if variables == 2 else ((each,) for each in value)
    if kind in MAP_TYPES:
        if variables == 2:
            return ((from_key(key), each) for key, each in value.items())
        return ((from_key(key),) for key in value)
    raise CelEvaluationError(f"got '{type_name(value)}', expected iterable type")


def _each(step: Step, frame: Frame) -> Iterable[None]:
    """Put one member after the other into its places."""
    members = _members(step.over(frame), len(step.places))
    if len(step.places) == 1:
        [place] = step.places
        for (frame[place],) in members:
            yield
    else:
        first, second = step.places
        for frame[first], frame[second] in members:
            yield


def quantify(step: Step, *, decisive: bool) -> Evaluate:
    """Say whether all members pass a test, or whether any does.

    Args:
        step: The loop; the test is what it makes.
        decisive: What ends it: False for ``all``, True for ``exists``.
    """
    if step.pay is not None:
        return _metered_quantity(step, step.pay, decisive=decisive)
    [predicate] = step.made

    def quantified(frame: Frame) -> Value:
        pending: CelEvaluationError | None = None
        for _ in _each(step, frame):
            try:
                if _passes(predicate, frame) == decisive:
                    return decisive
            except CelEvaluationError as error:
                pending = pending or error
        if pending is not None:
            raise pending
        return not decisive

    return quantified


def _metered_quantity(step: Step, pay: Pay, *, decisive: bool) -> Evaluate:
    [predicate] = step.made
    condition = 3 if decisive else 2

    def quantified(frame: Frame) -> Value:
        found: bool | CelEvaluationError = not decisive
        for _ in _each(step, frame):
            # Upstream sees that it is decided when it asks whether to go on.
            pay(frame, condition)
            if found == decisive:
                break
            pay(frame, 1)
            try:
                if _passes(predicate, frame) == decisive:
                    found = decisive
            except CelEndError:
                raise
            except CelEvaluationError as error:
                if isinstance(found, bool):
                    found = error
        pay(frame, 1)
        if isinstance(found, CelEvaluationError):
            raise found
        return found

    return quantified


def _passes(test: Evaluate, frame: Frame) -> bool:
    value = test(frame)
    if value is True or value is False:
        return bool(value)
    raise no_such_overload()


def count(step: Step) -> Evaluate:
    """Say whether exactly one member passes a test."""
    test, pay = step.test, step.pay
    assert test is not None

    def counted(frame: Frame) -> Value:
        found = 0
        for _ in _each(step, frame):
            if _passes(test, frame):
                found += 1
                if pay:
                    pay(frame, 2)
        if pay:
            pay(frame, 2)
        return found == 1

    return counted


_ADDED: Final = 2


def collect(step: Step, *, into_map: bool) -> Evaluate:
    """Make a list of what is made of the members, or a map."""
    return _collected_map(step) if into_map else _collected_list(step)


def _collected_list(step: Step) -> Evaluate:
    test, pay = step.test, step.pay
    [element] = step.made
    # Each element is put into a list of its own first; a constant has one at hand.
    cost = _ADDED if isinstance(element, Constant) else _ADDED + LIST_COST

    def collected(frame: Frame) -> Value:
        found = []
        for _ in _each(step, frame):
            if test is None or _passes(test, frame):
                found.append(element(frame))
                if pay:
                    pay(frame, cost)
        if pay:
            pay(frame, 1)
        return found

    return collected


def _collected_map(step: Step) -> Evaluate:
    test, pay = step.test, step.pay

    def collected(frame: Frame) -> Value:
        found: dict[Value, Value] = {}
        for _ in _each(step, frame):
            if test is not None and not _passes(test, frame):
                continue
            values = [each(frame) for each in step.made]
            entries = values[0] if len(values) == 1 else {to_key(values[0]): values[1]}
            if type(entries) not in MAP_TYPES:
                raise no_such_overload()
            for key, value in entries.items():
                if key in found:
                    raise CelEvaluationError(
                        f"insert failed: key {from_key(key)} already exists"
                    )
                found[key] = value
            if pay:
                pay(frame, _ADDED)
        if pay:
            pay(frame, 1)
        return found

    return collected
