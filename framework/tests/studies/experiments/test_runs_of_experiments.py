"""One run of an experiment: arrivals and metrics."""

from pathlib import Path

import pytest

from quaymaster.experiments import (
    ExperimentErrors,
    ExperimentInput,
    RunResult,
    parse_experiment,
    run_cell,
)
from tests.kit.experiments import LogBook, Ships

HEAD = """
apiVersion: simulation.quaymaster.io/v1alpha1
kind: Experiment
"""


class Unfinished(ExperimentInput):
    """Not an attrs class."""


def run_of(parameters: str = "{}", metrics: str = "[{name: placed}]") -> RunResult:
    text = (
        f"{HEAD}inputs: [{{name: ships, use: '{Ships.__module__}:Ships', "
        f"parameters: {parameters}}}]\nseeds: [7]\nmetrics: {metrics}\n"
    )
    [cell] = (experiment := parse_experiment(text)).cells
    return run_cell(experiment, cell)


def diary_of(parameters: str) -> str:
    use = f"{LogBook.__module__}:LogBook"
    result = run_of(parameters, f"[{{name: diary, use: '{use}'}}]")
    assert result.curves == {"diary.x": ([1.0], [None])}
    return str(result.values["diary"])


@pytest.mark.long
def test_each_arrival_is_tried_before_the_next_one() -> None:
    assert diary_of("{pods: 2}") == (
        "1 nodes, ship-0 scheduled, arrived, ship-1 scheduled, arrived"
    )


@pytest.mark.long
def test_time_passes_between_arrivals() -> None:
    assert diary_of("{pods: 2, gap: 5.5}") == (
        "1 nodes, ship-0 scheduled, arrived, 5.5 s, ship-1 scheduled, arrived"
    )


@pytest.mark.long
def test_a_pod_that_found_no_node_is_tried_again_when_one_has_left() -> None:
    diary = diary_of("{pods: 3, stays: 100.0}")
    before, _, after = diary.partition("ship-2 unschedulable")
    assert before.endswith("ship-1 scheduled, arrived, ")
    assert "100 s" in after
    assert "ship-2 scheduled" in after


@pytest.mark.long
def test_a_pod_that_is_turned_away_never_comes_back() -> None:
    diary = diary_of("{pods: 3, stays: 100.0, turnAway: true}")
    assert diary.count("ship-2") == 1


@pytest.mark.long
def test_a_pod_that_others_make_room_for_is_not_turned_away() -> None:
    diary = diary_of("{pods: 3, turnAway: true, priority: 10}")
    assert "ship-2 unschedulable" in diary
    assert "ship-2 scheduled" in diary


@pytest.mark.long
def test_columns_are_named_after_the_metric() -> None:
    result = run_of("{pods: 3, turnAway: true}", "[{name: berths, use: placed}]")
    assert result.values == {
        "berths": 2,
        "berths.arrivals": 3,
        "berths.pods": 3,
        "berths.pending": 0,
        "berths.standing": 2,
        "berths.completed": 0,
        "berths.lost": 0,
    }


@pytest.mark.long
def test_pods_that_wait_are_pending() -> None:
    result = run_of("{pods: 5}")
    assert result.values["placed"] == 2
    assert result.values["placed.pending"] == 3


@pytest.mark.long
def test_curves_have_a_point_per_number_of_arrivals() -> None:
    result = run_of("{pods: 5}", "[{name: placed, parameters: {every: 2}}]")
    assert result.curves == {"placed": ([2.0, 4.0], [2.0, 2.0])}


@pytest.mark.long
def test_utilisation_is_that_of_the_end_and_the_mean_over_time() -> None:
    # One of two CPUs for ten seconds, then both for ten seconds, then one for ten.
    result = run_of("{pods: 2, gap: 10.0, stays: 20.0}", "[{name: utilisation}]")
    assert result.values["utilisation.cpu"] == 0.0
    assert result.values["utilisation.cpu.mean"] == pytest.approx(2 / 3)


