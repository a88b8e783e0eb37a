"""Extenders that score nodes and bind pods, over real connections."""

import pytest

from quaymaster.config import parse_config
from quaymaster.scheduler import PluginRegistry
from quaymaster.simulation import explain_pod
from quaymaster.testing import make_node, make_pod
from tests.kit.fake_extender import (
    ExtenderAnswer,
    Request,
    extended_harness,
    extenders_config,
    fake_extender,
    prioritizing,
)


def test_scores_are_added_to_those_of_the_plugins() -> None:
    scores = [{"Host": "n1", "Score": 7}, {"host": "n0", "score": 2}, {"Host": "n9"}]
    with fake_extender(prioritize=lambda _: scores) as extender:
        document = extenders_config(prioritizing(extender, weight=3))
        registry = PluginRegistry.discover()
        explained = explain_pod(
            "pod",
            [*(make_node(name=f"n{index}") for index in range(3)), make_pod()],
            config=parse_config(document, registry, source="test"),
            registry=registry,
        )
    assert explained.node == "n1"
    assert explained.explanation is not None
    parts = {
        score.node: score.plugins[extender.url]
        for score in explained.explanation.scores
    }
    assert [parts[name].weighted for name in ("n0", "n1", "n2")] == [60, 210, 0]
    for score in explained.explanation.scores:
        assert score.total == sum(part.weighted for part in score.plugins.values())


@pytest.mark.parametrize(
    "answer",
    [lambda _: 500, lambda _: {"n0": 1}, lambda _: [{"Host": "n0", "Score": 2**62}]],
    ids=["status", "no list", "too much"],
)
def test_a_failing_prioritize_gives_no_scores_and_fails_nothing(
    answer: ExtenderAnswer,
) -> None:
    with fake_extender(prioritize=answer) as extender:
        run = extended_harness(prioritizing(extender, weight=5))
        run.settle()
    assert extender.requests
    assert run.node_of("pod") != ""


def test_a_single_feasible_node_is_not_scored() -> None:
    with fake_extender(prioritize=lambda _: []) as extender:
        run = extended_harness(prioritizing(extender), nodes=1)
        run.settle()
    assert run.node_of("pod") == "n0"
    assert not extender.requests


def test_the_extender_binds_instead_of_the_plugins() -> None:
    with fake_extender() as extender:
        run = extended_harness({"urlPrefix": extender.url, "bindVerb": "bind"})

        def bind(request: Request) -> object:
            run.cluster.bind(run.pod("pod"), request["Node"])
            return {}

        extender.answers = {"bind": bind}
        run.settle()
    [request] = extender.requests_for("bind")
    assert request == {
        "PodName": "pod",
        "PodNamespace": "default",
        "PodUID": run.pod("pod").uid,
        "Node": run.node_of("pod"),
    }
    assert run.node_of("pod") != ""


def test_a_failed_bind_of_an_extender_is_retried() -> None:
    with fake_extender(bind=lambda _: {"Error": "not today"}) as extender:
        run = extended_harness({"urlPrefix": extender.url, "bindVerb": "bind"})
        run.schedule_one()
        assert run.node_of("pod") == ""
        assert run.message("pod") == "not today"
        run.advance(5)
    assert len(extender.requests_for("bind")) > 1


def test_after_a_failed_ignorable_binder_the_plugins_bind() -> None:
    with fake_extender(bind=lambda _: 500) as extender:
        run = extended_harness(
            {"urlPrefix": extender.url, "bindVerb": "bind", "ignorable": True}
        )
        run.settle()
    assert run.node_of("pod") != ""


def test_a_bind_whose_answer_was_lost_is_looked_up() -> None:
    with fake_extender() as extender:
        run = extended_harness({"urlPrefix": extender.url, "bindVerb": "bind"})

        def bind(request: Request) -> object:
            run.cluster.bind(run.pod("pod"), request["Node"])
            return b"{"

        extender.answers = {"bind": bind}
        run.settle()
    assert len(extender.requests_for("bind")) == 1
    assert run.attempts == ["default/pod"]
