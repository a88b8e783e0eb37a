"""CPU seconds of processes, and the speed of this machine."""

import os
import time
from typing import Final

__all__ = [
    "LOOP_SECONDS",
    "calibration_loop",
    "charge",
    "crowding",
    "slowness",
    "spent",
]

LOOP_SECONDS: Final = 0.006
"""The seconds of `calibration_loop` on an idle machine of the kind that set the
budgets.
"""

_LOOPS: Final = 5


class _Elsewhere:
    """CPU seconds of processes that are not children of this one."""

    seconds = 0.0


def charge(seconds: float) -> None:
    """Add the seconds of a process that another one, such as a fork server, started."""
    _Elsewhere.seconds += seconds


def spent() -> float:
    """Return the CPU seconds of this process, and of the children that have ended."""
    times = os.times()
    children = times.children_user + times.children_system
    return time.process_time() + children + _Elsewhere.seconds


def calibration_loop() -> float:
    """Run a loop of what tests do, and return how many CPU seconds it took."""
    return sorted(_loop() for _ in range(_LOOPS))[_LOOPS // 2]


def _loop() -> float:
    start = time.process_time()
    counts: dict[str, int] = {}
    for name in [f"node-{number % 97}" for number in range(20_000)]:
        counts[name] = counts.get(name, 0) + len(name)
    sum(value * value for value in range(60_000))
    return time.process_time() - start


def slowness() -> float:
    """Return how many times slower this machine is than the budget's; at least 1."""
    return max(1.0, calibration_loop() / LOOP_SECONDS)


def crowding() -> float:
    """Return how many processes wanted each processor in the last minute; at least 1.

    This many times longer takes, by the clock, what needs a whole processor.
    """
    return max(1.0, os.getloadavg()[0] / (os.cpu_count() or 1))
