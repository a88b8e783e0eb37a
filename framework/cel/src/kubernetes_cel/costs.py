"""The actual costs of calls, counted while an expression is evaluated.

Mirrors ``costCall`` of ``interpreter/runtimecost.go``, the trackers of ``ext/lists.go``
and ``ext/sets.go`` (cel-go v0.26.0), and ``CallCost`` of ``pkg/cel/library/cost.go``
(k8s.io/apiserver v0.36).
"""

import math
from collections.abc import Callable, Sequence
from typing import Final

from kubernetes_cel.declarations import Overload
from kubernetes_cel.errors import CelPanicError
from kubernetes_cel.libraries.amounts import Amount
from kubernetes_cel.libraries.formats import Format
from kubernetes_cel.libraries.networks import CIDR, IP
from kubernetes_cel.libraries.quantities import Semver
from kubernetes_cel.libraries.urls import URL
from kubernetes_cel.values import MAP_TYPES, Optional, Value

__all__ = ["READ_ONCE", "SIMPLE", "TRAVERSED", "call_cost", "call_cost_1_36"]

# 10 for the list (``ListCreateBaseCost``) and 1 for the call.
_LIST_CALL: Final = 11
"""The cost of a call that returns a list."""

SIMPLE: Final = frozenset(
    {"masked", "prefixLength", "family", "isUnspecified", "isLoopback"}
    | {"isLinkLocalMulticast", "isLinkLocalUnicast", "isGlobalUnicast"}
    | {"format.named", "sign", "asInteger", "isInteger", "asApproximateFloat"}
    | {"isGreaterThan", "isLessThan", "compareTo", "add", "sub"}
    | {"major", "minor", "patch", "getScheme", "getHostname", "getHost", "getPort"}
    | {"getEscapedPath", "getQuery"}
)
READ_ONCE: Final = frozenset(
    {"url", "lowerAscii", "upperAscii", "substring", "trim", "cidr", "isIP", "isCIDR"}
    | {"quantity", "isQuantity", "semver", "isSemver"}
)
_READ_TWICE: Final = frozenset({"replace", "split", "ip.isCanonical"})
TRAVERSED: Final = frozenset(
    {"isSorted", "sum", "max", "min", "indexOf", "lastIndexOf"}
)
_INCLUDES: Final = "list_includes_dyn_dyn"
_SEARCHED: Final = frozenset({"find", "findAll"})
_ORDERS: Final = frozenset(
    f"{order}_{kind}"
    for order in ("less", "less_equals", "greater", "greater_equals")
    for kind in ("string", "bytes")
)
_READ_BY_OVERLOAD: Final = frozenset(
    {
        "string_to_bytes",
        "bytes_to_string",
        "strings_quote",
        "string_format",
    }
)
_AFFIXES: Final = frozenset({"starts_with_string", "ends_with_string"})
_OPAQUE: Final = (Amount, Semver, IP, CIDR, URL, Format)


def _size(value: Value) -> int:
    """Return the size of a value as Kubernetes' functions count it."""
    if isinstance(value, str | bytes | list | dict):
        return len(value)
    if isinstance(value, IP):
        return value.address.max_prefixlen // 8
    if isinstance(value, CIDR):
        return math.ceil(value.bits / 8)
    return 1


def _inner_size(value: Value) -> int:
    """Return the size of a value as functions of the language count it."""
    # Optional values are unwrapped by upstream's ``actualSize`` only for functions of
    # the language.
    while type(value) is Optional and value.present:
        value = value.value
    return _size(value)


def _read(size: int, times: int = 1) -> int:
    # ``StringTraversalCostFactor`` is 0.1, and ``RegexStringLengthCostFactor`` below is
    # 0.25 (cel-go, common/cost.go).
    return math.ceil(size * times * 0.1)


def _search(text: int, pattern: int) -> int:
    # One more than the length: a product with an empty text would be 0 whatever the
    # pattern.
    return math.ceil((1.0 + text) * 0.1) * math.ceil(pattern * 0.25)


def _traversal(value: Value) -> int:
    kind = type(value)
    if kind is str:
        # Bytes and rounded down, while other costs count code points and round up:
        # ``traversalCost`` (library/cost.go) does so.
        return int(len(value.encode("utf-8", "surrogatepass")) * 0.1)
    if kind is bytes:
        return int(len(value) * 0.1)
    if kind is list:
        return sum(map(_traversal, value))
    if kind in MAP_TYPES:
        return sum(_traversal(key) + _traversal(each) for key, each in value.items())
    return 1


def _self_comparison(values: Value) -> int:
    # Upstream converts without a test here, and panics.
    if type(values) is not list:
        raise CelPanicError
    size = _size(values)
    # ``trackListSelfCompare`` (cel-go, ext/lists.go): the first element decides for
    # all.
    factor = 2.1 if size and type(values[0]) in (str, bytes) else 2.0
    return int(size * size * factor) + _LIST_CALL


