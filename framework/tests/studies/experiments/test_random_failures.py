"""Nodes that fail and return at random times in experiments."""

import math
from collections.abc import Mapping, Sequence, Set
from pathlib import Path

import attrs
import pytest

from quaymaster import Node
from quaymaster.experiments import (
    Arrival,
    Disruption,
    ExperimentErrors,
    ExperimentInput,
    InputContext,
    Measured,
    Metric,
    Workload,
    parse_experiment,
    run_cell,
)
from quaymaster.planning import FailNodes, RemoveNodes, ReturnNodes
from quaymaster.simulation import Run
from quaymaster.testing import make_node, make_pod

HOUR = 3600.0


@attrs.frozen(kw_only=True)
class Racks(ExperimentInput):
    """Nodes in two racks, and no pod."""

    nodes: int = 4
    disrupted: bool = False

    def make(self, context: InputContext) -> Workload:
        arrivals: list[Arrival | Disruption] = []
        if self.disrupted:
            arrivals = [
                Disruption(change=FailNodes(nodes="n0"), at=1 * HOUR),
                Disruption(change=RemoveNodes(nodes="n1"), at=2 * HOUR),
                Disruption(change=ReturnNodes(nodes="n0"), at=3 * HOUR),
                Arrival(obj=make_pod(name="late"), at=4 * HOUR),
            ]
        return Workload(objects=racks(self.nodes), arrivals=arrivals)

    def reads(self, folder: Path) -> list[Path]:
        return []


def racks(count: int) -> list[Node]:
    return [
        make_node(name=f"n{number}", labels={"rack": f"r{number % 2}"})
        for number in range(count)
    ]


def values(
    failures: str, fields: str = "horizon: 1000h", seed: int = 0, nodes: int = 4
) -> Mapping[str, object]:
    text = f"""
apiVersion: simulation.quaymaster.io/v1alpha1
kind: Experiment
seeds: [{seed}]
{fields}
nodeFailures: {failures}
inputs: [{{name: racks, use: "{__name__}:Racks", parameters: {{nodes: {nodes}}}}}]
metrics: [{{name: disruptions}}, {{name: log, use: "{__name__}:FailureLog"}}]
"""
    [cell] = (experiment := parse_experiment(text)).cells
    return run_cell(experiment, cell).values


@attrs.define(kw_only=True, eq=False)
class FailureLog(Metric):
    """When which node failed: `NODE SECONDS`, separated by commas."""

    _failed: Set[str] = attrs.field(init=False, factory=frozenset)
    _log: list[str] = attrs.field(init=False, factory=list)

    def time_passes(self, run: Run, _seconds: float) -> None:
        failed = run.simulation.lost_nodes.keys()
        self._log += [f"{name} {run.now}" for name in sorted(failed - self._failed)]
        self._failed = frozenset(failed)

    def end(self, _run: Run) -> Measured:
        return Measured(values={"": ",".join(self._log)})


def failures_of(
    failures: str, nodes: int, hours: float, seed: int = 0
) -> Mapping[str, Sequence[float]]:
    """Return the hours at which each node fails."""
    log = values(failures, f"horizon: {hours}h", seed, nodes)["log"]
    times: dict[str, list[float]] = {}
    for entry in str(log).split(","):
        name, seconds = entry.split()
        times.setdefault(name, []).append(float(seconds) / HOUR)
    return times


@pytest.mark.long
def test_exponential_failures_have_the_expected_number() -> None:
    """A node that works and is repaired is a Markov chain of two states."""
    nodes, horizon, mtbf, mttr = 40, 100.0, 10.0, 2.0
    times = failures_of("[{mtbf: 10h, mttr: 2h}]", nodes, horizon)
    failures = sum(map(len, times.values()))
    rate, repair = 1 / mtbf, 1 / mttr
    total = rate + repair
    settling = rate**2 / total**2 * (1 - math.exp(-total * horizon))
    expected = rate * repair * horizon / total + settling
    # The number of a node has a variance of at most its mean.
    assert abs(failures / nodes - expected) < 3 * math.sqrt(expected / nodes)


