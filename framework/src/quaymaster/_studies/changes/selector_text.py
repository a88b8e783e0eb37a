"""Reads label selectors like kubectl's, such as ``pool=old,zone in (a, b)``."""

import re
from collections.abc import Iterable, Iterator
from typing import Final

from quaymaster._api.objects import LabelSelector, LabelSelectorRequirement
from quaymaster._api.objects.requirements import NODE_OPERATORS, compile_requirements
from quaymaster._api.objects.selectors import Selector, compile_label_selector
from quaymaster._base.errors import SelectorError

__all__ = ["looks_like_selector", "read_selector"]

# Possessive, here and below: with backtracking, an unclosed parenthesis would make the
# time grow with the square of the length.
_PART: Final = re.compile(r"(?:[^,(]|\([^)]*(?:\)|\Z))*+")
_SET: Final = re.compile(r"(?P<key>\S+)\s+(?P<word>in|notin)\s*\((?P<values>[^()]*)\)")
_EQUAL: Final = re.compile(
    r"(?P<key>[^=!\s]+)\s*(?P<sign>==|=|!=)\s*+(?P<value>[^=!]*)"
)
_BOUND: Final = re.compile(r"(?P<key>[^=!<>\s]+)\s*(?P<sign>[<>])\s*(?P<value>\S*)")
_EXPECTED: Final = "expected a selector such as pool=old or zone in (a, b)"


def looks_like_selector(text: str) -> bool:
    """Whether a text is a selector rather than a name."""
    return bool(re.search(r"[=!<>(),\s]", text))


def read_selector(text: str) -> Selector:
    """Read a selector.

    Raises:
        SelectorError: The text is not a selector.
    """
    parts = [part.strip() for part in _parts(text)]
    bounds = [bound for part in parts if (bound := _BOUND.fullmatch(part))]
    conditions = tuple(
        _condition(part, text) for part in parts if not _BOUND.fullmatch(part)
    )
    selector = compile_label_selector(LabelSelector(match_expressions=conditions))
    return selector & _bounded(bounds)


def _parts(text: str) -> Iterator[str]:
    """Split a selector at the commas outside of parentheses."""
    at = 0
    while match := _PART.match(text, at):
        yield match[0]
        if match.end() == len(text):
            return
        at = match.end() + 1


def _bounded(bounds: Iterable[re.Match[str]]) -> Selector:
    """Compile conditions such as ``a>3``, which only selector texts may contain."""
    conditions = [
        LabelSelectorRequirement(
            key=bound["key"],
            operator="Gt" if bound["sign"] == ">" else "Lt",
            values=(bound["value"],),
        )
        for bound in bounds
    ]
    problems: list[str] = []
    requirements = compile_requirements(
        conditions, NODE_OPERATORS, "conditions", problems
    )
    if problems:
        raise SelectorError(problems)
    return Selector(requirements)


def _condition(part: str, text: str) -> LabelSelectorRequirement:
    match = _SET.fullmatch(part)
    if match:
        values = tuple(value.strip() for value in match["values"].split(","))
        operator = "In" if match["word"] == "in" else "NotIn"
        return LabelSelectorRequirement(
            key=match["key"], operator=operator, values=values
        )
    match = _EQUAL.fullmatch(part)
    if match:
        operator = "NotIn" if match["sign"] == "!=" else "In"
        values = (match["value"].strip(),)
        return LabelSelectorRequirement(
            key=match["key"], operator=operator, values=values
        )
    key = part.removeprefix("!").strip()
    if not key or re.search(r"[\s=!<>()]", key):
        raise SelectorError([f"{_EXPECTED}, got {text!r}"])
    operator = "DoesNotExist" if part.startswith("!") else "Exists"
    return LabelSelectorRequirement(key=key, operator=operator)