def _flattened(arguments: Sequence[Value], _: Value) -> int:
    depth = arguments[1] if len(arguments) == 2 else 1
    if type(depth) is not int:
        raise CelPanicError
    # An unsigned integer of 64 bits, as in Go.
    return (int(_size(arguments[0]) * float(depth)) + _LIST_CALL) % 2**64


def _compared_sets(factor: int) -> Callable[[Sequence[Value], Value], int]:
    return lambda arguments, _: 1 + _size(arguments[0]) * _size(arguments[1]) * factor


def _made_list(_: Sequence[Value], result: Value) -> int:
    return _size(result) + _LIST_CALL


def _added(arguments: Sequence[Value], _: Value) -> int:
    return _read(_inner_size(arguments[0]) + _inner_size(arguments[1]))


def _smaller(arguments: Sequence[Value], _: Value) -> int:
    return _read(min(_inner_size(arguments[0]), _inner_size(arguments[1])))


_BY_OVERLOAD: Final[dict[str, Callable[[Sequence[Value], Value], int]]] = {
    "list_slice": _made_list,
    "list_reverse": _made_list,
    "lists_range": _made_list,
    "list_flatten": _flattened,
    "list_flatten_int": _flattened,
    "list_distinct": lambda arguments, _: _self_comparison(arguments[0]),
    "list_sets_contains_list": _compared_sets(1),
    "list_sets_intersects_list": _compared_sets(1),
    "list_sets_equivalent_list": _compared_sets(2),
}
"""Costs by overload, which apply before those by function."""
_BY_OVERLOAD_LAST: Final[dict[str, Callable[[Sequence[Value], Value], int]]] = {
    **dict.fromkeys(
        _READ_BY_OVERLOAD, lambda arguments, _: _read(_inner_size(arguments[0]))
    ),
    **dict.fromkeys(_AFFIXES, lambda arguments, _: _read(_inner_size(arguments[1]))),
    **dict.fromkeys((*_ORDERS, "equals", "not_equals"), _smaller),
    "add_string": _added,
    "add_bytes": _added,
    "in_list": lambda arguments, _: _inner_size(arguments[1]),
    "matches_string": lambda arguments, _: _search(
        _inner_size(arguments[0]), _inner_size(arguments[1])
    ),
    "contains_string": lambda arguments, _: (
        _read(_inner_size(arguments[0])) * _read(_inner_size(arguments[1]))
    ),
}


def call_cost(called: Overload | str, arguments: Sequence[Value], result: Value) -> int:
    """Return the cost of a call.

    Args:
        called: The overload, or the function if it has several possible overloads.
        arguments: The arguments, that of the target first; they may be errors.
        result: The result, which may be an error.
    """
    function, overload = (
        (called, "") if isinstance(called, str) else (called.function, called.name)
    )
    tracker = _BY_OVERLOAD.get(overload)
    # Without an overload, the call is dynamic, and upstream counts it as any other
    # call.
    if tracker is None and function in ("sort", "@sortByAssociatedKeys") and overload:
        return _self_comparison(arguments[function != "sort"])
    # The trackers of cel-go come first, then those of Kubernetes, then the common ones:
    # the order of ``costCall``.
    if tracker is None:
        cost = _by_function(function, overload, arguments, result)
        if cost is not None:
            return cost
        tracker = _BY_OVERLOAD_LAST.get(overload)
    return 1 if tracker is None else tracker(arguments, result)


def call_cost_1_36(
    called: Overload | str, arguments: Sequence[Value], result: Value
) -> int:
    """Return the cost of a call in Kubernetes 1.36 (cel-go v0.26.0).

    There ``startsWith`` and ``endsWith`` read the whole string. Since cel-go v0.29.2
    they read as much as the prefix or suffix has.
    """
    if isinstance(called, Overload) and called.name in _AFFIXES:
        return _read(_inner_size(arguments[0]))
    return call_cost(called, arguments, result)


def _by_function(
    function: str, overload: str, arguments: Sequence[Value], result: Value
) -> int | None:
    if function in SIMPLE or overload == "cidr_ip":
        return 1
    if function in READ_ONCE or function == "ip":
        return _read(_size(arguments[0]))
    if function in _READ_TWICE:
        return _read(_size(arguments[0]), 2)
    if function in TRAVERSED or overload == _INCLUDES:
        return _traversal(arguments[0]) if arguments else 0
    if function == "join":
        return _read(_size(result), 2)
    if function in _SEARCHED:
        return _search(_size(arguments[0]), _size(arguments[1]))
    if function == "_==_":
        return 1 if isinstance(arguments[0], _OPAQUE) else None
    if function in ("containsIP", "containsCIDR"):
        return _contained(function, overload, arguments)
    if function == "validate" and isinstance(arguments[0], Format):
        return _search(_size(arguments[1]), arguments[0].pattern_size)
    return None


def _contained(function: str, overload: str, arguments: Sequence[Value]) -> int:
    size = _size(arguments[0])
    cost = _read(size, 2)
    if function == "containsCIDR":
        cost += _read(size) + 1
    if overload.endswith("_string"):
        cost += _read(_size(arguments[1]))
    return cost
