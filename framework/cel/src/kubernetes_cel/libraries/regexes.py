"""Regular expressions as RE2 has them.

Mirrors ``pkg/cel/library/regex.go`` (k8s.io/apiserver v0.36) and ``matches`` of cel-go,
which use Go's ``regexp``.
"""

import functools
import re
from collections.abc import Callable, Iterator
from typing import Final

from kubernetes_cel.declarations import Overload, function, method
from kubernetes_cel.errors import CelEvaluationError
from kubernetes_cel.libraries.linear import LinearPattern, needs_linear_time
from kubernetes_cel.libraries.re2 import Re2Error, translated

__all__ = ["OVERLOADS", "PATTERN_ARGUMENTS", "prepared"]

PATTERN_ARGUMENTS: Final = {"matches": 1, "find": 1, "findAll": 1}
"""Which argument of a function is a pattern; the target is the first."""


_Spans = Callable[[str], Iterator[tuple[int, int]]]


@functools.lru_cache(maxsize=1024)
def prepared(pattern: str) -> _Spans:
    """Compile a pattern.

    Returns:
        What names the places in a text where matches begin and end, from left to right.

    Raises:
        CelEvaluationError: It is none that RE2 has.
    """
    try:
        text = translated(pattern)
        compiled = re.compile(text)
        if needs_linear_time(text):
            return LinearPattern(text).spans
        return functools.partial(_spans, compiled)
    except (Re2Error, re.error, OverflowError, RecursionError) as error:
        raise CelEvaluationError(f"error parsing regexp: {error}") from error


def _spans(pattern: re.Pattern[str], text: str) -> Iterator[tuple[int, int]]:
    """Search as Go does: nothing else is looked for where a match is empty."""
    at = 0
    while at <= len(text) and (found := pattern.search(text, at)):
        start, end = found.span()
        yield start, end
        at = end + (start == end)


def _matches(text: str, pattern: str) -> bool:
    return next(prepared(pattern)(text), None) is not None


def _find(text: str, pattern: str) -> str:
    for start, end in prepared(pattern)(text):
        return text[start:end]
    return ""


def _find_all(text: str, pattern: str, most: int = -1) -> list[str]:
    found: list[str] = []
    before = -1
    for start, end in prepared(pattern)(text):
        if len(found) == most:
            break
        # An empty match right behind another one does not count.
        if start != end or start != before:
            found.append(text[start:end])
        before = end
    return found


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
