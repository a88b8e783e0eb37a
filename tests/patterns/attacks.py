"""Makes texts that are hard for one regular expression, from its syntax tree.

The engine of `re` backtracks. It takes longest where a text repeats what a repetition
of the pattern matches, and then breaks: each way to divide the text is tried. Such
texts are made of each repetition, of two of them in turn, and of the pattern's begin,
where a search starts again.
"""

import itertools
import re
from collections.abc import Iterator, Sequence
from re import (  # type: ignore[attr-defined]  # not in typeshed, as of Python 3.11
    _constants as codes,
)
from re import (  # type: ignore[attr-defined]  # not in typeshed, as of Python 3.11
    _parser,
)
from typing import Any, Final, NamedTuple, TypeAlias

__all__ = ["Attack", "attacks"]

Token: TypeAlias = Any
Tokens: TypeAlias = Sequence[tuple[Token, Token]]

_MOST_BODIES: Final = 5  # of which pairs are made
_BREAKS: Final = ("", "\0", "!", "\n", "a", " ", "\u00e9")
_CANDIDATES: Final = "a0-._/:% \t\nAzZ9~!\"'\\()[]{},=<>|&#*@+\u00b5\u00e9\0"
_MANY: Final = 4  # how many repetitions are counted as unbounded


class Attack(NamedTuple):
    """A text of any length: a begin, a part that is repeated, and an end.

    Attributes:
        begin: The begin.
        pump: The part that is repeated.
        end: The end.
    """

    begin: str
    pump: str
    end: str

    def text(self, length: int) -> str:
        """Return the text with about so many characters."""
        count = max(1, length // len(self.pump))
        return self.begin + self.pump * count + self.end


def attacks(pattern: str, flags: int) -> Iterator[Attack]:
    """Make the texts for a pattern, each one once.

    Args:
        pattern: The pattern.
        flags: Its flags, as in `re.compile`.
    """
    tree = _parser.parse(pattern, flags)
    begin = _sample(tree)
    pumps = dict.fromkeys(_pumps(tree, ""))
    pairs = [(start, pump) for start, pump in pumps if pump]
    texts = dict.fromkeys(
        Attack(start, pump, end) for start, pump in pairs for end in _BREAKS
    )
    bodies = list(dict.fromkeys(pump for _, pump in pairs))[:_MOST_BODIES]
    for first, second in itertools.permutations(bodies, 2):
        texts[Attack("", first + second, "\0")] = None
        texts[Attack("", first * 20 + second, "\0")] = None
    for part in filter(None, (begin, begin[:-1], begin[:1])):
        texts[Attack("", part, "\0")] = None
        texts[Attack("", f"-{part}", "\0")] = None
        texts[Attack("", f"{part}\n", "")] = None
    yield from texts


def _pumps(tree: Tokens, before: str) -> Iterator[tuple[str, str]]:
    """Yield each repetition: a text that leads to it, and one that it repeats."""
    for code, value in tree:
        inner = list(_inner(code, value))
        if code in _REPEATS:
            _, most, body = value
            if most is codes.MAXREPEAT or most >= _MANY:
                yield before, _sample(body) or _any_of(body)
        for body in inner:
            yield from _pumps(body, before)
        before += _sample([(code, value)])


_REPEATS: Final = frozenset(
    (codes.MAX_REPEAT, codes.MIN_REPEAT, codes.POSSESSIVE_REPEAT)
)


def _inner(code: Token, value: Token) -> Iterator[Tokens]:
    if code in _REPEATS:
        yield value[2]
    elif code is codes.SUBPATTERN:
        yield value[3]
    elif code is codes.ATOMIC_GROUP:
        yield value
    elif code is codes.BRANCH:
        yield from value[1]
    elif code in (codes.ASSERT, codes.ASSERT_NOT):
        yield value[1]


def _sample(tree: Tokens) -> str:
    """Return a short text that the tokens match, as far as that is easy."""
    return "".join(_sample_of(code, value) for code, value in tree)


def _sample_of(code: Token, value: Token) -> str:
    if code is codes.LITERAL:
        return chr(value)
    if code is codes.NOT_LITERAL:
        return "b" if value == ord("a") else "a"
    if code is codes.ANY:
        return "a"
    if code is codes.IN:
        return _member(value)
    if code is codes.BRANCH:
        branches: list[str] = [_sample(branch) for branch in value[1]]
        return max(branches, key=len)
    if code in _REPEATS:
        least, most, body = value
        count: int = max(least, min(1, most))
        return _sample(body) * count
    if code is codes.SUBPATTERN:
        return _sample(value[3])
    return _sample(value) if code is codes.ATOMIC_GROUP else ""


def _member(members: Tokens) -> str:
    """Return a character of a set."""
    pattern = re.compile(_set_source(members))
    characters = (char for char in _CANDIDATES if pattern.fullmatch(char))
    return next(characters, "")


def _set_source(members: Tokens) -> str:
    parts: list[str] = []
    for code, value in members:
        if code is codes.NEGATE:
            parts.insert(0, "^")
        elif code is codes.LITERAL:
            parts.append(re.escape(chr(value)))
        elif code is codes.RANGE:
            parts.append(f"{re.escape(chr(value[0]))}-{re.escape(chr(value[1]))}")
        else:
            parts.append(_CATEGORIES[str(value)])
    return f"[{''.join(parts)}]"


_CATEGORIES: Final = {
    "CATEGORY_DIGIT": r"\d",
    "CATEGORY_NOT_DIGIT": r"\D",
    "CATEGORY_SPACE": r"\s",
    "CATEGORY_NOT_SPACE": r"\S",
    "CATEGORY_WORD": r"\w",
    "CATEGORY_NOT_WORD": r"\W",
}


def _any_of(tree: Tokens) -> str:
    """Return a text for a body whose sample is empty: it may match nothing."""
    for code, value in tree:
        for body in _inner(code, value):
            if text := _sample(body) or _any_of(body):
                return text
    return ""
