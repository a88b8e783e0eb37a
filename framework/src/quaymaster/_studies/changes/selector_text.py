"""Reads label selectors as kubectl takes them, such as ``pool=old,zone in (a, b)``."""

import re
from typing import Final

from quaymaster._api.objects import LabelSelector, LabelSelectorRequirement
from quaymaster._api.objects.selectors import Selector, compile_label_selector
from quaymaster._base.errors import SelectorError

__all__ = ["looks_like_selector", "read_selector"]

_COMMA: Final = re.compile(r",(?![^()]*\))")
_SET: Final = re.compile(r"(?P<key>\S+)\s+(?P<word>in|notin)\s*\((?P<values>[^()]*)\)")
_EQUAL: Final = re.compile(r"(?P<key>[^=!\s]+)\s*(?P<sign>==|=|!=)\s*(?P<value>[^=!]*)")
_EXPECTED: Final = "expected a selector such as pool=old or zone in (a, b)"


def looks_like_selector(text: str) -> bool:
    """Whether a text is a selector rather than a name."""
    return bool(re.search(r"[=!(),\s]", text))


def read_selector(text: str) -> Selector:
    """Read a selector.

    Raises:
        SelectorError: The text is none.
    """
    parts = [part.strip() for part in _COMMA.split(text)]
    conditions = tuple(_condition(part, text) for part in parts)
    return compile_label_selector(LabelSelector(match_expressions=conditions))


def _condition(part: str, text: str) -> LabelSelectorRequirement:
    found = _SET.fullmatch(part)
    if found:
        values = tuple(value.strip() for value in found["values"].split(","))
        operator = "In" if found["word"] == "in" else "NotIn"
        return LabelSelectorRequirement(
            key=found["key"], operator=operator, values=values
        )
    found = _EQUAL.fullmatch(part)
    if found:
        operator = "NotIn" if found["sign"] == "!=" else "In"
        values = (found["value"].strip(),)
        return LabelSelectorRequirement(
            key=found["key"], operator=operator, values=values
        )
    key = part.removeprefix("!").strip()
    if not key or re.search(r"[\s=!()]", key):
        raise SelectorError([f"{_EXPECTED}, got {text!r}"])
    operator = "DoesNotExist" if part.startswith("!") else "Exists"
    return LabelSelectorRequirement(key=key, operator=operator)
