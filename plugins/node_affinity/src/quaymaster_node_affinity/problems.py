"""Upstream's messages for preferences that cannot be evaluated.

The API server stores two kinds of them: a ``Gt`` or ``Lt`` with a value that is no
integer, and values that no label can have. Mirrors ``NewRequirement``
(k8s.io/apimachinery v0.36, ``pkg/labels/selector.go``) and
``NewPreferredSchedulingTerms`` (k8s.io/component-helpers v0.36).
"""

import json
import re
from collections.abc import Iterable, Iterator
from typing import Final

from quaymaster.objects import (
    NodeSelectorRequirement,
    PreferredSchedulingTerm,
    parse_int64,
)

__all__ = ["preference_problem"]

_LABEL: Final = re.compile(r"([A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?)?", re.ASCII)
_MAX_LENGTH: Final = 63
_TOO_LONG: Final = f"must be no more than {_MAX_LENGTH} bytes"
_NO_LABEL: Final = (
    "a valid label must be an empty string or consist of alphanumeric characters, '-', "
    "'_' or '.', and must start and end with an alphanumeric character (e.g. "
    "'MyValue',  or 'my_value',  or '12345', regex used for validation is "
    "'(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')"
)
_NO_INTEGER: Final = "for 'Gt', 'Lt' operators, the value must be an integer"


def preference_problem(terms: Iterable[PreferredSchedulingTerm]) -> str:
    """Return the message for preferences; empty if all of them can be evaluated."""
    found: dict[str, None] = {}
    for index, term in enumerate(terms):
        if not term.weight:
            continue
        for number, condition in enumerate(term.preference.match_expressions):
            path = f"[{index}].matchExpressions[{number}].values"
            found.update(dict.fromkeys(_problems_of(condition, path)))
    return next(iter(found)) if len(found) == 1 else _together(found)


def _together(problems: Iterable[str]) -> str:
    text = ", ".join(problems)
    return f"[{text}]" if text else ""


def _problems_of(condition: NodeSelectorRequirement, path: str) -> Iterator[str]:
    if condition.operator in ("Gt", "Lt"):
        for index, value in enumerate(condition.values):
            if parse_int64(value) is None:
                yield _invalid(f"{path}[{index}]", value, _NO_INTEGER)
    for index, value in enumerate(condition.values):
        reasons = "; ".join(_reasons(value))
        if reasons:
            yield _invalid(f"{path}[{index}][{condition.key}]", value, reasons)


def _reasons(value: str) -> Iterator[str]:
    """Say why a text cannot be the value of a label."""
    if len(value.encode()) > _MAX_LENGTH:
        yield _TOO_LONG
    if not _LABEL.fullmatch(value):
        yield _NO_LABEL


def _invalid(path: str, value: str, reason: str) -> str:
    return f"{path}: Invalid value: {json.dumps(value, ensure_ascii=False)}: {reason}"
