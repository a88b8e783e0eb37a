"""Pending pods are summed up by owner and by cause."""

from typing import Any

import pytest

from quaymaster import ApiObject, Node
from quaymaster.config import default_config
from quaymaster.scheduler import PluginRegistry
from quaymaster.simulation import (
    Cause,
    ChangeKind,
    PendingGroup,
    PendingSummary,
    PodNotFoundError,
    explain_pending,
    suggest_changes,
)
from quaymaster.testing import (
    make_deployment,
    make_node,
    make_pod,
    make_spread_constraint,
)

REGISTRY = PluginRegistry.discover()
NODES = (
    make_node(name="a", capacity={"cpu": "4", "pods": "9"}),
    make_node(name="b", capacity={"cpu": "4", "pods": "9"}, taints=["k=v:NoSchedule"]),
)
WEB = make_deployment(name="web", replicas=5, pod=make_pod(requests={"cpu": "1500m"}))
GATED = make_pod(name="gated", scheduling_gates=["x.io/y"])
SSD = make_pod(name="ssd", namespace="other", node_selector={"disk": "ssd"})


def summary_of(
    *objects: ApiObject,
    pods: tuple[str, ...] = (),
    namespace: str = "",
    suggest: bool = False,
) -> PendingSummary:
    return explain_pending(
        objects,
        config=default_config(REGISTRY),
        registry=REGISTRY,
        pods=pods,
        namespace=namespace,
        suggest=suggest,
    )


def subject_and_count(group: PendingGroup) -> tuple[str, int]:
    return group.subject, len(group.pods)


def test_pods_are_grouped_by_workload_with_the_largest_first() -> None:
    summary = summary_of(*NODES, WEB, GATED, SSD)
    assert list(map(subject_and_count, summary.groups)) == [
        ("deployment/web", 3),
        ("pod/gated", 1),
        ("pod/ssd", 1),
    ]
    assert (summary.pods, summary.placed, summary.nodes) == (5, 2, 2)


def test_causes_count_the_nodes_that_each_plugin_rejected() -> None:
    [group] = summary_of(*NODES, WEB).groups
    assert group.causes == (
        Cause(plugin="NodeResourcesFit", reason="Insufficient cpu", nodes=1, alone=1),
        Cause(
            plugin="TaintToleration",
            reason="node(s) had untolerated taint(s)",
            nodes=1,
            alone=1,
        ),
    )


def test_pods_that_were_never_tried_have_a_cause_too() -> None:
    [group] = summary_of(*NODES, GATED).groups
    assert group.reason == "SchedulingGated"
    [cause] = group.causes
    assert (cause.plugin, cause.nodes) == ("SchedulingGates", 0)


def test_pods_may_be_selected_by_name() -> None:
    summary = summary_of(*NODES, WEB, GATED, SSD, pods=("deploy/web", "ssd"))
    assert [group.subject for group in summary.groups] == ["deployment/web", "pod/ssd"]


def test_pods_may_be_selected_by_namespace() -> None:
    [group] = summary_of(*NODES, WEB, SSD, namespace="other").groups
    assert (group.namespace, group.subject) == ("other", "pod/ssd")


@pytest.mark.long
def test_one_change_is_suggested_for_each_group() -> None:
    summary = summary_of(*NODES, WEB, GATED, SSD, suggest=True)
    kinds = [group.change.kinds for group in summary.groups if group.change is not None]
    assert kinds == [
        (ChangeKind.LOWER_REQUEST_FAR,),
        (ChangeKind.GATES,),
        (ChangeKind.SELECTOR,),
    ]
    assert summary.trials > len(kinds)
    assert summary.is_complete


def test_without_pending_pods_the_summary_is_empty() -> None:
    assert summary_of(*NODES, make_pod(name="p")).groups == ()


def test_an_unknown_name_is_an_error() -> None:
    with pytest.raises(PodNotFoundError, match="no such pod"):
        summary_of(*NODES, pods=("nobody",))