@pytest.mark.long
@pytest.mark.parametrize("shape", [0.7, 1.0, 3.0])
def test_operating_times_have_the_mean_and_the_variance_of_weibull(
    shape: float,
) -> None:
    nodes = 200
    failures = f"[{{mtbf: 10h, mttr: 10000h, shape: {shape}}}]"
    times = [first for first, *_ in failures_of(failures, nodes, 200).values()]
    scale = 10 / math.gamma(1 + 1 / shape)
    deviation = math.sqrt(scale**2 * math.gamma(1 + 2 / shape) - 100)
    assert len(times) == nodes
    mean = sum(times) / nodes
    assert abs(mean - 10) < 3 * deviation / math.sqrt(nodes)
    spread = math.sqrt(sum((time - mean) ** 2 for time in times) / nodes)
    assert spread == pytest.approx(deviation, rel=0.3)


@pytest.mark.long
def test_failures_depend_on_the_seed_and_not_on_other_nodes() -> None:
    failures = "[{mtbf: 10h, mttr: 2h}]"
    alone = failures_of(failures, 1, 100, seed=7)["n0"]
    # Times of a run are rounded to a microsecond.
    assert alone == pytest.approx(failures_of(failures, 4, 100, seed=7)["n0"])
    assert alone != pytest.approx(failures_of(failures, 1, 100, seed=8)["n0"])


@pytest.mark.long
def test_a_run_counts_failures_and_availability() -> None:
    columns = values("[{mtbf: 10h, mttr: 2h}]")
    again = values("[{mtbf: 10h, mttr: 2h}]")
    assert columns == again
    failures = columns["disruptions.failed_nodes"]
    assert isinstance(failures, int)
    # About 4 * 1000 / 12 failures.
    assert abs(failures - 333) < 3 * math.sqrt(333)
    assert columns["disruptions.availability"] == pytest.approx(10 / 12, abs=0.04)
    assert values("[{mtbf: 10h, mttr: 2h}]", seed=1) != columns


@pytest.mark.long
def test_warm_up_leaves_out_failures() -> None:
    all_of_it = values("[{mtbf: 10h, mttr: 2h}]")["disruptions.failed_nodes"]
    fields = "horizon: 1000h\nwarmUp: 500h"
    second_half = values("[{mtbf: 10h, mttr: 2h}]", fields)["disruptions.failed_nodes"]
    assert isinstance(all_of_it, int)
    assert isinstance(second_half, int)
    assert 0.4 * all_of_it < second_half < 0.6 * all_of_it


@pytest.mark.long
def test_nodes_of_a_rack_fail_together() -> None:
    times = failures_of("[{mtbf: 10h, mttr: 2h, together: rack}]", 4, 100)
    assert times["n0"] == times["n2"] != times["n1"]
    assert times["n1"] == times["n3"]
    times = failures_of("[{mtbf: 10h, mttr: 2h, nodes: rack=r1}]", 4, 100)
    assert times["n1"] != times["n3"]
    assert times.keys() == {"n1", "n3"}


@pytest.mark.long
def test_other_disruptions_of_the_same_nodes_are_no_conflict() -> None:
    text = f"""
apiVersion: simulation.quaymaster.io/v1alpha1
kind: Experiment
horizon: 100h
nodeFailures:
  - {{nodes: "rack=r0", mtbf: 1h, mttr: 1h}}
  - {{nodes: n1, mtbf: 1h, mttr: 1h, mode: Unreachable}}
inputs: [{{name: racks, use: "{__name__}:Racks", parameters: {{disrupted: true}}}}]
metrics: [{{name: disruptions}}, {{name: placed}}]
"""
    # The explicit return of `n0` may find it up: then that is a mistake of the input.
    experiment = parse_experiment(text.replace("rack=r0", "n2"))
    columns = run_cell(experiment, experiment.cells[0]).values
    assert columns["placed"] == 1
    failures = columns["disruptions.failed_nodes"]
    assert isinstance(failures, int)
    assert failures > 20


@pytest.mark.parametrize(
    ("failures", "fields", "message"),
    [
        ("[{mtbf: 1h, mttr: 1h}]", "", "horizon: expected a horizon"),
        ("[{mtbf: 0s, mttr: 1h}]", "horizon: 1h", r"mtbf: expected a duration"),
        ("[{mtbf: 1h}]", "horizon: 1h", "mttr"),
        ("[{mtbf: 1h, mttr: 1h, nodes: 'a in'}]", "horizon: 1h", "nodes: "),
        ("[{mtbf: 1h, mttr: 1h, shape: 0}]", "horizon: 1h", "shape: expected"),
    ],
    ids=["no horizon", "no time", "no repair", "no selector", "no shape"],
)
def test_mistakes_are_reported_at_load(
    failures: str, fields: str, message: str
) -> None:
    with pytest.raises(ExperimentErrors, match=message):
        values(failures, fields)
