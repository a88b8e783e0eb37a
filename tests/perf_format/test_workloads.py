"""Upstream's own files, run unchanged."""

from pathlib import Path

import pytest

from quaymaster.config import default_config
from quaymaster.scheduler import PluginRegistry
from tests.kit.internals.perf import (
    Workload,
    apply_gates,
    find_files,
    load_workloads,
    run_workload,
    select,
)

DATA = Path(__file__).parent / "data"
WORKLOADS = load_workloads(find_files([str(DATA)]))
SMALL = select(WORKLOADS, (), ("integration-test",))
LONGER = {
    "ExtendedResourceScoring/2000pods_200nodes": pytest.mark.long,
    "ExtendedResourceScoring/5000pods_500nodes": pytest.mark.nightly,
}
"""The workloads that exceed the budget of a quick test."""


def test_all_of_upstreams_topics_are_here() -> None:
    topics = {workload.topic for workload in WORKLOADS}
    assert topics == {
        "affinity",
        "consumablecapacity",
        "devicetaints",
        "dra",
        "event_handling",
        "extendedresource",
        "misc",
        "nodedeclaredfeatures",
        "partitionabledevices",
        "prioritizedlist",
        "scoring",
        "topology_spreading",
        "volumes",
    }


@pytest.mark.parametrize(
    "workload",
    [
        pytest.param(
            small,
            id=f"{small.topic}/{small.name}",
            marks=LONGER.get(small.name, ()),
        )
        for small in SMALL
    ],
)
def test_a_small_workload_of_upstreams_runs_to_its_end(workload: Workload) -> None:
    outcome = run_workload(workload)
    assert (outcome.status, outcome.reason) == ("done", "")
    assert outcome.measurements
    for measurement in outcome.measurements:
        assert measurement.scheduled == measurement.pods > 0
        assert measurement.attempts["scheduled"] >= measurement.pods
        assert measurement.throughput.average > 0
        assert measurement.busy_seconds <= measurement.seconds


def test_features_that_only_upstreams_test_makes_up_are_told() -> None:
    (workload,) = [small for small in SMALL if small.topic == "nodedeclaredfeatures"]
    outcome = run_workload(workload)
    assert "5 made-up features" in outcome.notes[0]


@pytest.mark.parametrize("is_on", [True, False])
def test_a_gate_decides_whether_its_plugin_is_there(is_on: bool) -> None:
    config = default_config(PluginRegistry.discover())
    gated = apply_gates(config, {"NodeDeclaredFeatures": is_on})
    filters = {plugin.name for plugin in gated.profiles[0].plugins["filter"]}
    assert ("NodeDeclaredFeatures" in filters) is is_on
    assert "NodeName" in filters
