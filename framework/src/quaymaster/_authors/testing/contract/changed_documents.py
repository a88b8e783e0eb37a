"""Other documents that a server may return instead of the usual one."""

import json
from collections.abc import Callable, Iterator, Mapping
from typing import Final

__all__ = ["changed_documents", "text_of"]

_INFINITE: Final = 1e400
_NO_JSON: Final = ("", "no JSON", "null", "[]", "{}", '""', "0", "true")

_OTHER_NUMBERS: Final[Mapping[str, Callable[[int | float], object]]] = {
    "numbers with fractions": lambda number: number + 0.5,
    "numbers as floats": float,
    "numbers as texts": str,
    "null instead of numbers": lambda _number: None,
    "true instead of numbers": lambda _number: True,
    "lists instead of numbers": lambda number: [number],
    "negative numbers": lambda number: -number - 1,
    "numbers that are 1,000 times as large": lambda number: number * 1_000,
    "numbers that are 1,000,000 times as large": lambda number: number * 1_000_000,
    "numbers that do not fit into 64 bits": lambda number: int(number) + 10**20,
    "numbers that Python reads as infinity": lambda _number: _INFINITE,
}
_OTHER_TEXTS: Final[Mapping[str, Callable[[str], object]]] = {
    "empty texts": lambda _text: "",
    "null instead of texts": lambda _text: None,
    "numbers instead of texts": lambda _text: 7,
}
_OTHER_PARTS: Final[Mapping[str, Callable[[object], object]]] = {
    "null instead of inner objects and lists": lambda _part: None,
    "empty inner objects and lists": lambda part: type(part)(),
    "lists instead of inner objects": lambda part: (
        list(part) if isinstance(part, dict) else part
    ),
    "inner objects without their first key": lambda part: _without(part, 0),
    "inner objects without their last key": lambda part: _without(part, -1),
}


def text_of(document: object) -> str:
    """Write a document as JSON."""
    return json.dumps(document).replace("Infinity", "1e400")


def changed_documents(document: object) -> Iterator[tuple[str, str]]:
    """Yield the texts of other documents, and what is different in each.

    Args:
        document: The usual document: dicts, lists, texts and numbers.
    """
    usual = text_of(document)
    yield from ((text, f"'{text}'") for text in _NO_JSON)
    yield usual[: len(usual) // 2], "the first half of a document"
    variants = {
        **{what: _numbers(document, of) for what, of in _OTHER_NUMBERS.items()},
        **{what: _texts(document, of) for what, of in _OTHER_TEXTS.items()},
        **{what: _parts(document, of) for what, of in _OTHER_PARTS.items()},
        "no first key": _without(document, 0),
        "no last key": _without(document, -1),
        "one more key": _with_one_more(document),
    }
    for what, variant in variants.items():
        text = text_of(variant)
        if text != usual:
            yield text, what


def _numbers(document: object, change: Callable[[int | float], object]) -> object:
    """Change all numbers."""

    def changed(value: object) -> object:
        if isinstance(value, int | float) and not isinstance(value, bool):
            return change(value)
        return value

    return _leaves(document, changed)


def _texts(document: object, change: Callable[[str], object]) -> object:
    """Change all texts, except keys."""
    return _leaves(
        document, lambda value: change(value) if isinstance(value, str) else value
    )


def _leaves(value: object, change: Callable[[object], object]) -> object:
    """Change all values that are neither objects nor lists."""
    if isinstance(value, dict):
        return {key: _leaves(part, change) for key, part in value.items()}
    if isinstance(value, list):
        return [_leaves(part, change) for part in value]
    return change(value)


def _parts(document: object, change: Callable[[object], object]) -> object:
    """Change the objects and lists that are directly inside a document."""

    def changed(part: object) -> object:
        return change(part) if isinstance(part, dict | list) else part

    if isinstance(document, dict):
        return {key: changed(part) for key, part in document.items()}
    if isinstance(document, list):
        return [changed(part) for part in document]
    return document


def _without(value: object, place: int) -> object:
    if not isinstance(value, dict) or not value:
        return value
    left_out = list(value)[place]
    return {key: part for key, part in value.items() if key != left_out}


def _with_one_more(value: object) -> object:
    if not isinstance(value, dict) or not value:
        return value
    return {**value, "no-such-name": next(iter(value.values()))}
