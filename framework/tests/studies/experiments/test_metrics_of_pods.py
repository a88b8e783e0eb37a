"""Metrics say what they count, and which pods they leave out."""

from importlib.metadata import entry_points

import pytest

from quaymaster.experiments import Column, RunResult, parse_experiment, run_cell
from tests.kit.experiments import Ships

HEAD = "apiVersion: simulation.quaymaster.io/v1alpha1\nkind: Experiment\n"
METRICS = [
    (point.name, metric)
    for point in sorted(entry_points(group="quaymaster.experiment_metrics"))
    if (metric := point.load()).columns
]


def run_of(parameters: str, metrics: str) -> RunResult:
    experiment = parse_experiment(
        f"{HEAD}inputs: [{{name: ships, use: '{Ships.__module__}:Ships', "
        f"parameters: {parameters}}}]\nmetrics: [{metrics}]\n"
    )
    [cell] = experiment.cells
    return run_cell(experiment, cell)


@pytest.mark.long
def test_pods_that_wait_for_ever_are_censored() -> None:
    values = run_of("{pods: 10, gap: 60.0}", "{name: wait}").values
    assert values["wait.max"] == values["wait.p99"] == 0.0
    assert values["wait.censored"] == 8
    # The third pod has waited since 120 s, and the last one arrived at 540 s.
    at_least = values["wait.max.at_least"]
    assert isinstance(at_least, float)
    assert at_least >= 420.0
    mean = values["wait.mean.at_least"]
    assert isinstance(mean, float)
    assert 0.0 < mean < at_least


@pytest.mark.long
def test_without_waiting_pods_the_bounds_are_the_waits() -> None:
    values = run_of("{pods: 3, stays: 100.0}", "{name: wait}").values
    assert values["wait.censored"] == values["wait.deleted"] == 0
    for name in ("mean", "max", "p50", "p90", "p99"):
        assert values[f"wait.{name}"] == values[f"wait.{name}.at_least"]


@pytest.mark.long
def test_pods_that_are_turned_away_have_no_wait() -> None:
    values = run_of("{pods: 5, turnAway: true}", "{name: wait}, {name: placed}").values
    assert (values["wait.censored"], values["wait.deleted"]) == (0, 3)
    assert (values["placed.pods"], values["placed.pending"]) == (5, 0)


@pytest.mark.long
def test_preempted_pods_are_placed_and_lost() -> None:
    values = run_of("{pods: 10, gap: 60.0, priority: 10}", "{name: placed}").values
    assert values["placed"] == values["placed.pods"] == 10
    assert (values["placed.standing"], values["placed.lost"]) == (2, 8)


@pytest.mark.long
def test_pods_that_have_succeeded_are_completed() -> None:
    values = run_of("{pods: 4, stays: 100.0}", "{name: placed}").values
    assert (values["placed.completed"], values["placed.standing"]) == (4, 0)
    assert values["placed.lost"] == 0


_PARAMETERS = {"energy": '{watts: {"": [100, 200]}, carbon: [400]}'}
"""The parameters of metrics that cannot do without."""


@pytest.mark.long
@pytest.mark.parametrize(("name", "metric"), METRICS, ids=[name for name, _ in METRICS])
def test_columns_of_described_metrics_are_described(name: str, metric: type) -> None:
    fields = _PARAMETERS.get(name, "{}")
    entry = f"{{name: {name}, parameters: {fields}}}"
    values = run_of("{pods: 3, stays: 100.0}", entry).values
    columns: tuple[Column, ...] = metric.columns  # type: ignore[attr-defined]
    for label in values:
        column = label.removeprefix(name).removeprefix(".")
        matching = [each for each in columns if each.is_named(column)]
        assert matching, label
    used = {column.name for column in columns}
    assert all(column.unit and column.formula for column in columns)
    assert {other for column in columns for other in column.leaves_out} <= used
