"""The contract for arrays that hooks get and for arrays that they return."""

from typing import ClassVar

import numpy as np
import pytest

from quaymaster import (
    Handle,
    Int64Array,
    NodeInfo,
    NodeTable,
    NodeVerdicts,
    Rows,
    Scope,
    Status,
    hookimpl,
)
from quaymaster.testing import SchedulerHarness, make_node, make_pod, profile_config

NODES = 12
CLOSED = Status.unschedulable("closed")


class Keeping:
    """Returns arrays that it keeps, writable ones, and keeps the rows that it gets."""

    codes: ClassVar[Int64Array]
    scores: ClassVar[Int64Array]
    normalized: ClassVar[Int64Array]
    rows: ClassVar[list[tuple[Rows, Int64Array]]]
    scope = Scope.CLUSTER

    def __init__(self, args: object, handle: Handle) -> None:
        pass

    @hookimpl
    def filter(self, node: NodeInfo) -> Status | None:
        return CLOSED if node.name == "n0" else None

    @hookimpl
    def filter_nodes(self, nodes: NodeTable, rows: Rows) -> NodeVerdicts:
        self._keep(nodes, rows)
        return NodeVerdicts(self.codes[: nodes.count(rows)], lambda _: CLOSED)

    @hookimpl
    def score(self, node: NodeInfo) -> int:
        return int(node.name[1:])

    @hookimpl
    def score_nodes(self, nodes: NodeTable, rows: Rows) -> Int64Array:
        self._keep(nodes, rows)
        return self.scores[nodes.row_numbers(rows)[0] :]

    @hookimpl
    def normalize_score(self, scores: Int64Array) -> Int64Array:
        return self.normalized[-len(scores) :]

    def _keep(self, nodes: NodeTable, rows: Rows) -> None:
        self.rows.append((rows, nodes.row_numbers(rows).astype(np.int64)))


class SignedKeeping(Keeping):
    """The same, with answers that are cached."""

    scope = Scope.NODE

    @hookimpl
    def sign_pod(self) -> str:
        return "any"


@pytest.mark.parametrize("plugin", [Keeping, SignedKeeping])
def test_arrays_stay_as_they_are_when_they_are_passed(plugin: type[Keeping]) -> None:
    codes, scores = np.zeros(NODES, dtype=np.int64), np.arange(NODES)
    codes[0] = 1
    plugin.codes, plugin.scores = codes.copy(), scores.copy()
    plugin.normalized, plugin.rows = scores.copy(), []
    nodes = [make_node(name=f"n{n}", allocatable={"pods": 99}) for n in range(NODES)]
    pods = [make_pod(name=f"p{n}") for n in range(2 * NODES)]
    harness = SchedulerHarness(
        [*nodes, *pods],
        plugins={plugin.__name__: plugin},
        config=profile_config(enable=[plugin.__name__]),
    )
    harness.settle()
    assert harness.errors == []
    assert all(harness.node_of(pod.name) for pod in pods)
    assert np.array_equal(plugin.codes, codes)
    assert np.array_equal(plugin.scores, scores)
    assert np.array_equal(plugin.normalized, scores)
    for rows, numbers in plugin.rows:
        if not isinstance(rows, slice):
            assert np.array_equal(rows, numbers)
