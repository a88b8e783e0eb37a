"""`PluginHarness.score` runs what a scheduler runs before Score, except Filter."""

import pytest

from quaymaster import CycleState, NodeInfo, Pod, StateKey, Status, hookimpl
from quaymaster.errors import StateNotFoundError
from quaymaster.testing import PluginHarness, PluginStatusError, make_node, make_pod

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
