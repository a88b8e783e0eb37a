"""Estimates the cost of an expression before it is evaluated.

Mirrors ``checker/cost.go`` (cel-go v0.26.0). The environment has the size limits of
variables.
"""

from collections.abc import Sequence
from typing import Final

import attrs

from kubernetes_cel.ast import (
    Call,
    Comprehension,
    Expression,
    Identifier,
    ListLiteral,
    Literal,
    MapLiteral,
    Select,
    UintLiteral,
)
from kubernetes_cel.checker import Checked, SizeAt
from kubernetes_cel.estimated_calls import CallEstimate, Part, estimated_call
from kubernetes_cel.ranges import UNKNOWN, Range, just
from kubernetes_cel.types import DYN, Kind, Type
from kubernetes_cel.values import MAX_UINT

__all__ = ["estimate_cost"]

_NOTHING: Final = just(0)
_UNIT: Final = just(1)
_SCALARS: Final = frozenset(
    {Kind.BOOL, Kind.DOUBLE, Kind.DURATION, Kind.INT, Kind.TIMESTAMP, Kind.UINT}
)


def estimate_cost(checked: Checked, size_at: SizeAt) -> int:
    """Return the estimated maximum cost of an evaluation.

    Args:
        checked: The tree.
        size_at: The sizes of variables and their parts.
    """
    return _Estimation(checked, size_at).cost(checked.root).most


@attrs.frozen
class _Entries:
    """The sizes of the members of a list or a map.

    Attributes:
        kind: Whether it is a list or a map.
        key: The size of its keys.
        value: The size of its members or values.
    """

    kind: Kind
    key: Range
    value: Range

    def union(self, other: "_Entries | None") -> "_Entries | None":
        if other is None:
            return None
        return _Entries(
            self.kind, self.key.union(other.key), self.value.union(other.value)
        )


@attrs.frozen
class _Local:
    """The path, size and members of a variable; None if they are unknown."""

    path: tuple[str, ...]
    size: Range | None
    entries: _Entries | None


