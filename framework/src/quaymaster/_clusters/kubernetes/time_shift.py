"""Moves all times of objects by the same number of seconds."""

import re
from collections.abc import Iterable, Iterator
from typing import Any, Final, TypeAlias

import attrs

from quaymaster._api.objects.time import Time
from quaymaster._base.errors import TimeError
from quaymaster._core.contract.clock import VIRTUAL_START

__all__ = ["TimeShift", "times_in"]

Tree: TypeAlias = dict[str, Any]

_FORM: Final = re.compile(
    r"\d{4}-\d\d-\d\d[Tt]\d\d:\d\d:\d\d(\.\d+)?([Zz]|[+-]\d\d:\d\d)"
)
_LONGEST: Final = 40  # characters
_DAY: Final = 86_400
_LEAST_DAYS: Final = 30
_MOST_DAYS: Final = 1_000
_BYTES: Final = 8


@attrs.frozen
class TimeShift:
    """The number of seconds by which all times move.

    Attributes:
        seconds: The number.
    """

    seconds: int

    @classmethod
    def of(cls, texts: Iterable[str], secret: bytes) -> "TimeShift":
        """Make a shift from a secret, which moves times by 30 to 1,000 days.

        Simulations begin at one moment, see `VirtualClock`. Times move away from it, as
        long as all are on the same side of it: those in the past stay there.

        Args:
            texts: All times.
            secret: At least eight bytes that readers of the objects cannot guess.
        """
        room = (_MOST_DAYS - _LEAST_DAYS) * _DAY
        seconds = _LEAST_DAYS * _DAY + int.from_bytes(secret[:_BYTES]) % room
        newest = max(map(Time.parse, texts), default=0.0)
        return cls(-seconds if newest < VIRTUAL_START else seconds)

    def shifted(self, text: str) -> str:
        """Return another time for a time, and any other text unchanged."""
        return str(Time(Time.parse(text) + self.seconds)) if _is_time(text) else text


def times_in(value: object) -> Iterator[str]:
    """Find all times in a tree: the texts in the form of RFC 3339."""
    if isinstance(value, str):
        if _is_time(value):
            yield value
    elif isinstance(value, dict):
        for item in value.values():
            yield from times_in(item)
    elif isinstance(value, list | tuple):
        for item in value:
            yield from times_in(item)


def _is_time(text: str) -> bool:
    if len(text) > _LONGEST or not _FORM.fullmatch(text):
        return False
    try:
        Time.parse(text)
    except TimeError:
        return False
    return True
