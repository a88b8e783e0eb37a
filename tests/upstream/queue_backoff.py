"""Plays the calls of tests to upstream's queues of pods in backoff."""

import math
import re
from collections.abc import Callable, Mapping
from typing import Final

from tests.kit.internals.queue import BackoffPolicy
from tests.kit.internals.testing import CallNotPlayedError, Json

__all__ = ["nanoseconds", "play_backoff_call"]


def play_backoff_call(call: Json) -> Json:
    """Play a call of `backoffQueue`, which has no state of its own here.

    Raises:
        CallNotPlayedError: It has no counterpart here.
    """
    return _PLAYS.get(call["call"].partition(".")[2], _not_in_record)(call)


def _not_in_record(_call: Json) -> Json:
    raise CallNotPlayedError(
        "the record lacks the attempts and the timestamp of the queued pod"
    )


def _popped_from_backoff(_call: Json) -> Json:
    raise CallNotPlayedError("a part of flushBackoffQCompleted, which is played")


def _duration(call: Json) -> Json:
    """Calculate a backoff; the rule is the same for nanoseconds and for seconds."""
    attempts, pods = call["in"]
    fields = call["before"]["fields"]
    initial, longest = map(nanoseconds, (fields[name] for name in _BACKOFFS))
    policy = BackoffPolicy(initial_seconds=initial, max_seconds=longest)
    length = math.floor(policy.duration(attempts, pods))
    is_longest = length == longest
    return {"results": [fields[_BACKOFFS[1]] if is_longest else f"{length:.0f}ns"]}


_BACKOFFS: Final = ("podInitialBackoff", "podMaxBackoff")
_UNITS: Final = {"ns": 1, "\u00b5s": 1e3, "ms": 1e6, "s": 1e9, "m": 60e9, "h": 3600e9}


def nanoseconds(text: str) -> float:
    """Read a duration of Go, which may be shorter than our configurations can have."""
    parts = re.findall(r"([\d.]+)(ns|\u00b5s|ms|s|m|h)", text)
    return sum(float(amount) * _UNITS[unit] for amount, unit in parts)


_PLAYS: Final[Mapping[str, Callable[[Json], Json]]] = {
    "calculateBackoffDuration": _duration,
    "popAllBackoffCompleted": _popped_from_backoff,
}