class _Estimation:
    """Estimates one tree."""

    def __init__(self, checked: Checked, size_at: SizeAt) -> None:
        self._checked = checked
        self._size_at = size_at
        self._paths: dict[int, tuple[str, ...]] = {}
        self._locals: dict[str, list[_Local]] = {}
        self._sizes: dict[int, Range] = {}
        self._entries: dict[int, _Entries] = {}

    def cost(self, node: Expression) -> Range:
        """Return the estimated cost of a node with its descendants."""
        match node:
            case Identifier():
                local = self._local(node.name)
                # The path begins at a declared variable, so that the sizes of its parts
                # can be looked up.
                self._paths[node.number] = local.path if local else (node.name,)
                return _UNIT
            case Select():
                return self._select(node)
            case Call():
                return self._call(node)
            case ListLiteral():
                return self._list(node)
            case MapLiteral():
                return self._map(node)
            case Comprehension() if node.is_binding and node.accumulator != _RESULT:
                return self._binding(node)
            case Comprehension():
                return self._loop(node)
        return _NOTHING

    def _select(self, node: Select) -> Range:
        cost = self.cost(node.operand)
        # ``has`` costs nothing itself: Kubernetes switches its cost off
        # (``PresenceTestHasCost``).
        if node.test_only:
            return cost
        if self._type(node.operand).kind in (Kind.MAP, Kind.STRUCT, Kind.PARAMETER):
            cost = cost.plus(_UNIT)
        self._paths[node.number] = (*self._path(node.operand), node.field)
        return cost

    def _list(self, node: ListLiteral) -> Range:
        cost = just(10)
        # The neutral element of `union` if there are elements; an empty list has
        # members of size 0.
        size = Range(MAX_UINT if node.elements else 0, 0)
        for each in node.elements:
            cost = cost.plus(self.cost(each))
            size = size.union(self._size_or_unknown(each))
        self._entries[node.number] = _Entries(Kind.LIST, _UNIT, size)
        return cost

    def _map(self, node: MapLiteral) -> Range:
        cost = just(30)
        keys = values = Range(MAX_UINT if node.entries else 0, 0)
        for each in node.entries:
            cost = cost.plus(self.cost(each.key)).plus(self.cost(each.value))
            keys = keys.union(self._size_or_unknown(each.key))
            values = values.union(self._size_or_unknown(each.value))
        self._entries[node.number] = _Entries(Kind.MAP, keys, values)
        return cost

    # Loops.

    def _push(self, name: str, local: _Local) -> None:
        self._locals.setdefault(name, []).append(local)

    def _variable(self, node: Expression) -> _Local:
        return _Local(self._path(node), self._size(node), self._entries_of(node))

    def _iterated(self, over: Expression, *, key: bool) -> _Local:
        entries = self._entries_of(over)
        kind = entries.kind if entries else self._type(over).kind
        size = None if entries is None else entries.key if key else entries.value
        if key:
            part = "@indices" if kind is Kind.LIST else "@keys"
        else:
            part = "@items" if kind is Kind.LIST else "@values"
        return _Local((*self._path(over), part), size, None)

    def _loop(self, node: Comprehension) -> Range:
        over = node.range
        cost = self.cost(over).plus(self.cost(node.start))
        self._push(node.accumulator, self._variable(node.start))
        if node.second is not None:
            self._push(node.variable, self._iterated(over, key=True))
            self._push(node.second, self._iterated(over, key=False))
        else:
            entries = self._entries_of(over)
            kind = entries.kind if entries else self._type(over).kind
            self._push(node.variable, self._iterated(over, key=kind is not Kind.LIST))
        # One turn of the loop costs its condition and its step.
        each = self.cost(node.condition)
        each = self.cost(node.step).plus(each)
        # The variables of the loop are gone before its result, the accumulator is not.
        self._locals[node.variable].pop()
        if node.second is not None:
            self._locals[node.second].pop()
        cost = cost.plus(self.cost(node.result))
        self._locals[node.accumulator].pop()
        count = self._size_or_unknown(over)
        # A loop that starts with a list collects at most one element for each turn; one
        # that starts with a bool has the size of a bool.
        if isinstance(node.start, Literal):
            self._set_size(node, self._size(node.start))
        elif isinstance(node.start, (ListLiteral, MapLiteral)):
            self._sizes[node.number] = count
            entries = self._entries_of(node.step)
            if entries is not None:
                self._entries[node.number] = entries
        return cost.plus(count.times(each))

    def _binding(self, node: Comprehension) -> Range:
        cost = self.cost(node.range).plus(self.cost(node.start))
        self._push(node.accumulator, self._variable(node.start))
        cost = cost.plus(self.cost(node.result))
        self._locals[node.accumulator].pop()
        self._copy_sizes(node, node.result)
        return cost

    # Calls.

    def _call(self, node: Call) -> Range:
        if node.function == "dyn":
            [argument] = node.arguments
            cost = self.cost(argument).plus(_UNIT)
            self._copy_sizes(node, argument)
            return cost
        costs, parts = [], []
        for each in node.arguments:
            costs.append(self.cost(each))
            parts.append(self._part(each))
        overloads = self._checked.overloads[node.number]
        total, target = _NOTHING, None
        if node.target is not None:
            total = self.cost(node.target)
            target = self._part(node.target)
        # The neutral element of `union`.
        called = Range(MAX_UINT, 0)
        size: Range | None = None
        for overload in overloads:
            estimate = self._function(node, overload.name, target, parts, costs)
            called = called.union(estimate.cost)
            if estimate.size is not None:
                size = estimate.size if size is None else size.union(estimate.size)
            if overload.name in ("index_list", "index_map"):
                operand = node.arguments[0]
                entries = self._entries_of(operand)
                size = entries.value if entries else None
                part = "@items" if overload.name == "index_list" else "@values"
                self._paths[node.number] = (*self._path(operand), part)
            if size is None:
                size = self._size(node)
        self._set_size(node, size)
        return total.plus(called)

    def _function(
        self,
        node: Call,
        overload: str,
        target: Part | None,
        parts: Sequence[Part],
        costs: Sequence[Range],
    ) -> CallEstimate:
        if overload in ("logical_and", "logical_or"):
            # At least the left side: the right side may be skipped.
            left, right = costs
            return CallEstimate(Range(left.least, left.plus(right).most))
        if overload == "conditional":
            _, then, other = node.arguments
            entries = self._entries_of(then)
            joined = entries.union(self._entries_of(other)) if entries else None
            if joined is not None:
                self._entries[node.number] = joined
            size = self._size_or_unknown(then).union(self._size_or_unknown(other))
            # The more expensive branch counts for the most, the cheaper one for the
            # least.
            return CallEstimate(costs[0].plus(costs[1].union(costs[2])), size)
        if overload in ("add_string", "add_bytes", "add_list"):
            first, second = map(self._entries_of, node.arguments)
            joined = first.union(second) if first else None
            if joined is not None:
                self._entries[node.number] = joined
        estimate = estimated_call(node.function, overload, target, parts)
        total = estimate.cost
        for each in costs:
            total = total.plus(each)
        return CallEstimate(total, estimate.size)

    # Properties of nodes.

    def _local(self, name: str) -> _Local | None:
        scopes = self._locals.get(name)
        return scopes[-1] if scopes else None

    def _type(self, node: Expression) -> Type:
        return self._checked.types.get(node.number, DYN)

    def _path(self, node: Expression) -> tuple[str, ...]:
        if isinstance(node, Identifier):
            local = self._local(node.name)
            if local is not None:
                return local.path
        return self._paths.get(node.number, ())

    def _part(self, node: Expression) -> Part:
        path = self._path(node)
        # The accumulator of a macro has no size that an environment could know.
        if path and path[0] == _RESULT:
            path = ()
        items = self._size_at((*path, "@items")) if path else None
        return Part(self._type(node), self._size(node), items, _literal(node))

    def _set_size(self, node: Expression, size: Range | None) -> None:
        if size is not None:
            self._sizes[node.number] = size

    def _copy_sizes(self, node: Expression, other: Expression) -> None:
        self._set_size(node, self._size(other))
        entries = self._entries_of(other)
        if entries is not None:
            self._entries[node.number] = entries

    def _entries_of(self, node: Expression) -> _Entries | None:
        entries = self._entries.get(node.number)
        if entries is None and isinstance(node, Identifier):
            local = self._local(node.name)
            return local.entries if local else None
        return entries

    def _size_or_unknown(self, node: Expression) -> Range:
        return self._size(node) or UNKNOWN

    def _size(self, node: Expression) -> Range | None:
        size = self._sizes.get(node.number) or _written_size(node)
        if size is not None:
            return size
        size = self._size_at(self._path(node))
        if size is not None:
            self._sizes[node.number] = size
            return size
        if _is_scalar(self._type(node)):
            return _UNIT
        local = self._local(node.name) if isinstance(node, Identifier) else None
        return local.size if local else None


_RESULT: Final = "@result"
"""The accumulator of loops."""


def _is_scalar(type_: Type) -> bool:
    if type_.is_optional:
        return _is_scalar(type_.parameters[0])
    return type_.kind in _SCALARS


def _literal(node: Expression) -> int | None:
    """Return the value of a literal integer, or None."""
    if isinstance(node, Literal) and type(node.value) is int:
        return node.value
    return None


def _written_size(node: Expression) -> Range | None:
    match node:
        case Literal(value=str() | bytes()):
            assert isinstance(node.value, (str, bytes))
            return just(len(node.value))
        case Literal(value=None | bool() | int() | float() | UintLiteral()):
            return _UNIT
        case ListLiteral():
            return just(len(node.elements))
        case MapLiteral():
            return just(len(node.entries))
    return None
