"""Suggestions for groups are simulated, and change only what may be changed."""

from collections.abc import Sequence

import pytest
from msgspec.structs import replace

from quaymaster import ApiObject
from quaymaster.config import Kubernetes, default_config
from quaymaster.objects import OwnerReference
from quaymaster.simulation import (
    ChangeKind,
    GroupOutcome,
    Suggestions,
    explain_group,
    suggest_group_changes,
)
from quaymaster.testing import make_node, make_pod
from tests.kit.group_cluster import cpu_nodes, gang_objects

GATES = {"GenericWorkload": True, "TopologyAwareWorkloadScheduling": True}
CONFIG = default_config(kubernetes=Kubernetes("1.37", GATES))


def suggested(objects: Sequence[ApiObject]) -> Suggestions:
    return suggest_group_changes("podgroup/gang", objects, config=CONFIG)


def racked(*racks: str) -> list[ApiObject]:
    return [
        make_node(name=f"{rack}-1", labels={"rack": rack}, allocatable={"cpu": "2"})
        for rack in racks
    ]


def kinds(suggestions: Suggestions) -> list[ChangeKind]:
    return [change.kinds[0] for change in suggestions.changes]


@pytest.mark.long
def test_with_each_change_the_quorum_is_met() -> None:
    objects = [*racked("x", "y"), *gang_objects(3, topology_key="rack")]
    suggestions = suggested(objects)
    assert suggestions.changes
    for change in suggestions.changes:
        group = explain_group("podgroup/gang", change.apply(objects), config=CONFIG)
        assert group.is_quorate


@pytest.mark.long
def test_nodes_are_added_where_most_pods_fit() -> None:
    busy = make_pod(name="busy", node="x-1", requests={"cpu": "1"})
    objects = [*racked("x", "y"), busy, *gang_objects(3, topology_key="rack")]
    (added,) = [
        change
        for change in suggested(objects).changes
        if change.kinds == (ChangeKind.ADD_NODE,)
    ]
    assert added.text.startswith("add 1 more node in y, like y-1 (rack=y)")


@pytest.mark.long
def test_several_nodes_are_added_if_one_is_not_enough() -> None:
    objects = [*racked("x"), *gang_objects(7, topology_key="rack")]
    (added,) = [
        change
        for change in suggested(objects).changes
        if change.kinds == (ChangeKind.ADD_NODE,)
    ]
    assert added.text.startswith("add 3 more nodes in x,")


@pytest.mark.long
def test_the_quorum_of_a_group_with_a_controller_is_left_alone() -> None:
    group, *pods = gang_objects(3)
    owner = OwnerReference(
        api_version="batch/v1", kind="Job", name="train", uid="7", controller=True
    )
    metadata = replace(group.metadata, owner_references=(owner,))
    owned = replace(group, metadata=metadata)
    suggestions = suggested([*cpu_nodes("a", "b"), owned, *pods])
    assert ChangeKind.ADD_NODE in kinds(suggestions)
    assert ChangeKind.MIN_COUNT not in kinds(suggestions)


@pytest.mark.long
def test_leftovers_need_room_and_not_a_lower_quorum() -> None:
    objects = [*cpu_nodes("a", "b"), *gang_objects(3, min_count=2)]
    assert ChangeKind.MIN_COUNT not in kinds(suggested(objects))
    assert ChangeKind.ADD_NODE in kinds(suggested(objects))


def test_a_scheduled_group_needs_no_change() -> None:
    suggestions = suggested([*cpu_nodes("a", "b"), *gang_objects(2)])
    assert suggestions.pending == 0
    assert suggestions.changes == ()


def test_the_scheduling_gates_of_a_pod_are_opened() -> None:
    gated = make_pod(name="late", scheduling_group="gang", scheduling_gates=["quota"])
    objects = [*cpu_nodes("a", "b"), *gang_objects(2), gated]
    outcome = explain_group("podgroup/gang", objects, config=CONFIG).outcome
    assert outcome is GroupOutcome.GATED
    assert kinds(suggested(objects)) == [ChangeKind.GATES]
