"""Estimates the costs of calls by the sizes of their arguments.

Mirrors ``functionCost`` of ``checker/cost.go``, the estimates of ``ext/lists.go`` and
``ext/sets.go`` (cel-go v0.26.0), and ``EstimateCallCost`` of
``pkg/cel/library/cost.go`` (k8s.io/apiserver v0.36).
"""

import math
from collections.abc import Callable, Sequence
from typing import Final

import attrs

from kubernetes_cel.costs import READ_ONCE, SIMPLE, TRAVERSED
from kubernetes_cel.ranges import UNKNOWN, Range, just
from kubernetes_cel.types import Kind, Type
from kubernetes_cel.values import MAX_UINT

__all__ = ["CallEstimate", "Part", "estimated_call"]

_UNIT: Final = just(1)
_LIST_CALL: Final = just(11)
_ADDRESS: Final = Range(4, 16)
# ``MaxNameFormatRegexSize`` and, below, ``MaxFormatSize`` (apiserver, cel/limits.go).
_FORMAT_PATTERN: Final = 128 * 0.25
_FORMAT: Final = Range(1, 64)
_SIMPLE_EQUALS: Final = frozenset(
    {"net.IP", "net.CIDR", "kubernetes.Quantity", "kubernetes.Semver"}
)
_INCLUDED: Final = Range(0, 48)


@attrs.frozen
class Part:
    """The target or an argument of a call.

    Attributes:
        type: Its type.
        known_size: Its size, or None if it is unknown.
        item_size: The size of its members, or None if it is unknown.
        literal: Its value if it is a literal integer, or None.
    """

    type: Type
    known_size: Range | None
    item_size: Range | None
    literal: int | None

    @property
    def size(self) -> Range:
        """Its size; any size if it is unknown."""
        return self.known_size or UNKNOWN


@attrs.frozen
class CallEstimate:
    """The estimated cost of a call.

    Attributes:
        cost: The cost.
        size: The size of the result, or None if it is unknown.
    """

    cost: Range
    size: Range | None = None


_Estimate = Callable[[Part | None, Sequence[Part]], CallEstimate | None]


def estimated_call(
    function: str, overload: str, target: Part | None, arguments: Sequence[Part]
) -> CallEstimate:
    """Return the estimated cost of a call, without the costs of its arguments.

    Args:
        function: The name of the function.
        overload: The name of the overload.
        target: The target, or None.
        arguments: The arguments.
    """
    estimate = _BY_OVERLOAD.get(overload)
    result = estimate(target, arguments) if estimate else None
    # These two have many overloads with one rule.
    if function in ("sort", "@sortByAssociatedKeys"):
        result = _sorted_list(overload, target, arguments)
    if result is None:
        result = _by_function(function, overload, target, arguments)
    if result is None:
        last = _BY_OVERLOAD_LAST.get(overload)
        result = last(target, arguments) if last else None
    return result or CallEstimate(_UNIT)


# Lists.


def _made_list(size: Range, factor: float = 1) -> CallEstimate:
    return CallEstimate(size.scaled(factor).plus(_LIST_CALL), size)


def _number(part: Part, default: int) -> int:
    return default if part.literal is None else max(part.literal, 0)


def _slice(target: Part | None, arguments: Sequence[Part]) -> CallEstimate | None:
    if target is None:
        return None
    start, end = arguments
    length = _number(end, target.size.most) - _number(start, 0)
    # Upstream subtracts unsigned integers, so a slice that ends before it begins has a
    # huge estimate.
    return _made_list(just(length % 2**64))


def _flatten(target: Part | None, arguments: Sequence[Part]) -> CallEstimate | None:
    if target is None:
        return None
    depth = _number(arguments[0], MAX_UINT) if arguments else 1
    return _made_list(target.size, float(depth))


def _distinct(target: Part | None, _: Sequence[Part]) -> CallEstimate | None:
    if target is None:
        return None
    return _made_list(target.size.times(target.size), 2.0)


def _reverse(target: Part | None, _: Sequence[Part]) -> CallEstimate | None:
    return None if target is None else _made_list(target.size)


def _sorted_list(
    overload: str, target: Part | None, arguments: Sequence[Part]
) -> CallEstimate | None:
    keys = arguments[0] if arguments else target
    if keys is None:
        return None
    is_text = overload.startswith(("list_string", "list_bytes"))
    return _made_list(keys.size.times(keys.size), 2.1 if is_text else 2.0)


