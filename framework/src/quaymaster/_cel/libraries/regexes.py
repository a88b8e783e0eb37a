"""Regular expressions as RE2 has them.

Mirrors ``pkg/cel/library/regex.go`` (k8s.io/apiserver v0.36) and ``matches`` of cel-go,
which use Go's ``regexp``.
"""

import functools
import re
from typing import Final

from quaymaster._cel.declarations import Overload, function, method
from quaymaster._cel.errors import CelEvaluationError
from quaymaster._cel.libraries.re2 import Re2Error, translated

__all__ = ["OVERLOADS", "PATTERN_ARGUMENTS", "prepared"]

PATTERN_ARGUMENTS: Final = {"matches": 1, "find": 1, "findAll": 1}
"""Which argument of a function is a pattern; the target is the first."""


@functools.lru_cache(maxsize=1024)
def prepared(pattern: str) -> re.Pattern[str]:
    """Compile a pattern.

    Raises:
        CelEvaluationError: It is none that RE2 has.
    """
    try:
        return re.compile(translated(pattern))
    except (Re2Error, re.error, OverflowError, RecursionError) as error:
        raise CelEvaluationError(f"error parsing regexp: {error}") from error


def _matches(text: str, pattern: str) -> bool:
    return prepared(pattern).search(text) is not None


def _find(text: str, pattern: str) -> str:
    found = prepared(pattern).search(text)
    return found.group() if found else ""


def _find_all(text: str, pattern: str, most: int = -1) -> list[str]:
    found: list[str] = []
    end = -1
    for match in prepared(pattern).finditer(text):
        if len(found) == most:
            break
        # An empty match right behind another one does not count.
        if match.end() != match.start() or match.start() != end:
            found.append(match.group())
        end = match.end()
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
