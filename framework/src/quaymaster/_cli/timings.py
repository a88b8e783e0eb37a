"""Prints how long hooks took, for ``simulate --timings``."""

import time

from quaymaster._cli.output import print_line, print_table
from quaymaster._core.runtime.timings import HookTiming, HookTimings

__all__ = ["RunTimings"]

_COLUMNS = ("HOOK", "CALLS", "TOTAL", "SHARE", "P50", "P99")
_UNITS = ((1.0, "s"), (1e-3, "ms"), (1e-6, "us"), (1e-9, "ns"))


class RunTimings:
    """Measures the real time of a command from now on, and that of its hooks.

    Attributes:
        hooks: Measures the hooks; a scheduler's observer.
    """

    def __init__(self) -> None:
        self.hooks = HookTimings()
        self._begun = time.perf_counter()

    def document(self) -> dict[str, object]:
        """The times as plain data, in seconds; in the form of ``-o json``."""
        return {
            "run": self._seconds(),
            "calls": self.hooks.calls,
            "seconds": self.hooks.seconds,
            "hooks": [_document(hook) for hook in self.hooks.hooks()],
        }

    def print(self) -> None:
        """Print the times as a table, the costliest hook first."""
        seconds = self._seconds()
        print_line()
        # Plugin and hook share a column, so that a table fits 80 columns.
        print_table(_COLUMNS, map(_row, self.hooks.hooks()), sentences=["HOOK"])
        print_line()
        print_line(
            f"{self.hooks.calls} calls of hooks took {_brief(self.hooks.seconds)}, "
            f"the whole run {_brief(seconds)}"
        )

    def _seconds(self) -> float:
        return time.perf_counter() - self._begun


def _document(timing: HookTiming) -> dict[str, object]:
    return {
        "plugin": timing.plugin,
        "hook": timing.hook,
        "calls": timing.calls,
        "seconds": timing.seconds,
        "share": timing.share,
        "mean": timing.mean,
        "p50": timing.p50,
        "p99": timing.p99,
        "longest": timing.longest,
    }


def _row(timing: HookTiming) -> list[object]:
    name, share = f"{timing.plugin} {timing.hook}", f"{timing.share:.1%}"
    total, p50, p99 = map(_brief, (timing.seconds, timing.p50, timing.p99))
    return [name, timing.calls, total, share, p50, p99]


def _brief(seconds: float) -> str:
    """A time with three digits, such as ``12.3ms``."""
    scale, unit = next(
        (scale_and_unit for scale_and_unit in _UNITS if seconds >= scale_and_unit[0]),
        _UNITS[-1],
    )
    return f"{seconds / scale:#.3g}".rstrip(".") + unit
