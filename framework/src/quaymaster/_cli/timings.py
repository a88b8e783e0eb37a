"""Prints how long hooks took and what plugins counted, for ``simulate --timings``."""

import time
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Final

import attrs

from quaymaster._cli.columns import Column, Columns
from quaymaster._cli.output import print_line
from quaymaster._cli.tables import Fit
from quaymaster._core.runtime.measures import Measured
from quaymaster._core.runtime.plugin_metrics import PluginMetric
from quaymaster._core.runtime.timings import HookTiming, HookTimings

if TYPE_CHECKING:
    from quaymaster._studies.simulation.run import Simulation

__all__ = ["RunTimings"]

_UNITS = ((1.0, "s"), (1e-3, "ms"), (1e-6, "us"), (1e-9, "ns"))


class RunTimings:
    """Measures the real time of a command from now on, and that of its hooks.

    It is an observer of one simulation, of which it keeps the metrics of plugins.

    Attributes:
        hooks: Measures the hooks; a scheduler's observer.
    """

    def __init__(self) -> None:
        self.hooks = HookTimings()
        self._metrics: Sequence[PluginMetric] = ()
        self._begun = time.perf_counter()

    def begin(self, _simulation: "Simulation", /) -> None:
        """Do nothing: the metrics are read at the end."""

    def end(self, simulation: "Simulation", _error: BaseException | None, /) -> None:
        """Keep the metrics of the plugins."""
        self._metrics = simulation.scheduler.plugin_metrics()

    def document(self) -> dict[str, object]:
        """The times as plain data, in seconds; in the form of ``-o json``."""
        return {
            "run": self._seconds(),
            "calls": self.hooks.calls,
            "seconds": self.hooks.seconds,
            "hooks": _HOOKS.documents(self.hooks.hooks()),
            "pluginMetrics": [_series_document(series) for series in self._series()],
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
        series = list(self._series())
        if series:
            print_line()
            _SERIES.print(series)

    def _series(self) -> Iterator["_Series"]:
        for metric in self._metrics:
            for labels, value in sorted(metric.values.items()):
                named = dict(zip(metric.labels, labels, strict=True))
                yield _Series(metric=metric, labels=named, value=value)

    def _seconds(self) -> float:
        return time.perf_counter() - self._begun


@attrs.frozen(kw_only=True)
class _Series:
    """One number of a metric of a plugin."""

    metric: PluginMetric
    labels: dict[str, str]
    value: float | Measured

    @property
    def name(self) -> str:
        """The metric with its labels, as on ``/metrics``."""
        pairs = ", ".join(f'{key}="{value}"' for key, value in self.labels.items())
        return f"{self.metric.name}{{{pairs}}}"

    @property
    def text(self) -> str:
        """The number; for a histogram the count and the mean."""
        value = self.value
        if not isinstance(value, Measured):
            return f"{value:g}"
        count = sum(value.counts)
        return f"{count}, mean {value.total / count:.3g}" if count else "0"


def _series_document(series: _Series) -> dict[str, object]:
    """Return one number of a metric as plain data."""
    metric, value = series.metric, series.value
    document: dict[str, object] = {
        "name": metric.name,
        "plugin": metric.plugin,
        "kind": metric.kind.value,
        "labels": series.labels,
    }
    if not isinstance(value, Measured):
        return {**document, "value": value, "count": None, "buckets": None}
    bounds = [*metric.bounds, None]
    buckets = [
        {"upTo": bound, "count": count}
        for bound, count in zip(bounds, value.counts, strict=True)
    ]
    count = sum(value.counts)
    return {**document, "value": value.total, "count": count, "buckets": buckets}


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
_SERIES: Final = Columns[_Series](
    Column(heading="Metric", value=lambda series: series.name, fit=Fit.NAME),
    Column(heading="Value", value=lambda series: series.text),
)
