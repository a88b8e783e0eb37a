"""Prints how long hooks took, for ``simulate --timings``."""

import time
from typing import Final

from quaymaster._cli.columns import Column, Columns
from quaymaster._cli.output import print_line
from quaymaster._cli.tables import Fit
from quaymaster._core.runtime.timings import HookTiming, HookTimings

__all__ = ["RunTimings"]

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
            "hooks": _HOOKS.documents(self.hooks.hooks()),
        }

    def print(self) -> None:
        """Print the times as a table, the costliest hook first."""
        seconds = self._seconds()
        print_line()
        _HOOKS.print(self.hooks.hooks())
        print_line()
        print_line(
            f"{self.hooks.calls} calls of hooks took {_brief(self.hooks.seconds)}, "
            f"the whole run {_brief(seconds)}"
        )

    def _seconds(self) -> float:
        return time.perf_counter() - self._begun


def _brief(seconds: float) -> str:
    """A time with three digits, such as ``12.3ms``."""
    scale, unit = next(
        (scale_and_unit for scale_and_unit in _UNITS if seconds >= scale_and_unit[0]),
        _UNITS[-1],
    )
    return f"{seconds / scale:#.3g}".rstrip(".") + unit


_HOOKS: Final = Columns[HookTiming](
    *("plugin", "hook"),
    # Plugin and hook share a column, so that a table fits 80 columns.
    Column(
        heading="Hook",
        value=lambda timing: f"{timing.plugin} {timing.hook}",
        fit=Fit.NAME,
    ),
    Column("calls"),
    Column("seconds", text=_brief, heading="Total"),
    Column("share", text="{:.1%}".format, importance=2),
    "mean",
    Column("p50", text=_brief, importance=1),
    Column("p99", text=_brief, importance=1),
    "longest",
)
