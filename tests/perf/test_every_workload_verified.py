"""Decisions with and without a cache are equal, for every workload of upstream.

Each workload that upstream measures is played on at most 120 nodes, with fewer pods; at
night, on at most 500. Every decision is made a second time, by scalar hooks alone.
"""

from collections.abc import Iterator
from pathlib import Path

import pytest

from quaymaster.config import Kubernetes
from tests.kit.internals.perf import (
    CreatePods,
    Operation,
    Workload,
    find_files,
    load_workloads,
    run_workload,
    select,
    why_left_out,
)
from tests.perf_format.sizes import MANY_NODES, NODES, scaled, total

FOLDER = Path(__file__).parents[1] / "perf_format"
DATA = [str(FOLDER / name) for name in ("data", "data-1.37")]


def distinct() -> Iterator[Workload]:
    """Yield the measured workloads, without those that differ in their size only.

    A workload of both versions is played once.
    """
    workloads = load_workloads(find_files(DATA))
    keys = set()
    for workload in select(workloads, (), ("performance",)):
        if not total(workload, CreatePods) or why_left_out(workload, Kubernetes()):
            continue
        case, _, _ = workload.name.partition("/")
        features = workload.feature_gates.get("NodeDeclaredFeatures", True)
        key = (case, tuple(map(kind_of, scaled(workload).operations)), features)
        if key not in keys:
            keys.add(key)
            yield workload


def kind_of(operation: Operation) -> object:
    """Return the kind of an operation, without its size."""
    parameters = str(getattr(operation, "template_params", {}))
    return operation.opcode, parameters, getattr(operation, "steady_state", False)


WORKLOADS = list(distinct())


def label(workload: Workload) -> str:
    """Return the name of a workload, and the version of its file."""
    version = "1.37" if DATA[1] in workload.file else "1.36"
    return f"{version}/{workload.topic}/{workload.name}"


@pytest.mark.parametrize(
    "most_nodes",
    [
        pytest.param(NODES, marks=pytest.mark.long),
        pytest.param(MANY_NODES, marks=pytest.mark.nightly),
    ],
)
@pytest.mark.parametrize("workload", WORKLOADS, ids=label)
def test_decisions_are_the_same_with_and_without_a_memory(
    workload: Workload, most_nodes: int
) -> None:
    # With some seeds the three nodes of a small workload fill up so that one pod is
    # left over, and the workload does not end.
    outcome = run_workload(scaled(workload, most_nodes), seed=1, verify=1)
    assert (outcome.status, outcome.reason) == ("done", "")
    assert outcome.measurements
