"""Describes the arguments of a plugin, field by field."""

import enum
import types
import typing
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

import attrs
import msgspec

from quaymaster._core.config.dump import plain
from quaymaster._core.config.records import RecordField, record_fields
from quaymaster._core.config.scalars import SCALARS

__all__ = ["Argument", "arguments_of"]

_LISTS: Final = (tuple, list, Sequence, frozenset, set)


@attrs.frozen(kw_only=True)
class Argument:
    """A field of a plugin's arguments, or of a nested class.

    Attributes:
        path: Its path in ``args``: ``scoringStrategy.resources[].name``.
        type: Its type, in words.
        default: Its default as one line of JSON; empty if there is none.
        required: Whether it must be set.
    """

    path: str
    type: str
    default: str
    required: bool


def arguments_of(args_class: type | None) -> Sequence[Argument]:
    """Describe the arguments of a plugin, and the fields inside of them.

    Args:
        args_class: The attrs class; None for a plugin without arguments.
    """
    return () if args_class is None else tuple(_described(args_class, "", ()))


def _described(record: type, path: str, above: tuple[type, ...]) -> Iterator[Argument]:
    for field in record_fields(record):
        here = f"{path}{field.key}"
        yield Argument(
            path=here,
            type=_words(field.type),
            default=_default(field),
            required=field.required,
        )
        inner, dots = _record_in(field.type)
        if inner is not None and inner not in above:
            yield from _described(inner, f"{here}{dots}.", (*above, record))


def _default(field: RecordField) -> str:
    default = field.default()
    if default is attrs.NOTHING or default is None:
        return ""
    return msgspec.json.encode(plain(default)).decode()


def _record_in(kind: object) -> tuple[type | None, str]:
    """Return the attrs class in a type, if any, and the path to its fields."""
    if isinstance(kind, type) and attrs.has(kind):
        return kind, ""
    brackets = "[]" if _is_list(kind) else ""
    for part in typing.get_args(kind):
        inner, dots = _record_in(part)
        if inner is not None:
            return inner, brackets + dots
    return None, ""


def _is_list(kind: object) -> bool:
    return typing.get_origin(kind) in _LISTS


def _words(kind: object) -> str:
    """Return a type in the words of a configuration file."""
    parts = typing.get_args(kind)
    if typing.get_origin(kind) in (typing.Union, types.UnionType):
        return " or ".join(_words(part) for part in parts if part is not type(None))
    if typing.get_origin(kind) is typing.Literal:
        return " | ".join(str(part) for part in parts)
    if _is_list(kind) or kind in _LISTS:
        return f"list of {_words(parts[0])}" if parts else "list"
    if typing.get_origin(kind) in (dict, Mapping):
        return f"mapping to {_words(parts[1])}"
    return _word(kind)


def _word(kind: object) -> str:
    if not isinstance(kind, type) or kind is object:
        return "anything"
    if issubclass(kind, enum.Enum):
        return " | ".join(str(member.value) for member in kind)
    if kind in SCALARS:
        return SCALARS[kind].expected.removeprefix("an ").removeprefix("a ")
    return "mapping" if attrs.has(kind) else kind.__name__
