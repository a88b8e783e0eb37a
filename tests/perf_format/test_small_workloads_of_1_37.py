"""Upstream's own small workloads of Kubernetes 1.37, with every decision verified."""

from pathlib import Path

import pytest

from quaymaster.config import Kubernetes
from tests.kit.internals.perf import (
    CreatePods,
    Workload,
    find_files,
    load_workloads,
    run_workload,
    select,
    why_left_out,
)
from tests.perf_format.sizes import PODS, scaled, total

DATA = Path(__file__).parent / "data-1.37"
FILES = find_files([str(DATA)])
WORKLOADS = load_workloads(FILES)
SMALL = [
    workload
    for workload in select(WORKLOADS, (), ("integration-test",))
    if not why_left_out(workload, Kubernetes("1.37"))
]
SLOW = "nodes"
"""The end of the names of workloads that are not small."""


def of_a_small_size(workload: Workload) -> Workload:
    """Return the workload, or one with fewer pods if it is not small."""
    return scaled(workload) if total(workload, CreatePods) > PODS else workload


def test_all_files_and_workloads_of_upstream_are_read() -> None:
    assert len(FILES) == 23
    assert len(WORKLOADS) == 267


def test_links_lead_to_what_both_versions_have() -> None:
    links = [path for path in DATA.rglob("*") if path.is_symlink()]
    assert links
    for link in links:
        assert link.resolve().is_relative_to(DATA.with_name("data")), link
        assert link.is_file()


def test_every_workload_with_a_threshold_is_played() -> None:
    demanded = [workload for workload in WORKLOADS if workload.threshold]
    assert len(demanded) == 49
    assert not [
        workload for workload in demanded if why_left_out(workload, Kubernetes("1.37"))
    ]


def test_only_missing_parameters_leave_workloads_out() -> None:
    reasons = {why_left_out(workload, Kubernetes("1.37")) for workload in WORKLOADS}
    assert reasons == {"", "no parameter 'measurePods', which an operation names"}


@pytest.mark.parametrize(
    "workload",
    [
        pytest.param(
            workload,
            id=f"{workload.topic}/{workload.name}",
            marks=pytest.mark.long if workload.name.endswith(SLOW) else (),
        )
        for workload in map(of_a_small_size, SMALL)
    ],
)
def test_a_small_workload_of_1_37_is_decided_as_without_a_memory(
    workload: Workload,
) -> None:
    outcome = run_workload(workload, seed=1, verify=1)
    assert (outcome.status, outcome.reason) == ("done", "")
    assert outcome.measurements
    for measurement in outcome.measurements:
        assert measurement.scheduled == measurement.pods
