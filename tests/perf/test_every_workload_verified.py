"""Decisions with and without a memory are the same, over every workload of upstream's.

Each workload that upstream measures is played on at most 500 nodes, with fewer pods,
and every decision is made a second time, by scalar hooks alone.
"""

from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import attrs
import pytest

from tests.kit.internals.perf import (
    CreateAny,
    CreateNodes,
    CreatePods,
    Operation,
    UpdateAny,
    Workload,
    find_files,
    load_workloads,
    run_workload,
    select,
)

DATA = Path(__file__).parents[1] / "perf_format" / "data"
NODES, PODS = 500, 80
CROWDED_PODS = 240
CROWDED = ("Preemption", "EventHandling")
"""Where nodes must be full: these are scaled as a whole."""
STEADY = timedelta(milliseconds=200)
"""How long pods are replaced by new ones; upstream does it for ten seconds."""


def scaled(workload: Workload) -> Workload:
    """The workload with fewer nodes and pods."""
    nodes = _total(workload, CreateNodes)
    pods = _total(workload, CreatePods)
    if workload.name.startswith(CROWDED):
        of_nodes = of_pods = min(1.0, NODES / nodes, CROWDED_PODS / pods)
    else:
        of_nodes = min(1.0, NODES / nodes)
        of_pods = min(of_nodes, PODS / pods)
    operations = tuple(
        _scaled(operation, of_nodes, of_pods) for operation in workload.operations
    )
    return attrs.evolve(workload, operations=operations)


def _total(workload: Workload, kind: type[CreateNodes] | type[CreatePods]) -> int:
    return sum(one.count for one in workload.operations if isinstance(one, kind))


def _scaled(operation: Operation, of_nodes: float, of_pods: float) -> Operation:
    match operation:
        case CreateNodes(count=count) if count:
            return attrs.evolve(
                operation, count=max(min(2, count), round(count * of_nodes))
            )
        case CreatePods(steady_state=True):
            return attrs.evolve(operation, duration=STEADY)
        case CreatePods(count=count) | UpdateAny(count=count) if count > 1:
            return attrs.evolve(operation, count=max(1, round(count * of_pods)))
        case CreateAny(template_path=path) if "deviceclass" in path:
            return operation  # pods ask for each of them
        case CreateAny(count=count) if count > 1:
            return attrs.evolve(operation, count=max(1, round(count * of_pods)))
    return operation


def distinct() -> Iterator[Workload]:
    """The measured workloads, without those that are the same but for their size."""
    workloads = load_workloads(find_files([str(DATA)]))
    known = set()
    for workload in select(workloads, (), ("performance",)):
        if not _total(workload, CreatePods):
            continue  # nothing is decided
        case, _, _ = workload.name.partition("/")
        made = scaled(workload)
        features = workload.feature_gates.get("NodeDeclaredFeatures", True)
        opcodes = tuple(one.opcode for one in made.operations)
        key = (case, opcodes, features)
        if key not in known:
            known.add(key)
            yield made


WORKLOADS = list(distinct())
SHORT = 6
"""One workload of so many is part of every run."""


@pytest.mark.parametrize(
    "workload",
    [
        pytest.param(
            one, id=one.name, marks=[pytest.mark.long] if index % SHORT else []
        )
        for index, one in enumerate(WORKLOADS)
    ],
)
def test_decisions_are_the_same_with_and_without_a_memory(workload: Workload) -> None:
    # With some seeds the three nodes of a small workload fill up in such a way that one
    # pod is left over, and the workload does not come to its end.
    outcome = run_workload(workload, seed=1, verify=1)
    assert (outcome.status, outcome.reason) == ("done", "")
    assert outcome.measurements
