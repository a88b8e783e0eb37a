"""Macros: calls that the parser replaces with loops, conditions and tests of presence.

Mirrors ``parser/macro.go``, ``ext/comprehensions.go``, ``ext/bindings.go``,
``ext/lists.go`` and ``cel/library.go`` (cel-go v0.26.0). Kubernetes does not
have the macro ``existsOne`` with one variable.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Final

from kubernetes_cel.ast import (
    Call,
    Comprehension,
    Expression,
    Identifier,
    ListLiteral,
    Select,
)
from kubernetes_cel.nodes import Nodes

__all__ = ["ACCUMULATOR", "MACROS", "UNUSED", "Macro", "MacroError"]

ACCUMULATOR: Final = "@result"
"""The accumulator's name in loops of macros; no expression can contain it."""
# The other name that cel-go gives accumulators (``AccumulatorName``); it is reserved,
# too.
_OLD_ACCUMULATOR: Final = "__result__"
UNUSED: Final = "#unused"
_SORTED: Final = "@__sortBy_input__"


class MacroError(Exception):
    """An argument of a macro is invalid.

    Attributes:
        node: The argument.
    """

    def __init__(self, node: Expression, problem: str) -> None:
        super().__init__(problem)
        self.node = node


Macro = Callable[
    [Nodes, "Expression | None", Sequence[Expression]], "Expression | None"
]
"""Returns the replacement of a call, or None if it stays a call."""


def _variables(nodes: Sequence[Expression], problem: str) -> list[str]:
    names: list[str] = []
    for node in nodes:
        if not isinstance(node, Identifier):
            raise MacroError(node, problem)
        if node.name in names:
            raise MacroError(node, f"duplicate variable name: {node.name}")
        names.append(node.name)
    for node, name in zip(nodes, names, strict=True):
        if name in (ACCUMULATOR, _OLD_ACCUMULATOR):
            raise MacroError(node, "iteration variable overwrites accumulator variable")
    return names


class _Loop:
    """A loop under construction."""

    def __init__(
        self,
        nodes: Nodes,
        target: Expression | None,
        variables: Sequence[Expression],
        problem: str = "argument must be a simple name",
    ) -> None:
        assert target is not None
        self.nodes = nodes
        self.target = target
        self.variables = _variables(variables, problem)

    def accumulator(self) -> Expression:
        return self.nodes.identifier(ACCUMULATOR)

    def finish(
        self,
        start: Expression,
        step: Expression,
        *,
        condition: Expression | None = None,
        result: Expression | None = None,
    ) -> Comprehension:
        first, *rest = self.variables
        return self.nodes.loop(
            self.target,
            (first, rest[0]) if rest else (first,),
            ACCUMULATOR,
            start,
            condition=condition or self.nodes.literal(True),
            step=step,
            result=result or self.accumulator(),
        )

    def where(self, test: Expression | None, step: Expression) -> Expression:
        if test is None:
            return step
        return self.nodes.call("_?_:_", test, step, self.accumulator())


def _has(
    nodes: Nodes, _target: Expression | None, arguments: Sequence[Expression]
) -> Expression:
    [argument] = arguments
    if not isinstance(argument, Select) or argument.test_only:
        raise MacroError(argument, "invalid argument to has() macro")
    return nodes.select(argument.operand, argument.field, test_only=True)


def _all(
    nodes: Nodes, target: Expression | None, arguments: Sequence[Expression]
) -> Expression:
    loop = _Loop(nodes, target, arguments[:-1])
    return loop.finish(
        nodes.literal(True),
        nodes.call("_&&_", loop.accumulator(), arguments[-1]),
        # An error of one element does not end the loop: a later element may still
        # decide.
        condition=nodes.call("@not_strictly_false", loop.accumulator()),
    )


def _exists(
    nodes: Nodes, target: Expression | None, arguments: Sequence[Expression]
) -> Expression:
    loop = _Loop(nodes, target, arguments[:-1])
    return loop.finish(
        nodes.literal(False),
        nodes.call("_||_", loop.accumulator(), arguments[-1]),
        condition=nodes.call(
            "@not_strictly_false", nodes.call("!_", loop.accumulator())
        ),
    )


def _exists_one(
    nodes: Nodes, target: Expression | None, arguments: Sequence[Expression]
) -> Expression:
    loop = _Loop(nodes, target, arguments[:-1])
    more = nodes.call("_+_", loop.accumulator(), nodes.literal(1))
    return loop.finish(
        nodes.literal(0),
        loop.where(arguments[-1], more),
        result=nodes.call("_==_", loop.accumulator(), nodes.literal(1)),
    )


def _map(
    nodes: Nodes, target: Expression | None, arguments: Sequence[Expression]
) -> Expression:
    variable, *test, value = arguments
    loop = _Loop(nodes, target, [variable], "argument is not an identifier")
    return loop.finish(
        nodes.list_of(),
        loop.where(
            test[0] if test else None,
            nodes.call("_+_", loop.accumulator(), nodes.list_of([value])),
        ),
    )