def _sets(factor: float) -> _Estimate:
    def estimate(_: Part | None, arguments: Sequence[Part]) -> CallEstimate:
        left, right = arguments
        return CallEstimate(left.size.times(right.size).scaled(factor).plus(_UNIT))

    return estimate


_BY_OVERLOAD: Final[dict[str, _Estimate]] = {
    "list_slice": _slice,
    "list_flatten": _flatten,
    "list_flatten_int": _flatten,
    "lists_range": lambda _, arguments: _made_list(
        just(_number(arguments[0], MAX_UINT))
    ),
    "list_reverse": _reverse,
    "list_distinct": _distinct,
    "list_sets_contains_list": _sets(1),
    "list_sets_intersects_list": _sets(1),
    "list_sets_equivalent_list": _sets(2),
    "dra_includes_dyn_dyn": lambda _, __: CallEstimate(_INCLUDED),
}


# Kubernetes' functions.


def _by_function(
    function: str, overload: str, target: Part | None, arguments: Sequence[Part]
) -> CallEstimate | None:
    if function in SIMPLE or overload == "cidr_ip":
        return CallEstimate(_UNIT)
    if function == "_==_":
        return _equality(*arguments)
    if function in ("containsIP", "containsCIDR"):
        return _contained(function, overload, arguments[0])
    if function in _OF_ARGUMENT:
        return _OF_ARGUMENT[function](arguments[0].size)
    if target is not None and function in _OF_TARGET:
        return _OF_TARGET[function](target, arguments)
    return None


def _equality(left: Part, right: Part) -> CallEstimate | None:
    if left.type != right.type:
        return None
    if left.type.name in _SIMPLE_EQUALS:
        return CallEstimate(_UNIT)
    if left.type.name == "kubernetes.NamedFormat":
        return CallEstimate(_FORMAT.scaled(0.1))
    if left.type.name == "kubernetes.URL":
        size = right.known_size or _UNIT
        return CallEstimate(Range(1, size.most).scaled(0.1))
    return None


def _contained(function: str, overload: str, argument: Part) -> CallEstimate:
    cost = _ADDRESS.plus(_ADDRESS).scaled(0.1)
    if function == "containsCIDR":
        cost = cost.plus(_ADDRESS.scaled(0.1)).plus(_UNIT)
    if overload.endswith("_string"):
        cost = cost.plus(argument.size.scaled(0.1))
    return CallEstimate(cost)


def _included(target: Part | None, _: Sequence[Part]) -> CallEstimate | None:
    if target is None:
        return None
    return (
        _traversed(target, ()) if target.type.parameters else CallEstimate(target.size)
    )


def _traversed(target: Part, _: Sequence[Part]) -> CallEstimate:
    if not target.type.parameters:
        return CallEstimate(target.size.scaled(0.1))
    cost = _UNIT
    # Other members have the size 1, so their traversal costs nothing more.
    if target.type.parameters[0].kind in (Kind.STRING, Kind.BYTES):
        cost = cost.plus((target.item_size or UNKNOWN).scaled(0.1))
    return CallEstimate(target.size.times(cost))


def _replaced(target: Part, arguments: Sequence[Part]) -> CallEstimate | None:
    if len(arguments) < 2:
        return None
    size, old, new = target.size, arguments[0].size, arguments[1].size
    most = (
        _with_more(size.most)
        # An empty text may match between all characters.
        if old.least == 0
        else (0, size.most)
        if new.most <= old.least
        else (math.ceil(size.most / old.least), 0)
    )
    least = (
        _with_more(size.least)
        if old.most == 0
        else (0, size.least)
        if old.most <= new.least
        else (math.ceil(size.least / old.most), 0)
    )
    count, kept = Range(least[0], most[0]), Range(least[1], most[1])
    return CallEstimate(size.scaled(0.2), count.times(new).plus(kept))


def _with_more(size: int) -> tuple[int, int]:
    return min(size + 1, MAX_UINT), size


def _split(target: Part, arguments: Sequence[Part]) -> CallEstimate:
    most = target.size.most
    if len(arguments) > 1 and arguments[1].literal is not None:
        # A limit of -1 means no limit, and is the largest unsigned number here.
        most = arguments[1].literal % 2**64
    return CallEstimate(target.size.scaled(0.2), Range(0, most))


def _joined(target: Part, arguments: Sequence[Part]) -> CallEstimate:
    size, count = Range(0, 0), target.size
    if target.type.parameters:
        size = count.times(target.item_size or UNKNOWN)
    if arguments:
        gaps = Range(max(count.least - 1, 0), max(count.most - 1, 0))
        size = size.plus(arguments[0].size.times(gaps))
    return CallEstimate(size.scaled(0.1), size)


