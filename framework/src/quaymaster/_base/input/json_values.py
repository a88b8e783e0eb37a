"""Splits a JSON text into its values, without decoding the objects in them."""

import json
import mmap
import re
from typing import Final, NamedTuple, TypeAlias

import msgspec

__all__ = ["JsonError", "JsonText", "JsonValue", "head", "json_tree", "json_values"]

JsonText: TypeAlias = bytes | memoryview | msgspec.Raw

_TRAILING: Final = re.compile(r"trailing characters \(byte (\d+)\)")
_PLACE: Final = re.compile(r"(?:JSON is malformed: )?(.*) \(byte (\d+)\)")
_HALF_CHARACTER: Final = re.compile(
    rb"\\u[dD](?:[89aAbB][0-9a-fA-F]{2}(?!\\u[dD][c-fC-F])|[c-fC-F][0-9a-fA-F]{2})"
)
_BLANK: Final = re.compile(rb"\s*")
# kubectl and the API server write the fields in this order; other orders parse slower.
_HEAD: Final = re.compile(
    rb'\s*\{\s*"apiVersion"\s*:\s*"([^"\\]*)"\s*,\s*"kind"\s*:\s*"([^"\\]*)"\s*[,}]'
)


class JsonError(ValueError):
    """A text is not JSON: the message has line and column."""


class JsonValue(NamedTuple):
    """One value of a JSON text.

    Attributes:
        text: Its JSON.
        api_version: Its ``apiVersion``, or empty.
        kind: Its ``kind``, or empty.
        items: The JSON of each of its items, or None.
    """

    text: JsonText
    api_version: str = ""
    kind: str = ""
    items: list[msgspec.Raw] | None = None


class _Head(msgspec.Struct, gc=False, rename="camel"):
    api_version: str | None = None
    kind: str | None = None


class _List(_Head, gc=False, rename="camel"):
    items: list[msgspec.Raw] | None = None


_HEAD_DECODER: Final = msgspec.json.Decoder(_Head)
_LIST_DECODER: Final = msgspec.json.Decoder(_List)


def json_values(text: bytes | mmap.mmap) -> list[JsonValue]:
    """Split a text that has one or more JSON values after each other.

    Raises:
        JsonError: The text is not JSON.
    """
    view = memoryview(text)
    values: list[JsonValue] = []
    start = 0
    while start < len(view) or not values:
        length = _length(view[start:], view, start)
        values.append(_value(view[start : start + length]))
        start = _end_of_blank(view, start + length)
    return values


def head(text: JsonText) -> tuple[str, str]:
    """Return the ``apiVersion`` and ``kind`` of an object; empty if missing."""
    match = _HEAD.match(text)
    if match is not None:
        return match[1].decode(), match[2].decode()
    try:
        header = _HEAD_DECODER.decode(text)
    except msgspec.ValidationError:
        return "", ""
    return header.api_version or "", header.kind or ""


def json_tree(text: JsonText) -> object:
    """Read a JSON text as a tree; numbers beyond 64 bits are floats.

    Raises:
        ValueError: The text is not JSON.
        RecursionError: The text is nested too deeply.
    """
    try:
        return msgspec.json.decode(text)
    except msgspec.ValidationError:
        return json.loads(bytes(text), parse_int=float)


def _length(rest: memoryview, whole: memoryview, start: int) -> int:
    """Return the length of the first value, with the blanks around it."""
    try:
        msgspec.json.decode(rest, type=msgspec.Raw)
    except msgspec.DecodeError as error:
        trailing = _TRAILING.search(str(error))
        if trailing is None:
            raise JsonError(_describe(error, whole, start)) from error
        # msgspec names the byte after the first one that it did not expect.
        return int(trailing[1]) - 1
    return len(rest)


def _end_of_blank(text: memoryview, start: int) -> int:
    blank = _BLANK.match(text, start)
    return start if blank is None else blank.end()


def _value(text: memoryview) -> JsonValue:
    try:
        values = _LIST_DECODER.decode(text)
    except msgspec.ValidationError:  # an array, or fields of odd types
        return JsonValue(text)
    return JsonValue(text, values.api_version or "", values.kind or "", values.items)


def _describe(error: msgspec.DecodeError, text: memoryview, start: int) -> str:
    place = _PLACE.fullmatch(str(error))
    if place is None:
        # The decoder may join half a character with the text that follows it.
        half = _HALF_CHARACTER.search(text, start)
        return f"{half[0].decode()} is half a character" if half else str(error)
    before = bytes(text[: start + int(place[2])])
    line = before.count(b"\n") + 1
    column = len(before) - (before.rfind(b"\n") + 1) + 1
    return f"line {line}, column {column}: {place[1]}"
