"""Reports have a table of the metrics that plugins have of their own."""

import attrs
import pytest

from quaymaster.reporting import report
from quaymaster.scheduler import PluginMetric
from quaymaster.simulation import ObservedRun, observe
from quaymaster.testing import make_node
from tests.kit.internals.contract import MetricKind
from tests.kit.internals.reporting import metric_tables
from tests.kit.internals.runtime import Measured
from tests.kit.report_pages import shown_by

CHECKS = PluginMetric(
    name="quaymaster_spot_price_checks_total",
    plugin="SpotPrice",
    kind=MetricKind.COUNTER,
    description="Nodes that were checked.",
    labels=("profile", "result"),
    bounds=(),
    values={("batch", "dear"): 2, ("batch", "cheap"): 0.1 + 0.2},
)
FETCHES = PluginMetric(
    name="quaymaster_spot_price_fetch_seconds",
    plugin="SpotPrice",
    kind=MetricKind.HISTOGRAM,
    description="How long a request took.",
    labels=("profile",),
    bounds=(1.0,),
    values={("batch",): Measured((2, 1), 2.5)},
)


def run_with(*metrics: PluginMetric, name: str = "") -> ObservedRun:
    return attrs.evolve(observe([make_node(name="n")], name=name), metrics=metrics)


def test_each_combination_of_labels_is_one_row() -> None:
    [table] = metric_tables([run_with(CHECKS)])
    assert table.columns == ("Metric", "Labels", "Value")
    assert table.rows == (
        (CHECKS.name, 'profile="batch", result="cheap"', 0.3),
        (CHECKS.name, 'profile="batch", result="dear"', 2),
    )


def test_histograms_have_their_count_sum_and_mean() -> None:
    [table] = metric_tables([run_with(CHECKS, FETCHES)])
    assert table.columns[3:] == ("Count", "Sum", "Mean")
    assert table.rows[0][3:] == (None, None, None)
    assert table.rows[2] == (FETCHES.name, 'profile="batch"', None, 3, 2.5, 0.833333)


def test_runs_without_metrics_have_no_table() -> None:
    assert list(metric_tables([run_with()])) == []
    assert list(metric_tables([run_with(attrs.evolve(CHECKS, values={}))])) == []


def test_each_of_several_runs_has_its_table() -> None:
    runs = [run_with(CHECKS, name="old"), run_with(FETCHES, name="new")]
    titles = [table.title for table in metric_tables(runs)]
    assert titles == ["Metrics of plugins, old", "Metrics of plugins, new"]


@pytest.mark.long
def test_labels_are_escaped_in_the_page() -> None:
    evil = "</script><script>alert(1)</script>"
    page = report(run_with(attrs.evolve(CHECKS, values={("batch", evil): 1})))
    assert evil not in page
    [table] = shown_by(page)["tables"]
    assert table["rows"] == [[CHECKS.name, f'profile="batch", result="{evil}"', 1]]
    assert table["last"]
