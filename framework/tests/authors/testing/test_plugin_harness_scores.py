"""`PluginHarness.score` runs what a scheduler runs before Score, except Filter."""

from typing import Any

import numpy as np
import pytest

from quaymaster import (
    CycleState,
    Handle,
    NodeInfo,
    NodeVerdicts,
    Pod,
    StateKey,
    Status,
    hookimpl,
)
from quaymaster.errors import PluginError, StateNotFoundError
from quaymaster.testing import (
    ContractError,
    PluginHarness,
    PluginStatusError,
    make_node,
    make_pod,
)

_WANTED = StateKey[str]("Wanted")


class Wanted:
    """Prefers the node that a label of the pod names, which PreFilter reads."""

    def __init__(self, args: object, handle: object) -> None:
        """Use neither."""

    @hookimpl
    def pre_filter(self, state: CycleState, pod: Pod) -> Status | None:
        state[_WANTED] = pod.labels.get("wanted", "")
        if state[_WANTED] == "none":
            return Status.unschedulable("wants no node")
        return Status.skip() if state[_WANTED] == "any" else None

    @hookimpl
    def filter(self, node: NodeInfo) -> Status | None:
        return None

    @hookimpl
    def score(self, state: CycleState, node: NodeInfo) -> int:
        return 70 if state[_WANTED] == node.name else 0


def harness() -> PluginHarness:
    return PluginHarness(Wanted, nodes=[make_node(name="a"), make_node(name="b")])


def test_score_reads_what_pre_filter_wrote() -> None:
    pod = make_pod(labels={"wanted": "b"})
    assert harness().score(pod) == {"a": 0, "b": 70}
    assert harness().normalized(pod) == {"a": 0, "b": 70}


def test_skip_of_pre_filter_does_not_skip_score() -> None:
    assert harness().score(make_pod(labels={"wanted": "any"})) == {"a": 0, "b": 0}


def test_pod_that_pre_filter_rejects_has_no_scores() -> None:
    with pytest.raises(PluginStatusError, match="wants no node"):
        harness().score(make_pod(labels={"wanted": "none"}))


def test_pre_filter_can_be_left_out() -> None:
    with pytest.raises(StateNotFoundError, match="Wanted"):
        harness().score(make_pod(), pre_filter=False)


def untyped(function: object) -> Any:  # noqa: ANN401 - whatever a plugin marks
    """Mark a hook that a type checker would reject."""
    return hookimpl(function)  # type: ignore[call-overload]


NO = Status.unschedulable("no")


class Wrong:
    """Returns what the specs of its hooks do not allow."""

    def __init__(self, args: object, handle: Handle) -> None:
        pass

    @untyped
    def score(self, node: NodeInfo) -> object:
        return 7.0 if node.name == "a" else -1

    @untyped
    def filter(self) -> object:
        return True

    @untyped
    def permit(self) -> object:
        return 30

    @untyped
    def filter_nodes(self) -> object:
        return NodeVerdicts(np.zeros(7, dtype=np.int64), lambda _code: NO)

    @untyped
    def sign_pod(self) -> object:
        return []


def test_harness_rejects_answers_that_a_scheduler_rejects() -> None:
    harness = PluginHarness(Wrong, nodes=[make_node(name="a")])
    with pytest.raises(PluginError, match="score returned float, expected int"):
        harness.score(make_pod())
    with pytest.raises(PluginError, match="score returned float, expected int"):
        harness.normalized(make_pod())
    with pytest.raises(PluginError, match="filter returned bool, expected Status"):
        harness.filter(make_pod())
    with pytest.raises(PluginError, match="permit returned int, expected PermitWait"):
        harness.permit(make_pod(), "a")
    with pytest.raises(PluginError, match="sign_pod returned list, which has no hash"):
        harness.sign_pod(make_pod())


def test_harness_checks_the_shape_of_arrays() -> None:
    harness = PluginHarness(Wrong)
    with pytest.raises(PluginError, match=r"returned shape \(7,\), expected \(0,\)"):
        harness.filter(make_pod())


def test_harness_checks_the_range_of_normalized_scores() -> None:
    harness = PluginHarness(Wrong, nodes=[make_node(name="b")])
    assert harness.score(make_pod()) == {"b": -1}
    with pytest.raises(ContractError, match="score returned -1 for node 'b', expected"):
        harness.normalized(make_pod())
