"""Declares functions and their overloads.

A function has overloads. Each has a unique name, which the tables of costs use. An
overload is declared as a call, such as ``list(T).slice(int, int) -> list(T)``.
"""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Final

import attrs

from kubernetes_cel.types import Kind, Type, type_named
from kubernetes_cel.values import Value

__all__ = ["CallCost", "Functions", "Overload", "function", "functions_of", "method"]


@attrs.frozen(eq=False)
class Overload:
    """One signature of a function.

    Attributes:
        name: Its unique name.
        function: The name of the function.
        is_method: Whether it has a target, which is its first argument.
        arguments: The types of the arguments, that of the target first.
        result: The type of the result.
        implementation: The function that computes the result of the values.
        guarded: Whether the types of values are checked before each call.
        parameters: The type parameters in its types.
    """

    name: str
    function: str
    is_method: bool
    arguments: tuple[Type, ...]
    result: Type
    implementation: Callable[..., Value]
    guarded: bool = True
    parameters: tuple[Type, ...] = attrs.field(init=False)

    def __attrs_post_init__(self) -> None:
        parameters: dict[Type, None] = {}
        for each in (*self.arguments, self.result):
            _collect(each, parameters)
        object.__setattr__(self, "parameters", tuple(parameters))


def _collect(within: Type, parameters: dict[Type, None]) -> None:
    if within.kind is Kind.PARAMETER:
        parameters[within] = None
    for each in within.parameters:
        _collect(each, parameters)


Functions = Mapping[str, tuple[Overload, ...]]
CallCost = Callable[[Overload | str, Sequence[Value], Value], int]
"""Returns the actual cost of a call.

Its arguments are the overload (or the function, if several overloads are possible), the
arguments of the call, and its result or error.
"""

_FUNCTION: Final = re.compile(r"(.+?)\((.*)\) -> (.+)")
# Functions with ``@`` are called by macros only; no expression can spell them.
_METHOD: Final = re.compile(r"(.+)\.(@?\w+)\((.*)\) -> (.+)")


def _types(text: str) -> tuple[Type, ...]:
    """Parse types separated by commas; commas in parentheses do not separate."""
    parts: list[str] = []
    depth = 0
    # By hand: types nest, as in ``map(string, list(int))``, which a split at commas
    # would cut.
    for character in text.replace(" ", ""):
        if character == "," and depth == 0:
            parts.append("")
            continue
        depth += {"(": 1, ")": -1}.get(character, 0)
        if not parts:
            parts.append("")
        parts[-1] += character
    return tuple(map(type_named, parts))


def function(
    name: str,
    signature: str,
    implementation: Callable[..., Value],
    *,
    guarded: bool = True,
) -> Overload:
    """Declare an overload without a target.

    Args:
        name: Its unique name.
        signature: Such as ``strings.quote(string) -> string``.
        implementation: The function that computes the result of the values.
        guarded: Whether the types of values are checked before each call.
    """
    match = _FUNCTION.fullmatch(signature)
    assert match, signature
    called, arguments, result = match.groups()
    return Overload(
        name,
        called,
        False,
        _types(arguments),
        type_named(result),
        implementation,
        guarded,
    )


def method(
    name: str,
    signature: str,
    implementation: Callable[..., Value],
    *,
    guarded: bool = True,
) -> Overload:
    """Declare an overload with a target.

    Args:
        name: Its unique name.
        signature: Such as ``string.charAt(int) -> string``.
        implementation: The function that computes the result of the values, that of
            the target first.
        guarded: Whether the types of values are checked before each call.
    """
    match = _METHOD.fullmatch(signature)
    assert match, signature
    target, called, arguments, result = match.groups()
    return Overload(
        name,
        called,
        True,
        (type_named(target), *_types(arguments)),
        type_named(result),
        implementation,
        guarded,
    )


def functions_of(overloads: Iterable[Overload]) -> Functions:
    """Group overloads by the names of their functions."""
    functions: dict[str, list[Overload]] = {}
    for overload in overloads:
        functions.setdefault(overload.function, []).append(overload)
    return {name: tuple(each) for name, each in functions.items()}
