"""The table of the metrics that plugins have of their own: one row for each series."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Final, TypeAlias

from quaymaster._core.runtime.measures import Labels, Measured
from quaymaster._core.runtime.plugin_metrics import PluginMetric
from quaymaster._studies.simulation.observed import ObservedRun
from quaymaster._surfaces.reporting.tables import ReportTable

__all__ = ["metric_tables"]

_TITLE: Final = "Metrics of plugins"
_COLUMNS: Final = ("Metric", "Labels", "Value")
_HISTOGRAM_COLUMNS: Final = ("Count", "Sum", "Mean")

_Row: TypeAlias = tuple[str | int | float | None, ...]


def metric_tables(runs: Sequence[ObservedRun]) -> Iterator[ReportTable]:
    """Yield a table for each run whose plugins have metrics of their own.

    Args:
        runs: The runs of a page.
    """
    for run in runs:
        rows = tuple(row for metric in run.metrics for row in _rows(metric))
        if not rows:
            continue
        columns: tuple[str, ...] = (*_COLUMNS, *_HISTOGRAM_COLUMNS)
        if not any(_has_histogram(metric.values) for metric in run.metrics):
            columns = _COLUMNS
        yield ReportTable(
            title=f"{_TITLE}, {run.name}" if run.name and len(runs) > 1 else _TITLE,
            columns=columns,
            rows=tuple(row[: len(columns)] for row in rows),
            is_last=True,
        )


def _has_histogram(values: Mapping[Labels, float | Measured]) -> bool:
    return any(isinstance(value, Measured) for value in values.values())


def _rows(metric: PluginMetric) -> Iterator[_Row]:
    for labels, value in sorted(metric.values.items()):
        pairs = zip(metric.labels, labels, strict=True)
        text = ", ".join(f'{name}="{label}"' for name, label in pairs)
        yield metric.name, text, *_numbers(value)


def _numbers(value: float | Measured) -> _Row:
    """Return the value, and the count, sum and mean of a histogram."""
    if not isinstance(value, Measured):
        return _rounded(value, 12), None, None, None
    count = sum(value.counts)
    mean = _rounded(value.total / count, 6) if count else None
    return None, count, _rounded(value.total, 12), mean


def _rounded(number: float, digits: int) -> float:
    """Drop the noise of sums of fractions, such as 0.30000000000000004."""
    return float(f"{number:.{digits}g}")
