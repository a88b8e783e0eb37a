"""Horizon, warm-up, seeds of workloads and disruptions of experiments."""

from pathlib import Path

import attrs
import pytest

from quaymaster.experiments import (
    Arrival,
    Disruption,
    ExperimentErrors,
    ExperimentInput,
    InputContext,
    Workload,
    parse_experiment,
    run_cell,
)
from quaymaster.planning import Drain, FailNodes, ReturnNodes
from quaymaster.testing import make_node, make_pod

HEAD = """
apiVersion: simulation.quaymaster.io/v1alpha1
kind: Experiment
"""


@attrs.frozen(kw_only=True)
class Stream(ExperimentInput):
    """A pod a minute that runs for a minute, on one node of two CPUs."""

    pods: int = 10
    disrupted: bool = False
    seeded: bool = False

    def make(self, context: InputContext) -> Workload:
        capacity = {"cpu": "2", "memory": "4Gi", "pods": "9"}
        node = make_node(name="n", labels={"pool": "a"}, capacity=capacity)
        name = f"of-{context.seed}" if self.seeded else "pod"
        arrivals: list[Arrival | Disruption] = [
            Arrival(
                obj=make_pod(
                    name=f"{name}-{number}",
                    labels={"team": "red" if number % 2 else "blue"},
                    requests={"cpu": "1"},
                ),
                at=number * 60.0,
                stays=60.0,
            )
            for number in range(self.pods)
        ]
        if self.disrupted:
            arrivals += [
                Disruption(change=FailNodes(nodes="n"), at=90.0),
                Disruption(change=ReturnNodes(nodes="n"), at=210.0),
                Disruption(change=Drain(nodes="n"), at=270.0),
            ]
            arrivals.sort(key=lambda arrival: arrival.at)
        return Workload(objects=[node], arrivals=arrivals)

    def reads(self, folder: Path) -> list[Path]:
        return []


def values(metrics: str, fields: str = "", parameters: str = "{}") -> dict[str, object]:
    text = f"""{HEAD}{fields}
inputs: [{{name: stream, use: "{__name__}:Stream", parameters: {parameters}}}]
metrics: {metrics}
"""
    [cell] = (experiment := parse_experiment(text)).cells
    return dict(run_cell(experiment, cell).values)


@pytest.mark.long
def test_a_run_ends_at_its_horizon() -> None:
    columns = values("[{name: placed}, {name: overTime}]", "horizon: 150s")
    assert columns["placed"] == 3
    # Pods run from 0, 60 and 120 on, without gaps.
    assert columns["overTime.running.mean"] == 1
    assert columns["overTime.cpu.mean"] == pytest.approx(0.5)


@pytest.mark.long
def test_time_passes_up_to_the_horizon_when_nothing_happens() -> None:
    columns = values("[{name: overTime}]", "horizon: 1200s")
    assert columns["overTime.running.mean"] == pytest.approx(0.5)


@pytest.mark.long
def test_arrivals_at_the_horizon_do_not_come() -> None:
    assert values("[{name: placed}]", "horizon: 120s")["placed"] == 2


@pytest.mark.long
def test_warm_up_is_left_out_of_means_and_of_pods() -> None:
    fields = "horizon: 1200s\nwarmUp: 570s"
    columns = values("[{name: overTime}, {name: completion}]", fields)
    # One of two CPUs is used for 30 of the 630 seconds that count.
    assert columns["overTime.cpu.mean"] == pytest.approx(30 / 630 / 2)
    assert columns["completion.pods"] == 0
    assert values("[{name: completion}]", "warmUp: 530s")["completion.pods"] == 1


def test_a_warm_up_longer_than_the_run_is_a_mistake() -> None:
    with pytest.raises(ExperimentErrors, match="warmUp: expected less than"):
        values("[{name: placed}]", "horizon: 10s\nwarmUp: 10s")


@pytest.mark.long
def test_workload_seed_is_the_seed_of_inputs_alone() -> None:
    text = f"""{HEAD}
seeds: [1, 2]
workloadSeed: 7
inputs: [{{name: s, use: "{__name__}:Stream", parameters: {{seeded: true, pods: 1}}}}]
metrics: [{{name: completion, parameters: {{by: namespace}}}}]
"""
    experiment = parse_experiment(text)
    assert experiment.workload_seed == 7
    results = [run_cell(experiment, cell).values for cell in experiment.cells]
    assert results[0] == results[1]


@pytest.mark.long
def test_nodes_fail_return_and_are_drained_as_arrivals() -> None:
    columns = values("[{name: goodput}, {name: placed}]", "", "{disrupted: true}")
    # The second pod loses its work with the node, after 30 s. Two pods wait for its
    # return, and are evicted by the drain. The others find the node cordoned.
    assert columns["placed"] == 4
    assert columns["goodput.useful"] == 60
    assert columns["goodput.lost_pods"] == 3
    lost = columns["goodput.lost"]
    assert isinstance(lost, int | float)
    assert lost > 30


@pytest.mark.long
def test_curves_have_a_point_for_each_period_of_virtual_time() -> None:
    text = f"""{HEAD}
horizon: 300s
inputs: [{{name: stream, use: "{__name__}:Stream", parameters: {{pods: 3}}}}]
metrics: [{{name: overTime, parameters: {{every: 60s}}}}]
"""
    [cell] = (experiment := parse_experiment(text)).cells
    curves = run_cell(experiment, cell).curves
    assert curves["overTime.running"] == (
        [0.0, 60.0, 120.0, 180.0, 240.0],
        [1.0, 1.0, 1.0, 0.0, 0.0],
    )
    assert curves["overTime.pending"][1] == [0.0] * 5


