"""The metrics that a plugin has of its own."""

import enum
from typing import Protocol

from quaymaster._base.errors import QuaymasterError

__all__ = [
    "CounterMetric",
    "GaugeMetric",
    "HistogramMetric",
    "MetricError",
    "MetricKind",
]


class MetricKind(enum.StrEnum):
    """The type of a metric, as Prometheus names it."""

    COUNTER = "counter"
    GAUGE = "gauge"
    HISTOGRAM = "histogram"


class MetricError(QuaymasterError, ValueError):
    """A metric of a plugin has a wrong name, wrong labels or a wrong value.

    Attributes:
        plugin: The plugin's name.
        metric: The metric, as the plugin names it.
    """

    def __init__(self, plugin: str, metric: object, problem: str) -> None:
        super().__init__(f"plugin '{plugin}': metric {metric!r}: {problem}")
        self.plugin = plugin
        self.metric = metric


class CounterMetric(Protocol):
    """A number that only grows; `Handle.counter` makes it. Any thread may use it."""

    def add(self, amount: float = 1, /, **labels: str) -> None:
        """Count.

        Args:
            amount: How much to add; not negative.
            **labels: A value for each label of the metric.

        Raises:
            MetricError: The labels are not those of the metric, or the amount is wrong.
        """


class GaugeMetric(Protocol):
    """A number that grows and falls; `Handle.gauge` makes it. Any thread may use it."""

    def set(self, value: float, /, **labels: str) -> None:
        """Replace the number.

        Args:
            value: The number.
            **labels: A value for each label of the metric.

        Raises:
            MetricError: The labels are not those of the metric, or the value is none.
        """


class HistogramMetric(Protocol):
    """Counts numbers by size; `Handle.histogram` makes it. Any thread may use it."""

    def observe(self, value: float, /, **labels: str) -> None:
        """Count a number.

        Args:
            value: The number.
            **labels: A value for each label of the metric.

        Raises:
            MetricError: The labels are not those of the metric, or the value is none.
        """
