"""Lists and sets.

Mirrors ``pkg/cel/library/lists.go`` (k8s.io/apiserver v0.36), ``ext/lists.go`` version
3 and ``ext/sets.go`` (cel-go v0.26.0).
"""

import functools
import itertools
from collections.abc import Callable, Iterator
from typing import Final

from kubernetes_cel.declarations import Overload, function, method
from kubernetes_cel.equality import compare, surely_equal
from kubernetes_cel.errors import CelCostError, CelEvaluationError
from kubernetes_cel.libraries.operators import to_int, to_uint
from kubernetes_cel.libraries.times import DURATIONS
from kubernetes_cel.limits import SELECTOR_COST_LIMIT
from kubernetes_cel.values import (
    Duration,
    Timestamp,
    Uint,
    Value,
    no_such_overload,
)

__all__ = ["OVERLOADS"]

_COMPARABLE: Final = (
    "int",
    "uint",
    "double",
    "bool",
    "duration",
    "timestamp",
    "string",
    "bytes",
)
_LONG_NAMES: Final = {
    "duration": "google.protobuf.Duration",
    "timestamp": "google.protobuf.Timestamp",
}


_COMPARED: Final = frozenset({int, Uint, float, bool, Duration, Timestamp, str, bytes})


def _comparable(values: list[Value]) -> list[Value]:
    """Return values, after a check that their types have an order.

    Raises:
        CelEvaluationError: The type of a value has no order.
    """
    if not all(type(each) in _COMPARED for each in values):
        raise no_such_overload()
    return values


def _order_or_0(left: Value, right: Value) -> int:
    """Compare two values; return 0 if they cannot be compared."""
    try:
        return compare(left, right)
    except CelEvaluationError:
        # Upstream compares the result of the comparison with a number: an error matches
        # none, so such a pair counts as equal.
        return 0


def _is_sorted(values: list[Value]) -> bool:
    for left, right in itertools.pairwise(values):
        if _order_or_0(*_comparable([left, right])) > 0:
            return False
    return True


def _extreme(name: str, sign: int) -> Callable[[list[Value]], Value]:
    def extreme(values: list[Value]) -> Value:
        if not values:
            raise CelEvaluationError(f"{name} called on empty list")
        best = values[0]
        for value in _comparable(values)[1:]:
            if _order_or_0(best, value) == sign:
                best = value
        return best

    return extreme


def _sum(zero: Value) -> Callable[[list[Value]], Value]:
    def total(values: list[Value]) -> Value:
        result = zero
        for value in values:
            result = _added(result, value)
        return result

    return total


def _added(left: Value, right: Value) -> Value:
    kind = type(left)
    if kind is not type(right):
        raise no_such_overload()
    if kind is int:
        return to_int(left + right)
    if kind is Uint:
        return to_uint(left + right)
    if kind is Duration:
        low, high = DURATIONS
        if not low <= left.nanos + right.nanos <= high:
            raise CelEvaluationError("duration overflow")
        return Duration(left.nanos + right.nanos)
    return left + right


def _index_of(values: list[Value], value: Value) -> int:
    for index, each in enumerate(values):
        if surely_equal(each, value):
            return index
    return -1


def _last_index_of(values: list[Value], value: Value) -> int:
    for index in range(len(values) - 1, -1, -1):
        if surely_equal(values[index], value):
            return index
    return -1


def _slice(values: list[Value], start: int, end: int) -> list[Value]:
    shown = f"cannot slice({start}, {end})"
    if start < 0 or end < 0:
        raise CelEvaluationError(f"{shown}, negative indexes not supported")
    if start > end:
        raise CelEvaluationError(
            f"{shown}, start index must be less than or equal to end index"
        )
    if end > len(values):
        raise CelEvaluationError(f"{shown}, list is length {len(values)}")
    return values[start:end]


def _flatten(values: list[Value], depth: int = 1) -> list[Value]:
    # Without guards, since the types of members must not decide here
    # (``list(list(T))``).
    if type(values) is not list or type(depth) is not int:
        raise no_such_overload()
    if depth < 0:
        raise CelEvaluationError("level must be non-negative")
    flat: list[Value] = []
    for value in values:
        if type(value) is list and depth:
            flat += _flatten(value, depth - 1)
        else:
            flat.append(value)
    return flat


def _distinct(values: list[Value]) -> list[Value]:
    distinct: list[Value] = []
    for value in values:
        # Quadratic, as upstream, and as its cost estimate assumes.
        if not any(surely_equal(value, each) for each in distinct):
            distinct.append(value)
    return distinct


