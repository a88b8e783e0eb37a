"""Checks trees: finds the types of nodes, and the overloads of calls.

Mirrors ``checker/checker.go`` (cel-go v0.26.0). Numbers of different types can be
compared, as Kubernetes' environment enables it. `kubernetes_cel.validation` checks that
the members of a list or map have one type.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Final

import attrs

from kubernetes_cel.assignment import Substitutions, most_general, unwrapped
from kubernetes_cel.ast import (
    Call,
    Comprehension,
    Expression,
    Identifier,
    ListLiteral,
    Literal,
    MapLiteral,
    Select,
    StructLiteral,
    UintLiteral,
    qualified_name,
)
from kubernetes_cel.declarations import CallCost, Functions, Overload
from kubernetes_cel.problems import Problems
from kubernetes_cel.ranges import Range
from kubernetes_cel.types import (
    BOOL,
    BYTES,
    DOUBLE,
    DYN,
    ERROR,
    INT,
    NULL,
    STRING,
    UINT,
    Kind,
    Type,
    list_type,
    map_type,
    optional_type,
)

__all__ = ["Checked", "Environment", "SizeAt", "check"]

_OF_LITERALS: Final[Mapping[type, Type]] = {
    type(None): NULL,
    bool: BOOL,
    int: INT,
    UintLiteral: UINT,
    float: DOUBLE,
    str: STRING,
    bytes: BYTES,
}


SizeAt = Callable[[Sequence[str]], Range | None]
"""Returns the size of a part of a variable by its path, or None if it is unknown."""


@attrs.frozen(eq=False)
class Environment:
    """The names that an expression may use.

    Attributes:
        variables: The types of variables.
        functions: The functions, with their overloads.
        fields: The types of fields, by the name of their struct type.
        inputs: The variables that an evaluation needs, in order.
        size_at: The sizes of variables and their parts.
        converts_optionals: Whether a chain converts the content of an optional value
            to its native form (cel-go v0.26.0, Kubernetes 1.36).
        call_cost: Returns the actual cost of a call.
    """

    variables: Mapping[str, Type]
    functions: Functions
    fields: Mapping[str, Mapping[str, Type]]
    inputs: tuple[str, ...]
    size_at: SizeAt
    converts_optionals: bool
    call_cost: CallCost


@attrs.frozen(eq=False)
class Checked:
    """A tree with the types and overloads of its nodes, by their numbers.

    Attributes:
        text: The text of the expression.
        root: The tree. Names are resolved: calls of functions such as
            ``strings.quote`` no longer have a target.
        types: The type of each node.
        overloads: The overloads that each call may be of.
        names: The selections that are in fact names with dots.
    """

    text: str
    root: Expression
    types: Mapping[int, Type]
    overloads: Mapping[int, tuple[Overload, ...]]
    names: Mapping[int, str]

    @property
    def result(self) -> Type:
        """The type of the expression."""
        return self.types[self.root.number]

    def type_of(self, node: Expression) -> Type:
        """Return the type of a node."""
        return self.types[node.number]


def check(text: str, root: Expression, environment: Environment) -> Checked:
    """Find the types of the nodes of a tree.

    Raises:
        CelCompilationError: Names are not declared, or types do not match.
    """
    checker = _Checker(text, environment)
    checker.check(root)
    checker.problems.raise_errors()
    types = {
        # Only at the end, when no later use can bind these parameters any further.
        number: checker.substitutions.applied(each, to_dyn=True)
        for number, each in checker.types.items()
    }
    return Checked(text, root, types, checker.overloads, checker.names)


class _Checker:
    """Checks one tree."""

    def __init__(self, text: str, environment: Environment) -> None:
        self._environment = environment
        self._scopes: list[dict[str, Type]] = []
        self._fresh = 0
        self.problems = Problems(text)
        self.substitutions = Substitutions()
        self.types: dict[int, Type] = {}
        self.overloads: dict[int, tuple[Overload, ...]] = {}
        self.names: dict[int, str] = {}

    def check(self, node: Expression) -> Type:
        match node:
            case Literal():
                self._set(node, _OF_LITERALS[type(node.value)])
            case Identifier():
                self._identifier(node)
            case Select():
                self._select(node)
            case Call():
                self._call(node)
            case ListLiteral():
                self._list(node)
            case MapLiteral():
                self._map(node)
            case StructLiteral():
                self._struct(node)
            case Comprehension():
                self._comprehension(node)
        return self.types[node.number]

    def _undeclared(self, node: Expression, name: str) -> None:
        problem = f"undeclared reference to '{name}' (in container '')"
        self.problems.add(node.offset, problem)
        self._set(node, ERROR)

    def _mismatch(self, node: Expression, expected: Type, actual: Type) -> None:
        self.problems.add(
            node.offset,
            f"expected type '{expected.shown}' but found '{actual.shown}'",
        )

    def _set(self, node: Expression, type_: Type) -> None:
        self.types[node.number] = type_

    def _assign(self, left: Type, right: Type) -> bool:
        return self.substitutions.assign((left,), (right,))

    def _new_parameter(self) -> Type:
        self._fresh += 1
        return Type(Kind.PARAMETER, f"_var{self._fresh - 1}")

    @contextmanager
    def _scope(self, **names: Type) -> Iterator[dict[str, Type]]:
        self._scopes.append(names)
        yield names
        self._scopes.pop()

    def _variable(self, name: str) -> Type | None:
        name = name.removeprefix(".")
        for scope in reversed(self._scopes):
            if name in scope:
                return scope[name]
        return self._environment.variables.get(name)

    # Nodes.

    def _identifier(self, node: Identifier) -> None:
        type_ = self._variable(node.name)
        if type_ is None:
            self._undeclared(node, node.name)
            return
        node.name = node.name.removeprefix(".")
        self._set(node, type_)

    def _select(self, node: Select) -> None:
        # ``has(a.b)`` asks for a field, so the two names are never one name with a dot.
        name = None if node.test_only else qualified_name(node)
        type_ = None if name is None else self._variable(name)
        if name is not None and type_ is not None:
            self.names[node.number] = name.removeprefix(".")
        if type_ is None:
            type_ = self._field(node, node.operand, node.field, optional=False)
        if node.test_only:
            type_ = BOOL
        self._set(node, self.substitutions.applied(type_))

    def _field(
        self, node: Expression, operand: Expression, field: str, *, optional: bool
    ) -> Type:
        operand_type = self.substitutions.applied(self.check(operand))
        target, is_optional = unwrapped(operand_type)
        if target.kind is Kind.MAP:
            # Fields of maps are keys: ``m.a`` is ``m['a']``.
            result = target.parameters[1]
        elif target.kind is Kind.STRUCT:
            result = self._field_of_struct(node, target, field)
        elif target.kind is Kind.PARAMETER:
            # Later uses of this parameter are then dynamic, as upstream's checker does.
            self._assign(DYN, target)
            result = DYN
        else:
            if not (target.is_dynamic or target.kind is Kind.ERROR):
                problem = f"type '{target.shown}' does not support field selection"
                self.problems.add(node.offset, problem)
            result = DYN
        # A chain stays optional once one of its links is.
        return optional_type(result) if is_optional or optional else result

    def _field_of_struct(self, node: Expression, struct: Type, field: str) -> Type:
        fields = self._environment.fields.get(struct.name)
        if fields is None:
            problem = f"unexpected failed resolution of '{struct.name}'"
        elif field in fields:
            return fields[field]
        else:
            problem = f"undefined field '{field}'"
        self.problems.add(node.offset, problem)
        return ERROR

    def _call(self, node: Call) -> None:
        if node.function == "_?._":
            operand, field = node.arguments
            assert isinstance(field, Literal)
            assert isinstance(field.value, str)
            self._set(field, STRING)
            type_ = self._field(node, operand, field.value, optional=True)
            self._set(node, self.substitutions.applied(type_))
            self.overloads[node.number] = self._environment.functions["_?._"]
            return
        for argument in node.arguments:
            self.check(argument)
        # Functions such as ``strings.quote`` look like methods of a variable; the name
        # of the function wins.
        if node.target is not None and not self._is_namespaced(node):
            self.check(node.target)
        function = node.function.removeprefix(".")
        overloads = self._environment.functions.get(function)
        if overloads is None:
            self._undeclared(node, node.function)
            return
        node.function = function
        self._resolve(node, overloads)

    def _is_namespaced(self, node: Call) -> bool:
        """Return whether ``a.b()`` calls a function ``a.b``; if so, change the node."""
        assert node.target is not None
        prefix = qualified_name(node.target)
        if prefix is None:
            return False
        name = f"{prefix}.{node.function}".removeprefix(".")
        if name not in self._environment.functions:
            return False
        node.target, node.function = None, name
        return True

    def _resolve(self, node: Call, overloads: tuple[Overload, ...]) -> None:
        arguments = node.arguments if node.target is None else [
            node.target, *node.arguments
        ]  # fmt: skip
        types = [self.types[each.number] for each in arguments]
        # Not by overloads: an error names the operand that is not a bool.
        if node.function in ("_&&_", "_||_"):
            self._set(node, self._logic(arguments, types))
            self.overloads[node.number] = overloads
            return
        result: Type | None = None
        fitting: list[Overload] = []
        for overload in overloads:
            if overload.is_method is (node.target is None):
                continue
            instance = self._instance_of(overload)
            # Each fitting overload binds parameters, in order, as ``resolveOverload``
            # does; what an earlier one has bound stays bound.
            if not self.substitutions.assign(types, instance[1:]):
                continue
            fitting.append(overload)
            type_ = self.substitutions.applied(instance[0])
            if result is None:
                result = type_
            # Overloads of different results leave the type open until the evaluation.
            elif not result.is_dynamic and type_ != result:
                result = DYN
        if result is None:
            self._no_overload(node, types)
            return
        self._set(node, result)
        self.overloads[node.number] = tuple(fitting)

    def _logic(self, arguments: Sequence[Expression], types: Sequence[Type]) -> Type:
        """Return the type of ``&&`` and ``||``."""
        result = BOOL
        for argument, type_ in zip(arguments, types, strict=True):
            if not self._assign(type_, BOOL):
                self._mismatch(argument, BOOL, type_)
                result = ERROR
        return result

    def _instance_of(self, overload: Overload) -> list[Type]:
        """Return the types of the result and the arguments, with fresh parameters."""
        types = [overload.result, *overload.arguments]
        if not overload.parameters:
            return types
        fresh = Substitutions()
        for parameter in overload.parameters:
            fresh.bind(parameter, self._new_parameter())
        return [fresh.applied(each) for each in types]

    def _no_overload(self, node: Call, types: list[Type]) -> None:
        names = [self.substitutions.applied(each, to_dyn=True).shown for each in types]
        shown = f"({', '.join(names)})"
        if node.target is not None:
            shown = f"{names[0]}.({', '.join(names[1:])})"
        self.problems.add(
            node.offset,
            f"found no matching overload for '{node.function}' applied to '{shown}'",
        )
        self._set(node, ERROR)

    def _list(self, node: ListLiteral) -> None:
        common: Type | None = None
        for index, element in enumerate(node.elements):
            type_ = self.check(element)
            if index in node.optional:
                type_ = self._unwrapped(element, type_)
            common = self._joined(common, type_)
        # An empty list fits lists of each type.
        self._set(node, list_type(common or self._new_parameter()))

    def _unwrapped(self, node: Expression, type_: Type) -> Type:
        inner, is_optional = unwrapped(type_)
        if not is_optional and not type_.is_dynamic:
            self._mismatch(node, optional_type(type_), type_)
        return inner

    def _joined(self, before: Type | None, type_: Type) -> Type:
        if before is None:
            return type_
        if self._assign(before, type_):
            return most_general(before, type_)
        # Validation compares the types of members after the whole tree is checked.
        return DYN

    def _map(self, node: MapLiteral) -> None:
        key: Type | None = None
        value: Type | None = None
        for entry in node.entries:
            key = self._joined(key, self.check(entry.key))
            type_ = self.check(entry.value)
            if entry.optional:
                type_ = self._unwrapped(entry.value, type_)
            value = self._joined(value, type_)
        self._set(
            node,
            map_type(key or self._new_parameter(), value or self._new_parameter()),
        )

    def _struct(self, node: StructLiteral) -> None:
        type_ = self._environment.variables.get(node.type_name.removeprefix("."))
        if type_ is None or type_.kind is not Kind.TYPE:
            self._undeclared(node, node.type_name)
            return
        problem = f"'{node.type_name}' is not a message type"
        self.problems.add(node.offset, problem)
        self._set(node, ERROR)
        kind = type_.parameters[0].kind if type_.parameters else Kind.TYPE
        for field in node.fields:
            value = self.check(field.value)
            if kind in (Kind.TYPE, Kind.OPAQUE):
                problem = f"unexpected failed resolution of '{node.type_name}'"
                self.problems.add(field.offset, problem)
            elif kind is not Kind.MAP:  # maps have all fields
                self.problems.add(field.offset, f"undefined field '{field.name}'")
            if field.optional:
                self._unwrapped(field.value, value)

    def _comprehension(self, node: Comprehension) -> None:
        # Before the scope: the range does not see the variables of its own loop.
        over = self.substitutions.applied(self.check(node.range))
        accumulated = self.check(node.start)
        with self._scope(**{node.accumulator: accumulated}):
            first, second = self._iterated(node, over)
            with self._scope(**{node.variable: first}) as names:
                if node.second is not None:
                    names[node.second] = second
                self._expect(node.condition, BOOL)
                self._expect(node.step, accumulated)
            # The result sees the accumulator, but not the variables of the loop.
            result = self.check(node.result)
        self._set(node, self.substitutions.applied(result))

    def _iterated(self, node: Comprehension, over: Type) -> tuple[Type, Type]:
        """Return the types of the variables of a loop."""
        if over.kind is Kind.LIST:
            [element] = over.parameters
            # A single variable of a list is the element; its index has no name then.
            return (element, ERROR) if node.second is None else (INT, element)
        if over.kind is Kind.MAP:
            key, value = over.parameters
            return key, value
        if over.kind in (Kind.DYN, Kind.ERROR, Kind.PARAMETER):
            self._assign(DYN, over)
            return DYN, DYN
        self.problems.add(
            node.range.offset,
            f"expression of type '{over.shown}' cannot be range of a comprehension "
            "(must be list, map, or dynamic)",
        )
        return ERROR, ERROR

    def _expect(self, node: Expression, expected: Type) -> None:
        type_ = self.check(node)
        if not self._assign(expected, type_):
            self._mismatch(node, expected, type_)