def _searched(target: Part, arguments: Sequence[Part]) -> CallEstimate:
    return CallEstimate(_search(target, arguments[0]), Range(0, target.size.most))


def _search(text: Part, pattern: Part) -> Range:
    return text.size.plus(_UNIT).scaled(0.1).times(pattern.size.scaled(0.25))


def _read(target: Part, _: Sequence[Part]) -> CallEstimate:
    return CallEstimate(target.size.scaled(0.1), target.size)


_OF_TARGET: Final[dict[str, Callable[[Part, Sequence[Part]], CallEstimate | None]]] = {
    **dict.fromkeys(TRAVERSED, _traversed),
    **dict.fromkeys(("lowerAscii", "upperAscii", "substring", "trim"), _read),
    "replace": _replaced,
    "split": _split,
    "join": _joined,
    "find": _searched,
    "findAll": _searched,
}
_OF_ARGUMENT: Final[dict[str, Callable[[Range], CallEstimate]]] = {
    **dict.fromkeys(
        (READ_ONCE | {"ip"}) - {"lowerAscii", "upperAscii", "substring", "trim"},
        lambda size: CallEstimate(size.scaled(0.1)),
    ),
    "url": lambda size: CallEstimate(size.scaled(0.1), size),
    "ip.isCanonical": lambda size: CallEstimate(size.scaled(0.2)),
    "validate": lambda size: CallEstimate(size.scaled(0.1).scaled(_FORMAT_PATTERN)),
}


# Functions of the language.


def _compared(_: Part | None, arguments: Sequence[Part]) -> CallEstimate:
    left, right = arguments
    most = min(left.size.most, right.size.most)
    return CallEstimate(Range(min(most, 1), most).scaled(0.1))


def _added(_: Part | None, arguments: Sequence[Part]) -> CallEstimate:
    left, right = arguments
    size = left.size.plus(right.size)
    return CallEstimate(size.scaled(0.1), size)


def _added_lists(_: Part | None, arguments: Sequence[Part]) -> CallEstimate:
    left, right = arguments
    return CallEstimate(_UNIT, left.size.plus(right.size))


def _matched(target: Part | None, arguments: Sequence[Part]) -> CallEstimate | None:
    return None if target is None else CallEstimate(_search(target, arguments[0]))


def _found_in(target: Part | None, arguments: Sequence[Part]) -> CallEstimate | None:
    if target is None:
        return None
    return CallEstimate(target.size.scaled(0.1).times(arguments[0].size.scaled(0.1)))


def _formatted(target: Part | None, _: Sequence[Part]) -> CallEstimate | None:
    return None if target is None else CallEstimate(target.size.scaled(0.1))


def _to_bytes(_: Part | None, arguments: Sequence[Part]) -> CallEstimate:
    size = arguments[0].size
    return CallEstimate(size.scaled(0.1), Range(size.least, size.most * 4 % 2**64))


def _to_string(_: Part | None, arguments: Sequence[Part]) -> CallEstimate:
    size = arguments[0].size
    return CallEstimate(size.scaled(0.1), Range(size.least // 4, size.most))


def _quoted(_: Part | None, arguments: Sequence[Part]) -> CallEstimate:
    size = arguments[0].size
    return CallEstimate(
        size.scaled(0.1),
        Range((size.least + 2) % 2**64, (size.most * 2 + 2) % 2**64),
    )


_BY_OVERLOAD_LAST: Final[dict[str, _Estimate]] = {
    **dict.fromkeys(
        (
            f"{order}_{kind}"
            for order in ("less", "less_equals", "greater", "greater_equals")
            for kind in ("string", "bytes")
        ),
        _compared,
    ),
    "equals": _compared,
    "not_equals": _compared,
    "add_string": _added,
    "add_bytes": _added,
    "add_list": _added_lists,
    "list_includes_dyn_dyn": _included,
    "matches_string": _matched,
    "contains_string": _found_in,
    "string_to_bytes": _to_bytes,
    "bytes_to_string": _to_string,
    "strings_quote": _quoted,
    "string_format": _formatted,
    "starts_with_string": lambda _, arguments: CallEstimate(
        arguments[0].size.scaled(0.1)
    ),
    "ends_with_string": lambda _, arguments: CallEstimate(
        arguments[0].size.scaled(0.1)
    ),
    "in_list": lambda _, arguments: CallEstimate(arguments[1].size),
}
