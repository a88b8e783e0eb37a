"""Arrays that a plugin has returned come back to it and are not modified."""

from typing import ClassVar

import numpy as np
import pytest

from quaymaster import (
    BoolArray,
    CycleState,
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
from quaymaster.columns import constant, freeze, is_constant, is_frozen
from quaymaster.errors import PluginError
from quaymaster.scheduler import SchedulerOptions
from quaymaster.testing import (
    ContractError,
    PluginHarness,
    SchedulerHarness,
    make_node,
    make_pod,
    profile_config,
)

NODES = [make_node(name=f"n{n}", allocatable={"pods": 9}) for n in range(6)]
SCORES = np.arange(len(NODES))
CLOSED = Status.unschedulable("closed")


def scheduled(plugin: type, *, check: bool = False) -> SchedulerHarness:
    """Schedule two pods with a profile of one plugin."""
    harness = SchedulerHarness(
        [*NODES, make_pod(name="a"), make_pod(name="b")],
        plugins={plugin.__name__: plugin},
        config=profile_config(enable=[plugin.__name__]),
        options=SchedulerOptions(check_mutations=check),
    )
    harness.settle()
    return harness


def test_frozen_arrays_are_those_that_cannot_be_written_to() -> None:
    array: Int64Array = np.zeros(3, dtype=np.int64)
    assert not is_frozen(array)
    view = freeze(array.view())
    assert is_frozen(view)
    assert not is_frozen(array)
    assert is_frozen(constant(7, 3))
    with pytest.raises(ValueError, match="read-only"):
        view[0] = 1


class Numbered:
    """Scores nodes by their numbers and records the arrays to normalise."""

    given: ClassVar[list[Int64Array]] = []
    answer: ClassVar[Int64Array]
    scope = Scope.CLUSTER

    def __init__(self, args: object, handle: Handle) -> None:
        pass

    @hookimpl
    def score(self, node: NodeInfo) -> int:
        return int(self.answer[int(node.name[1:])])

    @hookimpl
    def score_nodes(self) -> Int64Array:
        return self.answer

    @hookimpl
    def normalize_score(self, scores: Int64Array) -> Int64Array:
        self.given.append(scores)
        return scores


def test_frozen_scores_come_back_as_the_same_object() -> None:
    Numbered.answer, Numbered.given = freeze(SCORES.copy()), []
    assert scheduled(Numbered).errors == []
    assert len(Numbered.given) == 2
    assert all(scores is Numbered.answer for scores in Numbered.given)


def test_other_scores_come_back_read_only() -> None:
    Numbered.answer, Numbered.given = SCORES.copy(), []
    assert scheduled(Numbered).errors == []
    for scores in Numbered.given:
        assert scores is not Numbered.answer
        assert is_frozen(scores)
        assert np.array_equal(scores, SCORES)
    Numbered.answer[0] = 3  # it is still the plugin's own


def test_a_constant_comes_back_as_a_constant() -> None:
    Numbered.answer, Numbered.given = constant(5, len(NODES)), []
    assert scheduled(Numbered).errors == []
    assert all(is_constant(scores) for scores in Numbered.given)


class Partial(Numbered):
    """Normalises its own array wrongly when it gets it back."""

    @hookimpl
    def normalize_score(self, scores: Int64Array) -> Int64Array:
        return constant(1, len(scores)) if scores is self.answer else scores


def test_the_harness_normalises_the_scores_of_the_twin_too() -> None:
    Partial.answer = freeze(SCORES.copy())
    harness = PluginHarness(Partial, nodes=NODES)
    with pytest.raises(ContractError, match="normalize_score after score_nodes differ"):
        harness.normalized(make_pod())
    Partial.answer = SCORES.copy()
    assert list(harness.normalized(make_pod()).values()) == SCORES.tolist()


class Overwriting:
    """Reuses the array of the previous pod's verdicts for the next pod."""

    def __init__(self, args: object, handle: Handle) -> None:
        self._codes: BoolArray = np.zeros(len(NODES), dtype=np.bool_)
        self._count = 0

    @hookimpl
    def pre_filter(self, state: CycleState) -> None:
        self._count += 1

    @hookimpl
    def filter(self, node: NodeInfo) -> Status | None:
        return CLOSED if node.row == self._count else None

    @hookimpl
    def filter_nodes(self, nodes: NodeTable, rows: Rows) -> NodeVerdicts:
        self._codes[:] = nodes.row_numbers(rows) == self._count
        return NodeVerdicts.reject_where(self._codes, CLOSED)


WROTE = "filter_nodes wrote to the array that filter_nodes had returned"


def test_the_harness_finds_plugins_that_modify_returned_arrays() -> None:
    harness = PluginHarness(Overwriting, nodes=NODES)
    assert list(harness.filter(make_pod())) == ["n1"]
    with pytest.raises(PluginError, match=WROTE):
        harness.filter(make_pod())


def test_the_check_for_mutations_finds_them_too() -> None:
    harness = scheduled(Overwriting, check=True)
    assert harness.node_of("a")
    assert not harness.node_of("b")
    assert WROTE in harness.message("b")
    assert scheduled(Overwriting).node_of("b")


class Copying(Overwriting):
    """Does the same with a copy, which is allowed."""

    @hookimpl
    def filter_nodes(self, nodes: NodeTable, rows: Rows) -> NodeVerdicts:
        self._codes = self._codes.copy()
        return super().filter_nodes(nodes, rows)


def test_a_plugin_may_modify_a_copy() -> None:
    harness = PluginHarness(Copying, nodes=NODES)
    assert list(harness.filter(make_pod())) == ["n1"]
    assert list(harness.filter(make_pod())) == ["n2"]
    assert scheduled(Copying, check=True).node_of("b")
