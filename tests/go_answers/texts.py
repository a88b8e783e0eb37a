"""Random texts of each kind, as questions to the recorder."""

import random
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final, TypeAlias

from tests.go_answers.expressions import DEVICES, DRIVER, RULES
from tests.go_answers.grammar import Rules, text_of

__all__ = ["KINDS", "Question", "questions"]

Question: TypeAlias = dict[str, Any]
"""The kind and the text, and what the text is applied to."""

_SETS: Final[tuple[Mapping[str, str], ...]] = (
    {},
    {"a": "a"},
    {"a": "b", "b": "c"},
    {"app": "1", "zone": "a"},
    {"x.io/y": "10", "a": "c"},
    {"in": "a", "notin": "b"},
    {"A_b": "c", "zone": "10"},
)


def _often(*rules: str) -> tuple[str, ...]:
    """Return rules that are chosen six times as often as others."""
    return rules * 6


_SELECTORS: Final[Rules] = {
    "selector": (
        (*_often("<term>", "<term>,<term>", "<term> , <term>"), "<term>,", ",<term>"),
        (),
    ),
    "term": (
        (
            *_often("<key>", "!<key>", "<key> in (<values>)", "<key> notin (<values>)"),
            *_often("<key><sign><value>", "<key> <sign> <value>"),
            *("! <key>", "<key> In (<value>)", "<key> in <value>", "<key>in(<value>)"),
        ),
        (),
    ),
    "sign": ((*_often("=", "==", "!=", ">", "<"), "=!", "==="), ()),
    "values": ((*_often("<value>", "<value>,<value>"), "<value> , ", "", ","), ()),
    "key": (
        (
            *_often("a", "b", "app", "zone", "x.io/y", "A_b", "in", "notin"),
            *("a-", "-a", "a b", "", "5", "\u00e9", "x/y/z"),
        ),
        (),
    ),
    "value": (
        (
            *_often("a", "b", "c", "1", "", "10", "x_y", "a.b"),
            *("-x", "a b", "in", "\u00e9", "=", "!", "9" * 20),
        ),
        (),
    ),
}


def _number(chance: random.Random) -> str:
    digits = str(chance.randint(0, 10 ** chance.randint(0, 18)))
    fraction = str(chance.randint(0, 10 ** chance.randint(0, 12)))
    return chance.choice(
        (digits, f".{fraction}", f"{digits}.{fraction}", f"{digits}.", f"00{digits}")
    )


_SUFFIXES: Final = (
    *("", "m", "k", "M", "G", "T", "P", "E", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei"),
    *("n", "u", "e3", "E3", "e-3", "E-9", "e+2", "e10", "E18"),
    *("e", "K", "ki", "mi", "Mii", " ", "E2.5", "\u00b5", "i", "e+", "kk"),
)
_ODD: Final = ("", ".", "1.5.2", "1_000", "0x10", "NaN", "inf", "\u0661", "\uff11")


def _quantity(chance: random.Random) -> str:
    if chance.random() < 0.03:
        return chance.choice(_ODD)
    text = chance.choice(("", "", "+")) + _number(chance) + chance.choice(_SUFFIXES)
    return text if chance.random() < 0.95 else f" {text} "


_UNITS: Final = ("ns", "us", "\u00b5s", "\u03bcs", "ms", "s", "m", "h", "d", "", "S")


def _duration(chance: random.Random) -> str:
    parts = (
        _number(chance)[:8] + chance.choice(_UNITS) for _ in range(chance.randint(1, 3))
    )
    return chance.choice(("", "-", "+")) + "".join(parts)


def _selector(chance: random.Random) -> str:
    return text_of(_SELECTORS, "selector", 3, chance)


def _expression(chance: random.Random) -> str:
    return text_of(RULES, "bool", chance.randint(1, 3), chance)


_MAKERS: Final[Mapping[str, Callable[[random.Random], str]]] = {
    "quantity": _quantity,
    "duration": _duration,
    "selector": _selector,
    "expression": _expression,
}
KINDS: Final = tuple(_MAKERS)
"""The kinds of texts."""


def questions(kind: str, count: int, seed: int) -> Iterator[Question]:
    """Make questions of one kind, each text once.

    Args:
        kind: One of `KINDS`.
        count: How many texts are made.
        seed: Decides which.
    """
    chance = random.Random(seed)
    extra: Question = {}
    if kind == "selector":
        extra = {"sets": list(_SETS)}
    elif kind == "expression":
        extra = {"devices": [{"driver": DRIVER, **device} for device in DEVICES]}
    for text in dict.fromkeys(_MAKERS[kind](chance) for _ in range(count)):
        yield {"kind": kind, "text": text, **extra}
