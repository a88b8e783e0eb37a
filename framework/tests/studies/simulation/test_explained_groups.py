"""`explain_group` shows the state of a group and each of its attempts."""

from collections.abc import Iterable

from msgspec.structs import replace

from quaymaster import ApiObject
from quaymaster.config import Kubernetes, default_config
from quaymaster.simulation import (
    AttemptOutcome,
    ExplainedGroup,
    GroupOutcome,
    explain_group,
    explain_pod,
    simulate,
)
from quaymaster.testing import make_node, make_pod, make_priority_class
from tests.kit.group_cluster import cpu_nodes, gang_objects

GATES = {"GenericWorkload": True, "TopologyAwareWorkloadScheduling": True}
CONFIG = default_config(kubernetes=Kubernetes("1.37", GATES))


def racked(*racks: str, cpu: str = "1") -> list[ApiObject]:
    return [
        make_node(name=f"node-{rack}", labels={"rack": rack}, allocatable={"cpu": cpu})
        for rack in racks
    ]


def explained(objects: Iterable[ApiObject], name: str = "gang") -> ExplainedGroup:
    return explain_group(f"podgroup/{name}", objects, config=CONFIG)


def test_a_group_with_all_pods_on_nodes_is_scheduled() -> None:
    group = explained([*cpu_nodes("a", "b"), *gang_objects(2)])
    assert group.outcome is GroupOutcome.SCHEDULED
    assert group.placed == 2
    assert group.message == ""


def test_pods_beyond_the_quorum_may_be_left_over() -> None:
    group = explained([*cpu_nodes("a", "b"), *gang_objects(3, min_count=2)])
    assert group.outcome is GroupOutcome.PARTLY_SCHEDULED
    assert group.attempt == 1
    assert len(group.attempts) > 1
    (left,) = [member for member in group.members if not member.node]
    assert left.message


def test_a_basic_group_has_no_quorum() -> None:
    group = explained([*cpu_nodes("a"), *gang_objects(2, basic=True)])
    assert group.min_count is None
    assert group.outcome is GroupOutcome.PARTLY_SCHEDULED


def test_a_group_without_pods_waits_for_all_of_them() -> None:
    group = explained([*cpu_nodes("a"), *gang_objects(2)[:1]])
    assert group.outcome is GroupOutcome.WAITING
    assert group.message == "0 of 2 pods exist"
    assert group.missing == 2


def test_a_gated_pod_holds_back_its_group() -> None:
    gated = make_pod(name="late", scheduling_group="gang", scheduling_gates=["quota"])
    group = explained([*cpu_nodes("a", "b"), *gang_objects(2), gated])
    assert group.outcome is GroupOutcome.GATED
    assert group.attempts == ()
    assert "default/late" in group.message


def test_an_invalid_group_has_its_error() -> None:
    odd = make_pod(name="odd", scheduling_group="gang", priority=7)
    vip = make_priority_class(name="vip", value=7)
    odd = replace(odd, spec=replace(odd.spec, priority_class_name="vip"))
    group = explained([*cpu_nodes("a"), vip, *gang_objects(1), odd])
    assert group.outcome is GroupOutcome.ERROR
    assert "same priority" in group.message


def test_the_victims_of_a_group_are_shown() -> None:
    victim = make_pod(name="old", node="a", requests={"cpu": "1"})
    high = make_priority_class(name="high", value=100)
    objects = [*cpu_nodes("a"), high, victim, *gang_objects(1, priority=100)]
    group = explained(objects)
    first = group.attempts[0]
    assert first.outcome is AttemptOutcome.UNSCHEDULABLE
    assert first.preempted == ("default/old",)
    assert first.nominated == {"default/gang-0": "a"}
    assert group.outcome is GroupOutcome.SCHEDULED


def test_each_placement_has_the_pod_that_stops_the_group_with_facts() -> None:
    objects = [*racked("x", "y"), *gang_objects(2, topology_key="rack")]
    group = explained(objects)
    (attempt, *_) = group.attempts
    assert {placement.name for placement in attempt.placements} == {"x", "y"}
    for placement in attempt.placements:
        stopper = placement.stopper
        assert stopper is not None
        assert stopper.pod == "default/gang-1"
        (rejection,) = stopper.rejections
        assert rejection.node == f"node-{placement.name}"
        assert rejection.plugin == "NodeResourcesFit"
        assert "free cpu 0 of 1" in rejection.details


def test_the_chosen_placement_has_the_highest_total() -> None:
    busy = make_pod(name="busy", node="node-y", requests={"cpu": "1"})
    nodes = racked("x", "y", cpu="2")
    group = explained([*nodes, busy, *gang_objects(1, topology_key="rack")])
    (attempt,) = group.attempts
    totals = {each.name: each.total for each in attempt.placements}
    chosen = attempt.decisive
    assert chosen is not None
    assert chosen.name == "y"
    assert totals["y"] == max(total for total in totals.values() if total is not None)


def test_nodes_outside_the_placement_do_not_reject_a_pod() -> None:
    objects = [*racked("x", "y"), *gang_objects(2, topology_key="rack")]
    pod = explain_pod("gang-1", objects, config=CONFIG)
    assert pod.explanation is not None
    assert len(pod.explanation.rejections) == 1
    assert pod.group is not None
    assert pod.group.outcome is GroupOutcome.UNSCHEDULABLE


def test_explaining_a_group_changes_no_decision() -> None:
    objects = [
        *racked("x", "y", "z", cpu="4"),
        *gang_objects(4, topology_key="rack"),
        *gang_objects(5, name="other", topology_key="rack"),
    ]
    result = simulate(objects, config=CONFIG)
    nodes = {placement.pod: placement.node for placement in result.placements}
    group = explained(objects)
    assert {member.pod: member.node for member in group.members} == {
        pod: node for pod, node in nodes.items() if pod.startswith("default/gang-")
    }
