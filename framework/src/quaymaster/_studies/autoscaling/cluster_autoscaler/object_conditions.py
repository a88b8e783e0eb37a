"""The conditions of buffers and provisioning requests.

Mirrors ``SetStatusCondition`` (k8s.io/apimachinery v0.37,
``pkg/api/meta/conditions.go``).
"""

from collections.abc import Iterable

from msgspec.structs import replace

from quaymaster._api.objects.meta import ApiValue
from quaymaster._api.objects.numbers import Int64
from quaymaster._api.objects.time import Time

__all__ = [
    "Condition",
    "condition_at",
    "condition_of",
    "is_false",
    "is_true",
    "with_condition",
]


class Condition(ApiValue, frozen=True, kw_only=True):
    """A condition of an object, of which there is one of each type."""

    type: str = ""
    status: str = ""
    reason: str = ""
    message: str = ""
    observed_generation: Int64 = 0
    last_transition_time: Time | None = None


def condition_at(
    now: float, name: str, status: str, reason: str, message: str, generation: int = 0
) -> Condition:
    """Return a condition that begins now.

    Args:
        now: The time, in seconds since the epoch.
        name: Its type.
        status: ``True``, ``False`` or ``Unknown``.
        reason: The reason, in one word.
        message: The reason, in words.
        generation: The generation of the object that it is about; 0 if none is given.
    """
    return Condition(
        type=name,
        status=status,
        reason=reason,
        message=message,
        observed_generation=generation,
        last_transition_time=Time(now),
    )


def condition_of(conditions: Iterable[Condition], name: str) -> Condition | None:
    """Return the condition of a type, or None."""
    return next((each for each in conditions if each.type == name), None)


def is_true(conditions: Iterable[Condition], name: str) -> bool:
    """Return whether a condition is there, and true."""
    return _status_of(conditions, name) == "True"


def is_false(conditions: Iterable[Condition], name: str) -> bool:
    """Return whether a condition is there, and false."""
    return _status_of(conditions, name) == "False"


def with_condition(
    conditions: tuple[Condition, ...], new: Condition, *, keeps_time: bool
) -> tuple[Condition, ...]:
    """Return conditions with a new one in the place of that of its type.

    Args:
        conditions: The conditions.
        new: The new one.
        keeps_time: Whether the time stays if the status does.
    """
    old = condition_of(conditions, new.type)
    if old is None:
        return (*conditions, new)
    if keeps_time and old.status == new.status:
        new = replace(new, last_transition_time=old.last_transition_time)
    return tuple(new if each.type == new.type else each for each in conditions)


def _status_of(conditions: Iterable[Condition], name: str) -> str:
    condition = condition_of(conditions, name)
    return "" if condition is None else condition.status
