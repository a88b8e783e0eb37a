"""Reads the scalars of YAML."""

import functools
import math
import re
from typing import Final, TypeAlias

from quaymaster._base.input.yaml.errors import Mark, error_at

__all__ = ["PREFIX", "WORDS", "Scalar", "key_text", "plain", "tagged"]

Scalar: TypeAlias = str | int | float | bool | None

WORDS: Final[dict[str, bool | None]] = {
    **dict.fromkeys(("", "~", "null", "Null", "NULL")),
    **{
        word: value
        for value, words in (
            (True, ("y", "yes", "true", "on")),
            (False, ("n", "no", "false", "off")),
        )
        for lower in words
        for word in (lower, lower.capitalize(), lower.upper())
    },
}
"""Unquoted texts that are booleans or nulls."""

_INTEGER: Final = re.compile(
    r"[-+]?(?:0[bB][01]+|0[xX][0-9a-fA-F]+|0[oO]?[0-7]+|0|[1-9][0-9]*)", re.ASCII
)
_FLOAT: Final = re.compile(
    r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?", re.ASCII
)
_NO_NUMBER: Final = re.compile(r"[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN)")
_BASES: Final = {"b": 2, "o": 8, "x": 16}

# Longer texts are strings: no real number is so long.
_LONGEST_NUMBER: Final = 100
_BEGINNINGS: Final = frozenset("+-.0123456789")  # of numbers that may have underscores

PREFIX: Final = "tag:yaml.org,2002:"
"""The prefix of YAML's own tags."""


def tagged(text: str, tag: str, mark: Mark | None) -> Scalar:
    """Read a scalar with a tag.

    Raises:
        YamlError: The scalar is not what the tag requires.
    """
    name = tag.removeprefix(PREFIX)
    if name in ("str", "timestamp"):
        return text
    value = plain(text)
    kind = {bool: "bool", int: "int", float: "float", str: "str"}.get(
        type(value), "null"
    )
    if name == "float" and isinstance(value, int):
        return float(value)
    if kind == name:
        return value
    raise error_at(f"cannot read {text!r} with the tag {tag}", mark)


def key_text(value: object) -> str | None:
    """Return a key as a string, as Kubernetes does; None if it cannot be a key."""
    if isinstance(value, str):
        return value
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return str(value)
    if isinstance(value, float):
        return format(value, "g")
    return None


@functools.lru_cache(maxsize=8192)
def plain(text: str) -> Scalar:
    """Read an unquoted scalar."""
    if text in WORDS:
        return WORDS[text]
    if len(text) > _LONGEST_NUMBER:
        return text
    digits = text.replace("_", "") if text[0] in _BEGINNINGS else text
    if _INTEGER.fullmatch(digits):
        value = _integer(digits)
        # In Go, numbers beyond 64 bits are floats.
        return value if -(2**63) <= value < 2**64 else float(value)
    if _FLOAT.fullmatch(digits):
        number = float(digits)
        # This happens: the beginning of a commit hash may be such as 3e52541.
        return text if math.isinf(number) else number
    if _NO_NUMBER.fullmatch(text):
        return float(text.replace(".", "", 1))
    return text


def _integer(text: str) -> int:
    sign = -1 if text[0] == "-" else 1
    digits = text.lstrip("+-").lower()
    if len(digits) == 1 or digits[0] != "0":
        return sign * int(digits)
    base = _BASES.get(digits[1])
    return sign * (int(digits, 8) if base is None else int(digits[2:], base))
