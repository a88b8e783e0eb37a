"""An observer that counts and times the calls of hooks."""

import math
from collections import Counter
from collections.abc import Sequence
from typing import Final

import attrs

from quaymaster._core.contract.hook_calls import HookCall

__all__ = ["HookTiming", "HookTimings"]

_STEPS: Final = 20
"""Steps per factor of e: a percentile is accurate to 2.5 %."""
_SHORTEST: Final = 1e-9
"""Shorter times count as this time; no clock is more accurate."""


@attrs.frozen(kw_only=True)
class HookTiming:
    """The durations of the calls of one hook of one plugin.

    Attributes:
        plugin: The plugin's name.
        hook: The hook.
        calls: The number of calls.
        seconds: Their total duration.
        share: Their part of the time of all hooks, from 0 to 1.
        p50: The median duration in seconds, accurate to 2.5 %.
        p99: The 99th percentile, in the same way.
        longest: The longest call, in seconds.
    """

    plugin: str
    hook: str
    calls: int
    seconds: float
    share: float
    p50: float
    p99: float
    longest: float

    @property
    def mean(self) -> float:
        """The mean of the calls, in seconds."""
        return self.seconds / self.calls


class HookTimings:
    """Measures the hooks of a scheduler; implements `HookObserver`.

    Its memory does not grow with the number of calls.
    """

    def __init__(self) -> None:
        self._hooks: dict[tuple[str, str], _Times] = {}

    def called(self, call: HookCall, /) -> None:
        """Count one call."""
        key = (call.plugin, call.hook)
        times = self._hooks.get(key)
        if times is None:
            times = self._hooks[key] = _Times()
        times.add(call.seconds)

    @property
    def calls(self) -> int:
        """The number of calls."""
        return sum(times.calls for times in self._hooks.values())

    @property
    def seconds(self) -> float:
        """The total duration of all calls."""
        return sum(times.seconds for times in self._hooks.values())

    def hooks(self) -> Sequence[HookTiming]:
        """Return each hook of each plugin that was called, the costliest first."""
        total = self.seconds
        timings = [
            HookTiming(
                plugin=plugin,
                hook=hook,
                calls=times.calls,
                seconds=times.seconds,
                share=times.seconds / total if total else 0.0,
                p50=times.percentile(0.50),
                p99=times.percentile(0.99),
                longest=times.longest,
            )
            for (plugin, hook), times in self._hooks.items()
        ]
        return sorted(
            timings, key=lambda timing: (-timing.seconds, timing.plugin, timing.hook)
        )


class _Times:
    """The times of one hook: a histogram with steps of equal ratio."""

    __slots__ = ("_steps", "calls", "longest", "seconds")

    def __init__(self) -> None:
        self.calls = 0
        self.seconds = 0.0
        self.longest = 0.0
        self._steps: Counter[int] = Counter()

    def add(self, seconds: float) -> None:
        self.calls += 1
        self.seconds += seconds
        self.longest = max(self.longest, seconds)
        # Steps of equal ratio: accurate for short and long calls with few counters.
        step = round(math.log(max(seconds, _SHORTEST)) * _STEPS)
        self._steps[step] += 1

    def percentile(self, part: float) -> float:
        rank = math.ceil(part * self.calls)
        calls = 0
        for step in sorted(self._steps):
            calls += self._steps[step]
            if calls >= rank:
                return min(math.exp(step / _STEPS), self.longest)
        return 0.0
