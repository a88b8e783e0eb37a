"""How long a simulated pod runs, starts and ends, from its annotations."""

import math
import re
from collections.abc import Mapping
from typing import Final

from quaymaster._base.errors import QuaymasterError

__all__ = [
    "LONGEST_SECONDS",
    "NEVER",
    "RUN_SECONDS_ANNOTATION",
    "STARTUP_SECONDS_ANNOTATION",
    "TERMINATION_SECONDS_ANNOTATION",
    "RunTimeError",
    "parse_seconds",
    "run_seconds",
    "startup_seconds",
    "termination_seconds",
]

RUN_SECONDS_ANNOTATION: Final = "simulation.quaymaster.io/run-seconds"
"""On a pod of the in-memory cluster: how long it runs before it has succeeded.

Seconds (``90``, ``0.5``) or a Kubernetes duration (``90s``, ``5m``, ``1h30m``). Without
it a pod runs until it is deleted. With it a pod ends whatever its restart policy is.
"""

STARTUP_SECONDS_ANNOTATION: Final = "simulation.quaymaster.io/startup-seconds"
"""On a pod of the in-memory cluster: how long it needs until it can be ready.

A duration as for `RUN_SECONDS_ANNOTATION`, or ``never`` for a pod that never is ready.
"""

TERMINATION_SECONDS_ANNOTATION: Final = "simulation.quaymaster.io/termination-seconds"
"""On a pod of the in-memory cluster: how long it needs to end after its deletion.

A duration as for `RUN_SECONDS_ANNOTATION`. It ends at the end of its grace period at
the latest.
"""

NEVER: Final = "never"
"""The start-up time of a pod that never is ready."""

_UNITS: Final = {
    "ns": 1e-9,
    "us": 1e-6,
    "µs": 1e-6,
    "ms": 1e-3,
    "s": 1.0,
    "m": 60.0,
    "h": 3600.0,
}
LONGEST_SECONDS: Final = 9.2e9
"""The longest possible duration: 64 bits of nanoseconds."""
_NUMBER: Final = r"(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)"
_PART: Final = re.compile(rf"({_NUMBER})(ns|us|µs|ms|s|m|h)", re.ASCII)
_SECONDS: Final = re.compile(_NUMBER, re.ASCII)
_DURATION: Final = re.compile(rf"(?:{_NUMBER}(?:ns|us|µs|ms|s|m|h))+", re.ASCII)


class RunTimeError(QuaymasterError, ValueError):
    """The text of an annotation is not a duration.

    Attributes:
        text: The text.
    """

    def __init__(self, text: str, limit: str = "") -> None:
        super().__init__(
            f"expected seconds or a duration such as 90, 90s or 1h30m{limit}, "
            f"got {text!r}"
        )
        self.text = text


def run_seconds(annotations: Mapping[str, str]) -> float | None:
    """Return how long a pod with these annotations runs; None for ever.

    Raises:
        RunTimeError: The annotation is not a duration.
    """
    text = annotations.get(RUN_SECONDS_ANNOTATION)
    return None if text is None else parse_seconds(text)


def startup_seconds(annotations: Mapping[str, str]) -> float | None:
    """Return how long a pod needs to start; infinity for never, None for no value.

    Raises:
        RunTimeError: The annotation is not a duration.
    """
    text = annotations.get(STARTUP_SECONDS_ANNOTATION)
    if text is None:
        return None
    return math.inf if text.strip() == NEVER else parse_seconds(text)


def termination_seconds(annotations: Mapping[str, str]) -> float | None:
    """Return how long a pod needs to end, or None without an annotation.

    Raises:
        RunTimeError: The annotation is not a duration.
    """
    text = annotations.get(TERMINATION_SECONDS_ANNOTATION)
    return None if text is None else parse_seconds(text)


def parse_seconds(text: str) -> float:
    """Return the seconds of a number or a Kubernetes duration.

    Raises:
        RunTimeError: The text is not a duration.
    """
    stripped = text.strip()
    if _SECONDS.fullmatch(stripped):
        seconds = float(stripped)
    elif _DURATION.fullmatch(stripped):
        seconds = sum(float(n) * _UNITS[unit] for n, unit in _PART.findall(stripped))
    else:
        raise RunTimeError(text)
    if seconds > LONGEST_SECONDS:
        raise RunTimeError(text, " (up to 290 years)")
    return seconds
