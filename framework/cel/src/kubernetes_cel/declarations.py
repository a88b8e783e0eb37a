"""Which functions there are, with the types that they take and give.

A function has overloads, each with a name of its own, by which costs know it. An
overload is written as it is called, such as ``list(T).slice(int, int) -> list(T)``.
"""

import re
from collections.abc import Callable, Iterable, Mapping
from typing import Final

import attrs

from kubernetes_cel.types import Kind, Type, type_named
from kubernetes_cel.values import Value

__all__ = ["Functions", "Overload", "function", "functions_of", "method"]


@attrs.frozen(eq=False)
class Overload:
    """One way to call a function.

    Attributes:
        name: Its own name.
        function: The name by which it is called.
        is_method: Whether it is called on a target, its first argument.
        arguments: The types of the arguments, that of the target first.
        result: The type of what it gives.
        implementation: What is called with the values.
        guarded: Whether values of other types do not come to the implementation.
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
        found: dict[Type, None] = {}
        for each in (*self.arguments, self.result):
            _collect(each, found)
        object.__setattr__(self, "parameters", tuple(found))


def _collect(within: Type, found: dict[Type, None]) -> None:
    if within.kind is Kind.PARAMETER:
        found[within] = None
    for each in within.parameters:
        _collect(each, found)


Functions = Mapping[str, tuple[Overload, ...]]

_FUNCTION: Final = re.compile(r"(.+?)\((.*)\) -> (.+)")
_METHOD: Final = re.compile(r"(.+)\.(@?\w+)\((.*)\) -> (.+)")


def _types(text: str) -> tuple[Type, ...]:
    """Read types that commas stand between, outside of parentheses."""
    parts: list[str] = []
    depth = 0
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
        name: Its own name.
        signature: Such as ``strings.quote(string) -> string``.
        implementation: What is called with the values.
        guarded: Whether values of other types do not come to the implementation.
    """
    found = _FUNCTION.fullmatch(signature)
    assert found, signature
    called, arguments, result = found.groups()
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
    """Declare an overload that is called on a target.

    Args:
        name: Its own name.
        signature: Such as ``string.charAt(int) -> string``.
        implementation: What is called with the values, that of the target first.
        guarded: Whether values of other types do not come to the implementation.
    """
    found = _METHOD.fullmatch(signature)
    assert found, signature
    target, called, arguments, result = found.groups()
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
    """Put overloads together by the names of their functions."""
    found: dict[str, list[Overload]] = {}
    for overload in overloads:
        found.setdefault(overload.function, []).append(overload)
    return {name: tuple(each) for name, each in found.items()}
