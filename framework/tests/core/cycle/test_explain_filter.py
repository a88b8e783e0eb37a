"""A plugin may give people more details about a node that it rejects."""

from collections.abc import Sequence
from typing import cast

import pytest

from quaymaster import Code, Handle, NodeInfo, Pod, Status, hookimpl
from quaymaster.testing import SchedulerHarness, make_node, make_pod, profile_config

NO = Status.unschedulable("no berth")


class Berths:
    """Rejects all nodes but the one named ``good`` and explains why."""

    answer: object = None
    explanations = 0

    def __init__(self, _args: None, _handle: Handle) -> None:
        type(self).explanations = 0

    @hookimpl
    def filter(self, node: NodeInfo) -> Status | None:
        return None if node.name == "good" else NO

    @hookimpl
    def explain_filter(self, pod: Pod, node: NodeInfo) -> Sequence[str]:
        type(self).explanations += 1
        if self.answer is not None:
            return cast("Sequence[str]", self.answer)
        return [f"{pod.name} is too long for {node.name}"]


class Stops(Berths):
    """Rejects the pod before any node is looked at."""

    @hookimpl
    def pre_filter(self) -> Status:
        return NO


def harness_of(plugin: type[Berths], *nodes: str) -> SchedulerHarness:
    return SchedulerHarness(
        [*(make_node(name=name) for name in nodes), make_pod(name="p")],
        plugins={plugin.__name__: plugin},
        config=profile_config(enable=[plugin]),
    )


def test_details_of_a_plugin_are_shown_beside_its_reasons() -> None:
    harness = harness_of(Berths, "a", "b", "good")
    found = harness.explain("p")
    assert [
        (rejection.node, rejection.reasons, rejection.details)
        for rejection in found.rejections
    ] == [
        ("a", ("no berth",), ("p is too long for a",)),
        ("b", ("no berth",), ("p is too long for b",)),
    ]


def test_attempts_call_no_explain_filter() -> None:
    harness = harness_of(Berths, "a")
    harness.schedule_one()
    assert harness.message("p").startswith("0/1 nodes are available: 1 no berth.")
    assert "too long" not in harness.message("p")
    assert Berths.explanations == 0


def test_nodes_that_were_not_filtered_are_not_explained() -> None:
    (rejection,) = harness_of(Stops, "a").explain("p").rejections
    assert rejection.details == ()


@pytest.mark.parametrize("answer", ["a text", [1], 7])
def test_answer_that_is_not_a_list_of_texts_is_left_out(
    answer: object, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Berths, "answer", answer)
    harness = harness_of(Berths, "a")
    (rejection,) = harness.explain("p").rejections
    assert (rejection.reasons, rejection.details) == (("no berth",), ())


class Fails(Berths):
    """Fails on all nodes but the one named ``good``."""

    @hookimpl
    def filter(self, node: NodeInfo) -> Status | None:
        return None if node.name == "good" else Status.from_error("no chart")


class FailsBefore(Stops):
    """Fails before any node is looked at."""

    @hookimpl
    def pre_filter(self) -> Status:
        return Status.from_error("no tide")


def test_nodes_on_which_a_filter_fails_are_named_and_explained() -> None:
    found = harness_of(Fails, "good", "a", "b").explain("p")
    assert found.status is not None
    failure = 'running "Fails" filter plugin: no chart'
    assert [
        (rejection.node, rejection.code, rejection.reasons, rejection.details)
        for rejection in found.rejections
    ] == [
        ("a", Code.ERROR, (failure,), ("p is too long for a",)),
        ("b", Code.ERROR, (failure,), ("p is too long for b",)),
    ]


def test_failure_before_filter_names_no_node() -> None:
    found = harness_of(FailsBefore, "a").explain("p")
    assert found.status is not None
    assert found.rejections == ()
