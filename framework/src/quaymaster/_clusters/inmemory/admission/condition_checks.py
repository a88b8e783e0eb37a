"""Checks the conditions of a status.

Mirrors ``ValidateConditions`` (k8s.io/apimachinery v0.37,
``pkg/apis/meta/v1/validation/validation.go``).
"""

import re
from collections.abc import Iterator, Sequence
from typing import Final

from quaymaster._api.objects import Condition
from quaymaster._api.objects.report import Report
from quaymaster._clusters.inmemory.admission.field_errors import (
    duplicate,
    invalid,
    label_key,
    not_supported,
    required,
    too_long,
)

__all__ = ["check_conditions"]

_STATUSES: Final = ("False", "True", "Unknown")
_REASON: Final = "[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?"
_REASON_TEXT: Final = (
    "a condition reason must start with alphabetic character, optionally followed by a "
    "string of alphanumeric characters or '_,:', and must end with an alphanumeric "
    "character or '_' (e.g. 'my_name',  or 'MY_NAME',  or 'MyName',  or "
    "'ReasonA,ReasonB',  or 'ReasonA:ReasonB', regex used for validation is "
    f"'{_REASON}')"
)
_MAX_REASON: Final = 1024
_MAX_MESSAGE: Final = 32 * 1024


def check_conditions(
    conditions: Sequence[Condition], path: str, report: Report
) -> None:
    """Check conditions; no two may have the same type."""
    types: set[str] = set()
    for index, condition in enumerate(conditions):
        where = f"{path}[{index}]"
        if condition.type in types:
            report.add(where, duplicate(condition.type))
        types.add(condition.type)
        for field, message in _problems(condition):
            report.add(f"{where}.{field}", message)


def _problems(condition: Condition) -> Iterator[tuple[str, str]]:
    if not condition.type:
        yield "type", required("is required")
    for reason in label_key(condition.type) if condition.type else ():
        yield "type", invalid(condition.type, reason)
    if not condition.status:
        yield "status", required()
    elif condition.status not in _STATUSES:
        yield "status", not_supported(condition.status, _STATUSES)
    if condition.observed_generation < 0:
        detail = "must be greater than or equal to zero"
        yield "observedGeneration", invalid(condition.observed_generation, detail)
    if condition.last_transition_time is None:
        yield "lastTransitionTime", required()
    yield from _reason_problems(condition.reason)
    # Go's ``len`` counts bytes, and so must we: a message in Japanese reaches the limit
    # after a third of the characters.
    if len(condition.message.encode()) > _MAX_MESSAGE:
        yield "message", too_long(_MAX_MESSAGE)


def _reason_problems(reason: str) -> Iterator[tuple[str, str]]:
    if not reason:
        yield "reason", required()
        return
    if not re.fullmatch(_REASON, reason, re.ASCII):
        yield "reason", invalid(reason, _REASON_TEXT)
    # The pattern allows ASCII only, so characters are bytes here unless the pattern has
    # already failed.
    if len(reason) > _MAX_REASON:
        yield "reason", too_long(_MAX_REASON)