def test_causes_that_alone_keep_pods_from_nodes_come_first() -> None:
    closed = make_node(
        name="closed", capacity={"cpu": "1", "pods": "9"}, taints=["k=v:NoSchedule"]
    )
    small = make_node(name="small", capacity={"cpu": "1", "pods": "9"})
    pods = [make_pod(name=f"p-{n}", requests={"cpu": "2"}) for n in range(2)]
    summary = summary_of(closed, small, *pods)
    counts = [(cause.plugin, cause.helped, cause.pods) for cause in summary.causes]
    assert counts == [("NodeResourcesFit", 2, 2), ("TaintToleration", 0, 2)]
    assert summary.groups[0].causes[0].reason == "Insufficient cpu"


@pytest.mark.long
def test_one_change_places_the_pods_of_workloads_with_the_same_cause() -> None:
    node = make_node(name="a", capacity={"cpu": "4", "pods": "9"})
    workloads = [
        make_deployment(name=name, replicas=3, pod=make_pod(requests={"cpu": "2"}))
        for name in ("web", "api")
    ]
    summary = summary_of(node, *workloads, suggest=True)
    changes = {id(group.change): group.change for group in summary.groups}
    [change] = changes.values()
    assert change is not None
    assert change.text.startswith("add 2 nodes like a; ")
    assert change.placed == 4
    assert summary.trials < 5


def in_zone(name: str, zone: str, pool: str = "a") -> Node:
    labels = {"topology.kubernetes.io/zone": zone, "nodepool": pool}
    return make_node(name=name, capacity={"cpu": "4", "pods": "9"}, labels=labels)


def pending(name: str, replicas: int, **pod: Any) -> ApiObject:
    template = make_pod(requests={"cpu": "3"}, **pod)
    return make_deployment(name=name, replicas=replicas, pod=template)


def texts_of(summary: PendingSummary) -> dict[str, str]:
    return {
        group.subject: group.change.text if group.change is not None else ""
        for group in summary.groups
    }


@pytest.mark.long
def test_workloads_that_wait_for_other_nodes_get_other_changes() -> None:
    nodes = [in_zone("a-0", "z", "a"), in_zone("b-0", "z", "b")]
    workloads = [
        pending(f"{pool}-{number}", 3, node_selector={"nodepool": pool})
        for pool in ("a", "b")
        for number in range(2)
    ]
    texts = texts_of(summary_of(*nodes, *workloads, suggest=True))
    assert texts["deployment/a-0"] == texts["deployment/a-1"]
    assert texts["deployment/a-0"].startswith("add 5 nodes like a-0 (nodepool=a)")
    assert texts["deployment/b-0"].startswith("add 5 nodes like b-0 (nodepool=b)")


@pytest.mark.long
def test_a_workload_that_nothing_helps_does_not_hide_the_change_for_others() -> None:
    workloads = [
        pending("web", 2),
        pending("api", 2),
        pending("large", 1, node_selector={"kubernetes.io/arch": "s390x"}),
    ]
    texts = texts_of(summary_of(in_zone("a-0", "z"), *workloads, suggest=True))
    assert texts["deployment/web"] == texts["deployment/api"] != ""
    assert texts["deployment/large"] == ""


@pytest.mark.long
def test_workloads_that_spread_over_zones_get_nodes_in_each_zone() -> None:
    nodes = [in_zone(f"n-{zone}", zone) for zone in ("x", "y", "z")]
    workloads = [
        pending(name, 6, spread=[make_spread_constraint(selector={"app": name})])
        for name in ("web", "api")
    ]
    texts = texts_of(summary_of(*nodes, *workloads, suggest=True))
    assert texts["deployment/web"].startswith("add 9 nodes, 3 in each of 3 places, ")


@pytest.mark.long
def test_more_nodes_for_one_workload_are_enough_for_all_that_take_them() -> None:
    """The nodes that one workload needs would be taken by another one."""
    workloads = [pending("web", 2), pending("api", 4)]
    node = in_zone("a-0", "z")
    changes = suggest_changes("deploy/api", [node, *workloads]).changes
    [more] = [each for each in changes if each.kinds == (ChangeKind.ADD_NODE,)]
    assert more.text.startswith("add 5 nodes like a-0 ")
    assert more.placed == 5
