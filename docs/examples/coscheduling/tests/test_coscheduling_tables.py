"""The decisions of upstream's unit tests, as tables of cases."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from quaymaster import NodeInfo, PermitWait, Pod, QueuedPodInfo, Status, hookimpl
from quaymaster.testing import PluginHarness, make_node, make_queued_pod

from quaymaster_coscheduling import Coscheduling, PodGroup
from quaymaster_coscheduling.testing import make_member, make_pod_group

# Any: a case is what its test takes it for.
Case = Mapping[str, Any]


def table(name: str) -> Case:
    text = (Path(__file__).parent / "tables" / f"{name}.json").read_text("utf-8")
    parsed: Case = json.loads(text)
    return parsed


def cases(name: str) -> pytest.MarkDecorator:
    params = [pytest.param(case, id=case["name"]) for case in table(name)["cases"]]
    return pytest.mark.parametrize("case", params)


def member(fields: Case) -> Pod:
    return make_member(namespace="ns", **fields)


def groups(case: Case) -> list[PodGroup]:
    return [make_pod_group(namespace="ns", **fields) for fields in case["groups"]]


def harness_of(
    pods: Sequence[Pod],
    groups: Sequence[PodGroup],
    nodes: Mapping[str, Mapping[str, str]],
    *,
    args: Mapping[str, object] | None = None,
    beside: Sequence[type] = (),
) -> PluginHarness:
    return PluginHarness(
        Coscheduling,
        args=args,
        nodes=[make_node(name=name, capacity=nodes[name]) for name in nodes],
        pods=[pod for pod in pods if pod.node_name],
        objects=[*groups, *(pod for pod in pods if not pod.node_name)],
        beside=beside,
    )


class Full:
    """Has no room anywhere."""

    def __init__(self, args: object, handle: object) -> None:
        pass

    @hookimpl
    def filter(self, node: NodeInfo) -> Status:
        return Status.unschedulable(f"{node.name} is full")


@cases("pre_filter")
def test_pre_filter(case: Case) -> None:
    pod = member(case["pod"])
    others = [member(fields) for fields in case.get("others", ())]
    nodes = {
        name: {"pods": "110", **amounts}
        for name, amounts in table("pre_filter")["nodes"].items()
    }
    answer = harness_of([*others, pod], groups(case), nodes).pre_filter(pod)
    assert (answer is None) is case["passes"]
    if isinstance(answer, Status):
        assert answer == Status.unresolvable(*answer.reasons)


@cases("permit")
def test_permit(case: Case) -> None:
    pod = member(case["pod"])
    others = [member(fields) for fields in case.get("others", ())]
    harness = harness_of([*others, pod], groups(case), {"node": {"pods": "110"}})
    expected: Mapping[str, object] = {"success": None, "wait": PermitWait(60)}
    not_found = Status.unschedulable(case["answer"])
    assert harness.permit(pod, "node") == expected.get(case["answer"], not_found)


@cases("room")
def test_min_resources(case: Case) -> None:
    placed = [member(fields) for fields in case["placed"]]
    pod = make_member(name="p", namespace="ns", group="pg1")
    group = make_pod_group(
        name="pg1", namespace="ns", min_resources=case["min_resources"]
    )
    nodes = {
        name: {"pods": "110", **amounts}
        for name, amounts in table("room")["nodes"].items()
    }
    answer = harness_of([*placed, pod], [group], nodes).pre_filter(pod)
    if case["passes"]:
        assert answer is None
    else:
        assert answer == Status.unresolvable("resource gap: cpu 1000m")


@cases("post_filter")
def test_post_filter(case: Case) -> None:
    assigned = [
        make_member(name=f"assigned-{at}", namespace="ns", group="pg1", node="node")
        for at in range(case["assigned"])
    ]
    pod = make_member(name="p", namespace="ns", group=case["group"])
    group = make_pod_group(name="pg1", namespace="ns", min_member=case["min_member"])
    # PreFilter must pass: the table is about pods that Filter rejects.
    missing = max(0, case["min_member"] - case["assigned"] - 1)
    more = [
        make_member(name=f"more-{at}", namespace="ns", group="pg1")
        for at in range(missing)
    ]
    harness = harness_of(
        [*assigned, pod, *more],
        [group],
        {"node": {"pods": "110"}},
        args={"podGroupRejectPercentage": case["percentage"]},
        beside=[Full],
    )
    reasons = case["reasons"]
    if reasons is None:
        reasons = [table("post_filter")["rejected"]]
    assert harness.post_filter(pod).status == Status.unschedulable(*reasons)


def queued(name: str, fields: Sequence[Any]) -> QueuedPodInfo:
    namespace, priority, group, first_tried_at = fields
    pod = make_member(name=name, namespace=namespace, group=group, priority=priority)
    return make_queued_pod(pod, initial_attempt_timestamp=first_tried_at)


@cases("less")
def test_less(case: Case) -> None:
    groups = []
    for key, created in case["groups"].items():
        namespace, name = key.split("/")
        groups.append(
            make_pod_group(name=name, namespace=namespace, creation_timestamp=created)
        )
    harness = PluginHarness(Coscheduling, objects=groups)
    first = harness.sort_key(queued("p1", case["p1"]))
    other = harness.sort_key(queued("p2", case["p2"]))
    assert (first < other) is case["less"]
    assert (other < first) is not case["less"]


def test_a_group_that_failed_is_left_alone() -> None:
    """As upstream's TestPodGroupBackoffTime."""
    pods = [make_member(name=f"pod{at}", namespace="ns", group="pg1") for at in "123"]
    group = make_pod_group(name="pg1", namespace="ns", min_member=3)
    args = {"podGroupBackoffSeconds": 1}
    nodes = {"node": {"pods": "110"}}
    harness = harness_of(pods, [group], nodes, args=args, beside=[Full])
    assert harness.pre_filter(pods[0]) is None
    assert harness.permit(pods[0], "node") == PermitWait(60)
    assert sorted(harness.state.pods_to_activate) == ["ns/pod2", "ns/pod3"]
    harness.post_filter(pods[1])
    refused = Status.unresolvable("podGroup ns/pg1 failed recently")
    assert harness.pre_filter(pods[2]) == refused


def test_a_group_that_failed_comes_later_until_it_is_complete() -> None:
    """As upstream's TestLessAfterScheduleFailure.

    Also as its TestMarkAndClearPodGroupScheduleFailure.
    """
    placed = [
        make_member(name=f"p{at}", namespace="ns", group="pg1", node="node")
        for at in (1, 2)
    ]
    pod = make_member(name="p3", namespace="ns", group="pg1")
    group = make_pod_group(
        name="pg1", namespace="ns", min_member=3, creation_timestamp=10
    )
    nodes = {"node": {"pods": "110"}}
    harness = harness_of([*placed, pod], [group], nodes, beside=[Full])
    harness.clock.advance(20)
    member = make_queued_pod(pod, initial_attempt_timestamp=15)
    rival = make_queued_pod(make_member(group=""), initial_attempt_timestamp=15)
    assert harness.sort_key(member) < harness.sort_key(rival)
    harness.post_filter(pod)
    assert harness.sort_key(rival) < harness.sort_key(member)
    assert harness.permit(pod, "node") is None
    assert harness.sort_key(member) < harness.sort_key(rival)
