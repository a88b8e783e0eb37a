"""The test cases of benchmark files.

Mirrors ``testCase`` and ``Workload`` of upstream's runner (Kubernetes v1.37,
``test/integration/scheduler_perf/scheduler_perf.go``).
"""

from collections.abc import Mapping
from typing import Final

import attrs

from quaymaster._core.config.fields import non_empty

__all__ = [
    "THROUGHPUT",
    "MetricLabel",
    "MetricsCollectorConfig",
    "TestCase",
    "ThresholdMetric",
    "WorkloadEntry",
]

THROUGHPUT: Final = "SchedulingThroughput"
"""Upstream's name for pods per second, which thresholds are for by default."""


@attrs.frozen(kw_only=True)
class MetricLabel:
    """The values of a label for which a metric is collected."""

    label: str = attrs.field(validator=non_empty())
    values: tuple[str, ...] = ()


@attrs.frozen(kw_only=True)
class MetricsCollectorConfig:
    """The metrics that upstream collects.

    Attributes:
        metrics: Metric -> the labels by which it is collected.
    """

    metrics: Mapping[str, tuple[MetricLabel, ...] | None] = {}


@attrs.frozen(kw_only=True)
class ThresholdMetric:
    """The figure that a threshold applies to.

    Attributes:
        name: The metric.
        labels: Its labels.
        data_bucket: The figure of the metric: ``Average``, ``Perc99``, ...
        expect_lower: Whether the threshold is a maximum instead of a minimum.
    """

    name: str = attrs.field(validator=non_empty())
    labels: Mapping[str, str] = {}
    data_bucket: str = attrs.field(validator=non_empty())
    expect_lower: bool = False

    @property
    def metric(self) -> str:
        """The metric and its figure, or the metric alone for its average."""
        if self.data_bucket == "Average":
            return self.name
        return f"{self.name} ({self.data_bucket})"


@attrs.frozen(kw_only=True)
class WorkloadEntry:
    """One size of a test case.

    Attributes:
        params: The values for the ``...Param`` fields of the operations.
        threshold: Pods per second, or a mapping by topic.
        threshold_metric_selector: The figure that the threshold is for, if it is not
            the one of the test case.
    """

    name: str = attrs.field(validator=non_empty())
    params: Mapping[str, object] = {}
    labels: tuple[str, ...] = ()
    feature_gates: Mapping[str, bool] = {}
    threshold: float | Mapping[str, float] = 0.0
    threshold_metric_selector: ThresholdMetric | None = None


@attrs.frozen(kw_only=True)
class TestCase:
    """A sequence of operations, and the sizes to run it in.

    Attributes:
        workload_template: The operations, as in the file.
        metrics_collector_config: The metrics that upstream collects.
        default_threshold_metric_selector: The figure that thresholds are for, by
            default pods per second.
    """

    # pytest collects classes with such names, but this class is not a test.
    __test__ = False

    name: str = attrs.field(validator=non_empty())
    feature_gates: Mapping[str, bool] = {}
    workload_template: tuple[Mapping[str, object], ...] = attrs.field(
        validator=non_empty()
    )
    workloads: tuple[WorkloadEntry, ...] = attrs.field(validator=non_empty())
    scheduler_config_path: str | None = None
    default_pod_template_path: str | None = None
    labels: tuple[str, ...] = ()
    metrics_collector_config: MetricsCollectorConfig | None = None
    default_threshold_metric_selector: ThresholdMetric | None = None

    @property
    def metrics(self) -> tuple[str, ...]:
        """The names of the collected metrics."""
        collector = self.metrics_collector_config
        return () if collector is None else tuple(collector.metrics)
