"""Values of literals: strings, bytes and numbers.

Mirrors ``parser/unescape.go`` (cel-go v0.26.0).
"""

import re
from collections.abc import Callable
from typing import Final

__all__ = ["bytes_value", "int_value", "string_value", "uint_value"]

_SIMPLE: Final = {
    "a": 7,
    "b": 8,
    "f": 12,
    "n": 10,
    "r": 13,
    "t": 9,
    "v": 11,
    "\\": 92,
    "'": 39,
    '"': 34,
    "`": 96,
    "?": 63,
}
_ESCAPE: Final = re.compile(
    r"\\(?:([abfnrtv\\'\"`?])|[xX]([0-9a-fA-F]{2})|u([0-9a-fA-F]{4})"
    r"|U([0-9a-fA-F]{8})|([0-3][0-7]{2}))"
)
_MAX_CODE_POINT: Final = 0x10FFFF
_LOW_SURROGATE, _HIGH_SURROGATE = 0xD800, 0xDFFF


def _body(text: str) -> tuple[str, bool]:
    """Return the text between the quotes, and whether it is raw."""
    # As ``newlineNormalizer`` (cel-go, parser/unescape.go).
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    raw = text[0] in "rR"
    if raw:
        text = text[1:]
    quotes = 3 if len(text) >= 6 and text[:3] in ("'''", '"""') else 1
    return text[quotes:-quotes], raw


def _code(match: re.Match[str]) -> int:
    simple, byte, short, long, octal = match.groups()
    if simple:
        return _SIMPLE[simple]
    if octal:
        return int(octal, 8)
    return int(byte or short or long, 16)


def string_value(text: str) -> str:
    """Return the value of a string literal.

    Raises:
        ValueError: An escape is not a character.
    """
    body, raw = _body(text)
    return body if raw else _ESCAPE.sub(_character, body)


def _character(match: re.Match[str]) -> str:
    code = _code(match)
    if code > _MAX_CODE_POINT or _LOW_SURROGATE <= code <= _HIGH_SURROGATE:
        raise ValueError("invalid unicode code point")
    return chr(code)


def bytes_value(text: str) -> bytes:
    """Return the value of a bytes literal, which includes its prefix.

    Raises:
        ValueError: An escape is a Unicode character, not a byte.
    """
    body, raw = _body(text[1:])
    if raw:
        return body.encode()
    parts: list[bytes] = []
    end = 0
    for match in _ESCAPE.finditer(body):
        # Escapes of code points are rejected in bytes; octal and hexadecimal escapes
        # are single bytes.
        if match[3] or match[4]:
            raise ValueError("unable to unescape string")
        parts += body[end : match.start()].encode(), bytes((_code(match),))
        end = match.end()
    return b"".join((*parts, body[end:].encode()))


def _in_range(low: int, high: int) -> Callable[[str], int]:
    def value(text: str) -> int:
        negative = text.startswith("-")
        digits = text[1:] if negative else text
        number = int(digits, 16 if digits.startswith("0x") else 10)
        number = -number if negative else number
        # The sign is part of the literal, since the smallest integer has no positive
        # counterpart.
        if not low <= number <= high:
            raise ValueError(f"{text} is out of range")
        return number

    return value


int_value: Final = _in_range(-(2**63), 2**63 - 1)
"""Return the value of an integer literal, which includes its sign."""

uint_value: Final = _in_range(0, 2**64 - 1)
"""Return the value of an unsigned integer literal, without its ``u``."""