def _sort(values: list[Value]) -> list[Value]:
    return _sort_by(values, values)


def _sort_by(values: list[Value], keys: list[Value]) -> list[Value]:
    if len({type(key) for key in keys}) > 1:
        raise CelEvaluationError("list elements must have the same type")

    def by_key(left: int, right: int) -> int:
        return _order_or_0(keys[left], keys[right])

    order = sorted(
        range(len(values)),
        key=functools.cmp_to_key(by_key),
    )
    return [values[index] for index in order]


def _range(size: int) -> list[int]:
    if size > SELECTOR_COST_LIMIT:
        # Upstream makes the list first, and then exceeds the cost limit.
        raise CelCostError
    return list(range(size))


def _contains(values: list[Value], parts: list[Value]) -> bool:
    return all(any(surely_equal(part, each) for each in values) for part in parts)


def _intersects(left: list[Value], right: list[Value]) -> bool:
    return any(any(surely_equal(a, b) for b in right) for a in left)


def _includes(value: Value, part: Value) -> bool:
    if type(value) is not list:
        return surely_equal(value, part)
    return any(surely_equal(each, part) for each in value)


def _includes_in_few(value: Value, part: Value) -> bool:
    if type(value) is not list:
        return surely_equal(value, part)
    for index, each in enumerate(value):
        # The limit of attribute values of a device; longer lists come from expressions
        # only.
        if index >= _MOST_INCLUDED:
            raise CelEvaluationError(
                "'includes' function cannot be applied to lists longer than "
                f"{_MOST_INCLUDED} values"
            )
        if surely_equal(each, part):
            return True
    return False


_MOST_INCLUDED: Final = 48


def _by_type() -> Iterator[Overload]:
    for kind in _COMPARABLE:
        yield method(
            f"list_{kind}_is_sorted_bool",
            f"list({kind}).isSorted() -> bool",
            _is_sorted,
        )
    zeros = {"int": 0, "uint": Uint(0), "double": 0.0, "duration": Duration(0)}
    for kind, zero in zeros.items():
        yield method(
            f"list_{kind}_sum_{kind}", f"list({kind}).sum() -> {kind}", _sum(zero)
        )
    for name, sign in (("min", 1), ("max", -1)):
        for kind in _COMPARABLE:
            yield method(
                f"list_{kind}_{name}_{kind}",
                f"list({kind}).{name}() -> {kind}",
                _extreme(name, sign),
            )
    for kind in _COMPARABLE:
        long = _LONG_NAMES.get(kind, kind)
        yield method(f"list_{long}_sort", f"list({kind}).sort() -> list({kind})", _sort)
        yield method(
            f"list_{long}_sortByAssociatedKeys",
            f"list(T).@sortByAssociatedKeys(list({kind})) -> list(T)",
            _sort_by,
        )


OVERLOADS: Final[tuple[Overload, ...]] = (
    *_by_type(),
    method("list_a_index_of_int", "list(A).indexOf(A) -> int", _index_of),
    method("list_a_last_index_of_int", "list(A).lastIndexOf(A) -> int", _last_index_of),
    method("list_slice", "list(T).slice(int, int) -> list(T)", _slice),
    method(
        "list_flatten", "list(list(T)).flatten() -> list(T)", _flatten, guarded=False
    ),
    method(
        "list_flatten_int",
        "list(dyn).flatten(int) -> list(dyn)",
        _flatten,
        guarded=False,
    ),
    method("list_distinct", "list(T).distinct() -> list(T)", _distinct),
    method("list_reverse", "list(T).reverse() -> list(T)", lambda each: each[::-1]),
    function("lists_range", "lists.range(int) -> list(int)", _range),
    function(
        "list_sets_contains_list", "sets.contains(list(T), list(T)) -> bool", _contains
    ),
    function(
        "list_sets_equivalent_list",
        "sets.equivalent(list(T), list(T)) -> bool",
        lambda left, right: _contains(left, right) and _contains(right, left),
    ),
    function(
        "list_sets_intersects_list",
        "sets.intersects(list(T), list(T)) -> bool",
        _intersects,
    ),
)

INCLUDES: Final = (
    method("dra_includes_dyn_dyn", "dyn.includes(dyn) -> bool", _includes_in_few),
    method("list_includes_dyn_dyn", "dyn.includes(dyn) -> bool", _includes),
)
"""The overloads of ``includes`` in Kubernetes 1.36 and 1.37."""
