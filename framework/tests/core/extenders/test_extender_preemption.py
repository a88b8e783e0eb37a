"""Extenders that support preemption."""

import contextlib
from collections.abc import Iterator

import pytest

from quaymaster.testing import SchedulerHarness, make_node, make_pod
from tests.kit.fake_extender import (
    ExtenderAnswer,
    Request,
    extenders_config,
    fake_extender,
)


def full_cluster(
    answer: ExtenderAnswer, **settings: object
) -> contextlib.AbstractContextManager[SchedulerHarness]:
    """Return a pod that must preempt, and an extender that chooses where."""

    @contextlib.contextmanager
    def running() -> Iterator[SchedulerHarness]:
        full = {"cpu": "4"}
        names = ("n0", "n1")
        objects = [
            *(make_node(name=name) for name in names),
            *(make_pod(name=f"on-{name}", node=name, requests=full) for name in names),
            make_pod(requests=full, priority=10),
        ]
        with fake_extender(preempt=answer) as extender:
            config = {"urlPrefix": extender.url, "preemptVerb": "preempt", **settings}
            yield SchedulerHarness(objects, config=extenders_config(config))

    return running()


def test_preemption_goes_where_the_extender_lets_it() -> None:
    def answer(request: Request) -> object:
        victims = request["NodeNameToVictims"]
        assert sorted(victims) == ["n0", "n1"]
        [pod] = victims["n1"]["Pods"]
        meta = {"Pods": [{"UID": pod["metadata"]["uid"]}], "NumPDBViolations": 0}
        return {"NodeNameToMetaVictims": {"n1": meta}}

    with full_cluster(answer) as run:
        run.settle()
        assert run.node_of("pod") == "n1"


def test_preemption_sends_uids_to_an_extender_with_a_cache() -> None:
    def answer(request: Request) -> object:
        victims = request["NodeNameToMetaVictims"]
        assert [list(pod) for pod in victims["n0"]["Pods"]] == [["UID"]]
        return {"NodeNameToMetaVictims": {"n0": victims["n0"]}}

    with full_cluster(answer, nodeCacheCapable=True) as run:
        run.settle()
        assert run.node_of("pod") == "n0"


@pytest.mark.parametrize(
    ("answer", "text"),
    [
        (lambda _: {}, "preemption: no candidate node for preemption"),
        (
            lambda _: {"NodeNameToMetaVictims": {"n0": {"Pods": []}}},
            'preemption: expected at least one victim pod on node "n0"',
        ),
        (
            lambda _: {"NodeNameToMetaVictims": {"n0": {"Pods": [{"UID": "x"}]}}},
            "claims to preempt pod (UID: x) on node: n0, but the pod is not found",
        ),
        (
            lambda _: {"NodeNameToMetaVictims": {"n9": {}}},
            'preemption: nodeinfo not found for node name "n9"',
        ),
        (lambda _: 500, "preemption: failed preempt with extender at URL"),
    ],
    ids=["none left", "no victims", "unknown pod", "unknown node", "status"],
)
def test_an_extender_can_keep_preemption_from_happening(
    answer: ExtenderAnswer, text: str
) -> None:
    with full_cluster(answer) as run:
        run.schedule_one()
        assert text in run.message("pod")
        assert run.pod("on-n0").metadata.deletion_timestamp is None
        assert run.pod("on-n1").metadata.deletion_timestamp is None


def test_a_failing_ignorable_extender_does_not_keep_preemption_from_happening() -> None:
    with full_cluster(lambda _: 500, ignorable=True) as run:
        run.settle()
        assert run.node_of("pod") != ""