def _filter(
    nodes: Nodes, target: Expression | None, arguments: Sequence[Expression]
) -> Expression:
    variable, test = arguments
    loop = _Loop(nodes, target, [variable], "argument is not an identifier")
    more = nodes.call("_+_", loop.accumulator(), nodes.list_of([variable]))
    return loop.finish(nodes.list_of(), loop.where(test, more))


def _transform_list(
    nodes: Nodes, target: Expression | None, arguments: Sequence[Expression]
) -> Expression:
    first, second, *test, value = arguments
    loop = _Loop(nodes, target, [first, second])
    more = nodes.call("_+_", loop.accumulator(), nodes.list_of([value]))
    return loop.finish(nodes.list_of(), loop.where(test[0] if test else None, more))


def _transform_map(
    nodes: Nodes, target: Expression | None, arguments: Sequence[Expression]
) -> Expression:
    first, second, *test, value = arguments
    loop = _Loop(nodes, target, [first, second])
    more = nodes.call(
        "cel.@mapInsert",
        loop.accumulator(),
        nodes.identifier(loop.variables[0]),
        value,
    )
    return loop.finish(nodes.map_of(), loop.where(test[0] if test else None, more))


def _transform_map_entry(
    nodes: Nodes, target: Expression | None, arguments: Sequence[Expression]
) -> Expression:
    first, second, *test, entry = arguments
    loop = _Loop(nodes, target, [first, second])
    more = nodes.call("cel.@mapInsert", loop.accumulator(), entry)
    return loop.finish(nodes.map_of(), loop.where(test[0] if test else None, more))


def _bound(
    nodes: Nodes, name: str, value: Expression, result: Expression
) -> Comprehension:
    return nodes.loop(
        nodes.list_of(),
        (UNUSED,),
        name,
        value,
        condition=nodes.literal(False),
        step=nodes.identifier(name),
        result=result,
    )


def _bind(
    nodes: Nodes, target: Expression | None, arguments: Sequence[Expression]
) -> Expression | None:
    # Only ``cel.bind``: the same call on another target is a method.
    if not isinstance(target, Identifier) or target.name != "cel":
        return None
    variable, value, result = arguments
    if not isinstance(variable, Identifier):
        raise MacroError(
            variable, "cel.bind() variable names must be simple identifiers"
        )
    return _bound(nodes, variable.name, value, result)


def _optional_map(
    nodes: Nodes, target: Expression | None, arguments: Sequence[Expression]
) -> Expression:
    return _on_optional(nodes, target, arguments, "optMap")


def _optional_flat_map(
    nodes: Nodes, target: Expression | None, arguments: Sequence[Expression]
) -> Expression:
    return _on_optional(nodes, target, arguments, "optFlatMap")


def _on_optional(
    nodes: Nodes,
    target: Expression | None,
    arguments: Sequence[Expression],
    name: str,
) -> Expression:
    assert target is not None
    variable, body = arguments
    if not isinstance(variable, Identifier):
        raise MacroError(
            variable, f"{name}() variable name must be a simple identifier"
        )
    value: Expression = _bound(
        # A copy, since a node has one number and one place in the tree, and the target
        # occurs twice.
        nodes,
        variable.name,
        nodes.member_call("value", nodes.copy(target)),
        body,
    )
    if name == "optMap":
        value = nodes.call("optional.of", value)
    return nodes.call(
        "_?_:_",
        nodes.member_call("hasValue", target),
        value,
        nodes.call("optional.none"),
    )


def _sort_by(
    nodes: Nodes, target: Expression | None, arguments: Sequence[Expression]
) -> Expression:
    assert target is not None
    if not isinstance(target, (Select, ListLiteral, Comprehension, Identifier, Call)):
        raise MacroError(
            target, "sortBy can only be applied to a list, identifier, comprehension, "
            "call or select expression",
        )  # fmt: skip
    variable, key = arguments
    keys = _map(nodes, nodes.identifier(_SORTED), [variable, key])
    return _bound(
        nodes,
        _SORTED,
        target,
        nodes.member_call("@sortByAssociatedKeys", nodes.identifier(_SORTED), keys),
    )


MACROS: Final[Mapping[tuple[str, int, bool], Macro]] = {
    ("has", 1, False): _has,
    ("all", 2, True): _all,
    ("all", 3, True): _all,
    ("exists", 2, True): _exists,
    ("exists", 3, True): _exists,
    ("exists_one", 2, True): _exists_one,
    ("exists_one", 3, True): _exists_one,
    ("existsOne", 3, True): _exists_one,
    ("map", 2, True): _map,
    ("map", 3, True): _map,
    ("filter", 2, True): _filter,
    ("transformList", 3, True): _transform_list,
    ("transformList", 4, True): _transform_list,
    ("transformMap", 3, True): _transform_map,
    ("transformMap", 4, True): _transform_map,
    ("transformMapEntry", 3, True): _transform_map_entry,
    ("transformMapEntry", 4, True): _transform_map_entry,
    ("bind", 3, True): _bind,
    ("optMap", 2, True): _optional_map,
    ("optFlatMap", 2, True): _optional_flat_map,
    ("sortBy", 2, True): _sort_by,
}
"""The macros by name, number of arguments, and whether they have a target."""
