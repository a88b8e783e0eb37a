"""Renders metrics in Prometheus' text format, on request.

It needs the package prometheus-client, from the extra ``kubernetes``.
"""

import itertools
import logging
from collections.abc import Callable, Iterator, Mapping, Sequence
from http import HTTPStatus
from typing import Final

from prometheus_client import CollectorRegistry, ProcessCollector, generate_latest
from prometheus_client.core import (
    CounterMetricFamily,
    GaugeMetricFamily,
    HistogramMetricFamily,
    Metric,
)
from prometheus_client.registry import Collector
from prometheus_client.utils import floatToGoString

from quaymaster._core.runtime.measures import Labels, Measured
from quaymaster._core.runtime.plugin_metrics import PluginMetric
from quaymaster._surfaces.operation.engine_probe import (
    EngineBusyError,
    EngineIdleError,
    EngineProbe,
)
from quaymaster._surfaces.operation.families import FAMILIES, Family, Kind
from quaymaster._surfaces.operation.pages import Query, Reply
from quaymaster._surfaces.operation.readings import Readings

__all__ = ["metrics_page"]

_CONTENT_TYPE: Final = "text/plain; version=0.0.4; charset=utf-8"

_log = logging.getLogger(__name__)


def metrics_page(
    probe: EngineProbe,
    read: Callable[[], Readings],
    process_readings: Callable[[], Readings],
    read_plugins: Callable[[], Sequence[PluginMetric]] = tuple,
) -> Callable[[Query], Reply]:
    """Return the page of the metrics.

    If the engine does not respond, its metrics are left out. Those of the process and
    of its connections remain.

    Args:
        probe: Runs calls on the engine's thread.
        read: Reads the numbers of the scheduler; called on the engine's thread.
        process_readings: Returns all other numbers; called on any thread.
        read_plugins: Reads the metrics of plugins; called on the engine's thread.
    """

    def metrics() -> Iterator[Metric]:
        readings_now = dict(process_readings())
        plugins: Sequence[PluginMetric] = ()
        try:
            of_engine, plugins = probe.ask(lambda: (read(), read_plugins()))
            readings_now.update(of_engine)
        except EngineIdleError:
            pass
        except EngineBusyError as error:
            _log.warning("no metrics of the scheduler: %s", error)
        for family in FAMILIES.values():
            if family.name in readings_now:
                yield _metric(family, readings_now[family.name])
        for metric in plugins:
            yield _metric(_family_of(metric), metric.values)

    registry = CollectorRegistry()
    ProcessCollector(registry=registry)
    registry.register(_Collector(metrics))

    def page(_query: Query) -> Reply:
        return Reply(HTTPStatus.OK, generate_latest(registry), _CONTENT_TYPE)

    return page


class _Collector(Collector):
    def __init__(self, metrics: Callable[[], Iterator[Metric]]) -> None:
        self._metrics = metrics

    def describe(self) -> Iterator[Metric]:
        """Return nothing, so that the registry does not collect at registration."""
        return iter(())

    def collect(self) -> Iterator[Metric]:
        yield from self._metrics()


def _family_of(metric: PluginMetric) -> Family:
    kind = Kind(metric.kind.value)
    about = f"{metric.description} (plugin {metric.plugin})"
    return Family(metric.name, about, kind, metric.labels, metric.bounds)


def _metric(family: Family, values: Mapping[Labels, float | Measured]) -> Metric:
    if family.kind is Kind.HISTOGRAM:
        histogram = HistogramMetricFamily(
            family.name, family.help, labels=family.labels
        )
        for labels, value in sorted(values.items()):
            assert isinstance(value, Measured)
            histogram.add_metric(labels, _buckets(family, value), value.total)
        return histogram
    make = CounterMetricFamily if family.kind is Kind.COUNTER else GaugeMetricFamily
    metric = make(family.name, family.help, labels=family.labels)
    for labels, value in sorted(values.items()):
        assert not isinstance(value, Measured)
        metric.add_metric(labels, value)
    return metric


def _buckets(family: Family, value: Measured) -> list[tuple[str, float]]:
    bounds = [*map(floatToGoString, family.bounds), "+Inf"]
    return list(zip(bounds, itertools.accumulate(value.counts), strict=True))
