"""The policy PWR and the power of the cluster, against the authors' simulator."""

import csv
import gzip
import io
from collections.abc import Mapping
from pathlib import Path

import pytest
from quaymaster.experiments import RunResult, parse_experiment, run_cell
from quaymaster.testing import PluginHarness, make_node, make_pod

from quaymaster_openb import PWRGpuShare, PWRScore
from quaymaster_openb.gpus import COUNT, INDEX, MILLI, MODEL
from quaymaster_openb.power import active_cpus, gpu_growth

PACKAGE = Path(__file__).parents[1]
DATA = Path(__file__).parent / "data"


def results(verify: int = 0) -> Mapping[str, RunResult]:
    text = (PACKAGE / "power.yaml").read_text(encoding="utf-8")
    head, _, tail = text.partition("seeds: ")
    text = head + "seeds: [42]" + tail[tail.index("\n") :]
    text = text.replace("data: data", "data: tests/data")
    experiment = parse_experiment(text, file=str(PACKAGE / "power.yaml"))
    return {
        cell.profile.name: run_cell(experiment, cell, verify=verify)
        for cell in experiment.cells
    }


@pytest.mark.long
def test_power_after_each_arrival_is_that_of_the_authors_simulator() -> None:
    found = results()
    text = gzip.decompress((DATA / "power.csv.gz").read_bytes()).decode()
    _, *rows = csv.reader(io.StringIO(text))
    curves = found["PWR"].curves
    assert curves["power.cpu"][1] == [int(cpu) for cpu, _ in rows]
    assert curves["power.gpu"][1] == [int(gpu) for _, gpu in rows]
    power = {name: result.values["power"] for name, result in found.items()}
    assert power["PWR"] == 268905
    # FGD does not look at power.
    fgd = power["FGD"]
    assert isinstance(fgd, int)
    assert fgd > 268905


@pytest.mark.long
def test_decisions_of_pwr_are_the_same_without_twins() -> None:
    assert results(verify=80)["PWR"].values["openb.failed"] == 0


@pytest.mark.parametrize(
    ("left", "active"),
    [(64_000, 0), (63_000, 1), (32_000, 1), (31_000, 2), (0, 2)],
)
def test_two_virtual_cores_are_one_of_16_cores_of_a_cpu(left: int, active: int) -> None:
    assert active_cpus(64_000, left) == active


def test_a_model_without_published_power_counts_as_0() -> None:
    assert gpu_growth("T4") == 60
    assert gpu_growth("P4") == gpu_growth(None) == 0


def test_a_gpu_in_use_costs_no_power() -> None:
    labels = {COUNT: "2", MODEL: "T4"}
    nodes = [
        make_node(name=name, labels=labels, capacity={"cpu": "64"}) for name in "ab"
    ]
    half = {COUNT: "1", MILLI: "500"}
    there = make_pod(
        name="there",
        node="a",
        annotations={**half, INDEX: "1"},
        requests={"cpu": "2"},
    )
    pod = make_pod(name="p", annotations=half, requests={"cpu": "2"})
    harness = PluginHarness(PWRScore, nodes=nodes, pods=[there])
    # A CPU has to wake up on `b` alone, and so has a GPU.
    assert harness.score(pod) == {"a": 0, "b": -165}
    # Not the first GPU, which is free, but the one in use.
    share = PluginHarness(PWRGpuShare, nodes=nodes, pods=[there])
    assert share.reserve(pod, "a") is None
    assert share.state.annotations[INDEX] == "1"