@pytest.mark.long
def test_imbalance_is_0_on_one_node() -> None:
    result = run_of("{}", "[{name: imbalance, parameters: {every: 1}}]")
    assert result.values["imbalance.cpu"] == 0.0
    assert result.curves["imbalance.cpu"] == ([1.0, 2.0, 3.0], [0.0, 0.0, 0.0])


@pytest.mark.long
def test_room_that_no_pod_can_use_is_fragmented() -> None:
    # All CPU is taken, so the free memory is of no use to pods of one CPU.
    result = run_of("{pods: 2}", "[{name: fragmentation}]")
    assert result.values["fragmentation.pods"] == 1.0
    assert result.values["fragmentation.pods.stranded"] == 1.0


@pytest.mark.long
def test_costs_are_those_of_all_nodes_and_of_used_nodes() -> None:
    result = run_of("{pods: 1, stays: 500.0}", "[{name: cost}]")
    assert result.values["cost.per_hour"] == 3.6
    assert result.values["cost.used_per_hour"] == 0.0
    assert result.values["cost.spent"] == pytest.approx(0.5)
    assert result.values["cost.used_spent"] == pytest.approx(0.5)


@pytest.mark.long
def test_waits_are_counted_in_virtual_time() -> None:
    result = run_of(
        "{pods: 3, stays: 100.0}", "[{name: wait, parameters: {percentiles: [50]}}]"
    )
    assert list(result.values) == [
        *("wait.mean", "wait.max", "wait.p50", "wait.censored", "wait.deleted"),
        *("wait.mean.at_least", "wait.max.at_least", "wait.p50.at_least"),
    ]
    assert result.values["wait.p50"] == 0.0
    waited = result.values["wait.max"]
    assert isinstance(waited, float)
    assert waited >= 100.0


@pytest.mark.long
def test_preempted_pods_are_counted() -> None:
    result = run_of("{pods: 3, priority: 10}", "[{name: preemptions}]")
    assert result.values == {"preemptions": 1}


@pytest.mark.long
def test_times_are_measured_on_request() -> None:
    result = run_of("{}", "[{name: time}]")
    assert list(result.values) == [
        "time.seconds",
        "time.cpu_seconds",
        "time.attempts_per_second",
    ]


@pytest.mark.long
def test_a_run_is_a_function_of_its_cell(tmp_path: Path) -> None:
    (tmp_path / "pods.yaml").write_text(
        "apiVersion: v1\nkind: List\nitems:\n"
        + "".join(
            f"- {{apiVersion: v1, kind: Pod, metadata: {{name: pod-{cpu}}}, spec: "
            f"{{containers: [{{name: c, image: i, resources: {{requests: {{cpu: "
            f"'{cpu}'}}}}}}]}}}}\n"
            for cpu in (1, 2, 3)
        )
    )
    text = (
        f"{HEAD}inputs: [{{name: mix, parameters: {{nodes: ['9:cpu=4,memory=8Gi'], "
        "files: [pods.yaml], copies: 5, order: Random, turnAway: true}}]\n"
        "seeds: [1, 2, 3]\nmetrics: [{name: utilisation, parameters: {every: 1}}]\n"
    ).replace("}}]\n", "}}]\n", 1)
    experiment = parse_experiment(text, file=str(tmp_path / "experiment.yaml"))
    first = [run_cell(experiment, cell).curves for cell in experiment.cells]
    again = [run_cell(experiment, cell).curves for cell in experiment.cells]
    assert first == again
    assert first[0] != first[1]


def test_an_input_is_an_attrs_class_with_all_methods() -> None:
    use = f"{Unfinished.__module__}:Unfinished"
    with pytest.raises(ExperimentErrors, match="expected an attrs class that derives"):
        parse_experiment(
            f"{HEAD}inputs: [{{name: a, use: '{use}'}}]\nmetrics: [{{name: placed}}]"
        )
