"""Regular expressions, in time that is linear in the length of the text.

Mirrors ``pkg/cel/library/regex.go`` (k8s.io/apiserver v0.36) and cel-go's ``matches``,
which use Go's ``regexp``. Go and RE2 search in linear time, whatever the pattern.
Python's do not: a tenant can write a pattern for which Python searches for ever.
"""

import functools
import re
from collections.abc import Iterator
from typing import Final, Protocol

import attrs
import re2  # type: ignore[import-untyped]  # has no types

from kubernetes_cel.declarations import Overload, function, method
from kubernetes_cel.errors import CelEvaluationError
from kubernetes_cel.libraries.regex_syntax import RegexSyntaxError, re2_pattern

__all__ = ["OVERLOADS", "PATTERN_ARGUMENTS", "Pattern", "prepared"]

PATTERN_ARGUMENTS: Final = {"matches": 1, "find": 1, "findAll": 1}
"""Which argument of a function is a pattern; the target is the first."""
_SURROGATES: Final = re.compile("[\ud800-\udfff]")
_MEMORY: Final = (512 * 1024, 8 * 1024 * 1024)
"""Bytes that a pattern may use: most need the first; RE2 allows the second.

Go allows some 100 MB. Such a pattern would take seconds to compile, so it is rejected.
"""
_KEPT: Final = (256, 16)
"""Compiled patterns that are kept of either size; both together take up to 256 MB."""
_LARGEST_SEARCH: Final = 200_000_000
"""States of a pattern times bytes of a text, for one search: seconds at worst.

Upstream's cost estimates do not limit this, so upstream can take longer.
"""
_LARGEST_SEARCHES: Final = 10 * _LARGEST_SEARCH
"""The same for ``findAll``, which searches again behind each match."""


class _Match(Protocol):
    """A match of RE2."""

    def span(self) -> tuple[int, int]:
        """Return where the match begins and ends."""


class _Compiled(Protocol):
    """A pattern that RE2 has compiled."""

    programsize: int

    def search(self, text: bytes, pos: int) -> _Match | None:
        """Return the first match from a place on, if any."""


@attrs.frozen(eq=False)
class Pattern:
    """A compiled pattern."""

    _compiled: _Compiled

    def is_in(self, text: str) -> bool:
        """Return whether a text has a match."""
        return next(self.matches_in(text), None) is not None

    def matches_in(self, text: str) -> Iterator[str]:
        """Return the matches in a text from left to right, as Go's ``FindAll`` does."""
        data = _encoded(text)
        before = -1
        for start, end in self._spans(data):
            # An empty match right behind another one does not count.
            if start != end or start != before:
                yield data[start:end].decode()
            before = end

    def _spans(self, data: bytes) -> Iterator[tuple[int, int]]:
        self._check(len(data), _LARGEST_SEARCH)
        searched = at = 0
        while at <= len(data) and (match := self._compiled.search(data, at)):
            start, end = match.span()
            # RE2 finds the empty match of \B within a character, too.
            if start != end or not _is_within_character(data, start):
                yield start, end
            searched += len(data) - at
            self._check(searched, _LARGEST_SEARCHES)
            # After an empty match, the search goes on behind the next character, or it
            # would not end.
            at = end if start != end else _next_character(data, end)

    def _check(self, searched: int, limit: int) -> None:
        if searched * self._compiled.programsize > limit:
            raise CelEvaluationError(
                f"regular expression is too large to search a text of {searched} "
                "bytes for it"
            )


def prepared(pattern: str) -> Pattern:
    """Compile a pattern.

    Raises:
        CelEvaluationError: Go has no such pattern, or RE2 needs too much memory for it.
    """
    # Nearly all patterns compile in little memory, so that many of them can be kept.
    small = _small(pattern)
    return _large(pattern) if small is None else small


@functools.lru_cache(maxsize=_KEPT[0])
def _small(pattern: str) -> Pattern | None:
    return _compiled(pattern, _MEMORY[0])


@functools.lru_cache(maxsize=_KEPT[1])
def _large(pattern: str) -> Pattern:
    compiled = _compiled(pattern, _MEMORY[1])
    if compiled is None:
        raise CelEvaluationError(
            f"error parsing regexp: expression too large: `{pattern}`"
        )
    return compiled


def _compiled(pattern: str, memory: int) -> Pattern | None:
    """Compile a pattern, if RE2 can do so with a number of bytes."""
    options = re2.Options()
    options.max_mem = memory
    options.log_errors = False
    try:
        return Pattern(re2.compile(_encoded(re2_pattern(pattern)), options))
    except RegexSyntaxError as error:
        raise CelEvaluationError(f"error parsing regexp: {error}") from error
    # The syntax was checked before, so only the memory can be the reason.
    except re2.error:
        return None
    finally:
        # The module keeps 128 patterns of any size otherwise.
        re2.purge()


def _encoded(text: str) -> bytes:
    """Encode a text; lone surrogates are replaced as Go does."""
    return (text if text.isascii() else _SURROGATES.sub("\ufffd", text)).encode()


def _is_within_character(data: bytes, at: int) -> bool:
    return at < len(data) and data[at] & 0xC0 == 0x80


def _next_character(data: bytes, at: int) -> int:
    at += 1
    while _is_within_character(data, at):
        at += 1
    return at


def _matches(text: str, pattern: str) -> bool:
    return prepared(pattern).is_in(text)


def _find(text: str, pattern: str) -> str:
    return next(prepared(pattern).matches_in(text), "")


def _find_all(text: str, pattern: str, most: int = -1) -> list[str]:
    matches: list[str] = []
    for match in prepared(pattern).matches_in(text):
        if len(matches) == most:
            break
        matches.append(match)
    return matches


OVERLOADS: Final[tuple[Overload, ...]] = (
    function("matches", "matches(string, string) -> bool", _matches),
    method("matches_string", "string.matches(string) -> bool", _matches),
    method("string_find_string", "string.find(string) -> string", _find),
    method(
        "string_find_all_string", "string.findAll(string) -> list(string)", _find_all
    ),
    method(
        "string_find_all_string_int",
        "string.findAll(string, int) -> list(string)",
        _find_all,
    ),
)