@pytest.mark.long
def test_completion_counts_makespan_and_throughput() -> None:
    columns = values("[{name: completion, parameters: {by: team, percentiles: [50]}}]")
    assert columns["completion.mean"] == 60
    assert columns["completion.red.p50"] == 60
    assert columns["completion.makespan"] == 600
    assert columns["completion.per_hour"] == pytest.approx(60)
    assert columns["completion.censored"] == 0


@pytest.mark.long
def test_equal_groups_are_fair() -> None:
    columns = values("[{name: fairness, parameters: {by: team}}]")
    assert columns["fairness.groups"] == 2
    assert columns["fairness.service.jain"] == pytest.approx(1)
    assert columns["fairness.slowdown.max_min"] == pytest.approx(1)


@pytest.mark.long
def test_unequal_groups_are_less_fair() -> None:
    columns = values("[{name: fairness, parameters: {by: team}}]", "", "{pods: 3}")
    # Two pods and one pod: (2 + 1)² / (2 (4 + 1)).
    assert columns["fairness.service.jain"] == pytest.approx(0.9)
    assert columns["fairness.service.max_min"] == pytest.approx(0.5)


@pytest.mark.long
def test_energy_follows_the_power_curve_of_nodes() -> None:
    parameters = '{watts: {"": [100, 160, 200]}, carbon: [500, 0], carbonInterval: 5m}'
    columns = values(f"[{{name: energy, parameters: {parameters}}}]", "horizon: 600s")
    # One of two CPUs: 160 W for ten minutes, the first five of them with emissions.
    assert columns["energy.watts.mean"] == pytest.approx(160)
    assert columns["energy.kwh"] == pytest.approx(160 * 600 / 3.6e6)
    assert columns["energy.carbon.kg"] == pytest.approx(160 * 300 / 3.6e6 * 0.5)
    assert columns["energy.nodes_without_curve"] == 0


@pytest.mark.long
def test_nodes_without_a_power_curve_are_counted() -> None:
    columns = values("[{name: energy, parameters: {watts: {large: [100]}}}]")
    assert columns["energy.nodes_without_curve"] == 1
    assert columns["energy.kwh"] == 0


@pytest.mark.long
def test_curves_over_time_are_repeated_for_each_group() -> None:
    text = f"""{HEAD}
horizon: 300s
inputs: [{{name: stream, use: "{__name__}:Stream", parameters: {{pods: 3}}}}]
metrics: [{{name: overTime, parameters: {{every: 60s, by: team}}}}]
"""
    [cell] = (experiment := parse_experiment(text)).cells
    result = run_cell(experiment, cell)
    curves, columns = result.curves, result.values
    # Pods 0 and 2 are blue, pod 1 is red.
    assert curves["overTime.blue.running"][1] == [1.0, 0.0, 1.0, 0.0, 0.0]
    assert curves["overTime.red.running"][1] == [None, 1.0, 0.0, 0.0, 0.0]
    assert curves["overTime.running"][1] == [1.0, 1.0, 1.0, 0.0, 0.0]
    assert columns["overTime.blue.cpu.mean"] == pytest.approx(0.5 * 120 / 300)
    assert columns["overTime.red.cpu.mean"] == pytest.approx(0.5 * 60 / 300)
    assert columns["overTime.cpu.mean"] == pytest.approx(0.5 * 180 / 300)
    assert columns["overTime.red.running.max"] == 1
    assert columns["overTime.red.pods.mean"] == pytest.approx(60 / 300 / 9)


@pytest.mark.long
def test_energy_of_groups_of_nodes_adds_up() -> None:
    metrics = (
        '[{name: energy, parameters: {watts: {"": [100, 300]}, by: pool, '
        "carbon: [100]}}]"
    )
    columns = values(metrics, "horizon: 600s")
    assert columns["energy.a.kwh"] == columns["energy.kwh"]
    assert columns["energy.a.carbon.kg"] == columns["energy.carbon.kg"]
    assert columns["energy.a.nodes_without_curve"] == 0


@pytest.mark.long
def test_pods_of_the_warm_up_are_not_counted() -> None:
    metrics = "[{name: placed}, {name: wait}, {name: preemptions}]"
    columns = values(metrics, "warmUp: 150s")
    # Pods 0, 1 and 2 arrive before, at 0, 60 and 120 seconds.
    assert columns["placed"] == columns["placed.pods"] == 7
    assert columns["placed.arrivals"] == 7
    assert columns["placed.completed"] == 7
    assert columns["placed.lost"] == 0
    assert columns["wait.mean"] == 0
    assert columns["preemptions"] == 0


@pytest.mark.long
def test_pods_of_the_warm_up_that_still_wait_are_not_counted() -> None:
    # Without its node, pods 2 and later wait; 2 arrives before the warm-up ends.
    metrics = "[{name: placed}, {name: wait}]"
    fields = "horizon: 200s\nwarmUp: 150s"
    columns = values(metrics, fields, "{disrupted: true}")
    assert columns["placed"] == 0
    assert columns["placed.pending"] == columns["placed.pods"] == 1
    assert columns["wait.censored"] == 1
    assert columns["wait.max.at_least"] == 20
