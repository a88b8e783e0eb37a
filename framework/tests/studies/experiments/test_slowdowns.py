"""The metric slowdown."""

from pathlib import Path

import attrs
import pytest

from quaymaster.experiments import (
    Arrival,
    ExperimentInput,
    InputContext,
    Workload,
    parse_experiment,
    run_cell,
)
from quaymaster.testing import make_node, make_pod

HEAD = """
apiVersion: simulation.quaymaster.io/v1alpha1
kind: Experiment
"""


@attrs.frozen(kw_only=True)
class Turns(ExperimentInput):
    """Pods that fill the node take turns; the last one never ends."""

    def make(self, context: InputContext) -> Workload:
        def arrival(name: str, team: str, stays: float | None) -> Arrival:
            pod = make_pod(name=name, labels={"team": team}, requests={"cpu": "2"})
            return Arrival(obj=pod, stays=stays)

        return Workload(
            objects=[make_node(name="n", capacity={"cpu": "2", "pods": "9"})],
            arrivals=[
                arrival("first", "red", 100.0),
                arrival("second", "blue", 50.0),
                arrival("third", "blue", 2.0),
                arrival("endless", "red", None),
            ],
        )

    def reads(self, folder: Path) -> list[Path]:
        return []


def values(parameters: str) -> dict[str, object]:
    text = f"""{HEAD}
inputs: [{{name: turns, use: "{__name__}:Turns"}}]
metrics: [{{name: slowdown, parameters: {parameters}}}]
"""
    [cell] = (experiment := parse_experiment(text)).cells
    return dict(run_cell(experiment, cell).values)


@pytest.mark.long
def test_slowdown_is_the_time_with_waiting_by_the_time_without() -> None:
    columns = values("{percentiles: [50]}")
    # (0 + 100) / 100, (100 + 50) / 50, (150 + 2) / 2
    assert columns["slowdown.mean"] == pytest.approx((1 + 3 + 76) / 3)
    assert columns["slowdown.max"] == 76
    assert columns["slowdown.p50"] == 3


@pytest.mark.long
def test_short_runs_count_as_the_bound() -> None:
    columns = values("{bound: 20}")
    assert columns["slowdown.bounded.max"] == pytest.approx(152 / 20)


@pytest.mark.long
def test_pods_that_have_not_ended_are_censored() -> None:
    columns = values("{}")
    assert columns["slowdown.pods"] == 3
    assert columns["slowdown.censored"] == 1


@pytest.mark.long
def test_columns_by_label() -> None:
    columns = values("{by: team, percentiles: []}")
    assert columns["slowdown.red.mean"] == 1
    assert columns["slowdown.blue.mean"] == pytest.approx((3 + 76) / 2)
    assert columns["slowdown.red.censored"] == 1


@pytest.mark.long
def test_columns_by_namespace() -> None:
    columns = values("{by: namespace, percentiles: []}")
    assert columns["slowdown.default.mean"] == columns["slowdown.mean"]
