"""A tree of groups gets one decision, each group inside the nodes of its parent."""

from collections.abc import Sequence

from msgspec.structs import replace

from quaymaster import ApiObject
from quaymaster.objects import PodGroup, WorkloadReference
from quaymaster.testing import SchedulerHarness, make_composite_pod_group, make_node
from tests.kit.group_cluster import (
    cpu_nodes,
    gang_objects,
    group_condition,
    harness_with_groups,
    nodes_by_pod,
)

RACK = "example.com/rack"
REFERENCE = WorkloadReference(workload_name="workload", template_name="t")


def child(name: str, count: int, parent: str = "root") -> Sequence[ApiObject]:
    """Return a gang of pods with one CPU each, as a child of a group."""
    group, *pods = gang_objects(count, name=name)
    assert isinstance(group, PodGroup)
    spec = replace(
        group.spec, parent_composite_pod_group_name=parent, workload_ref=REFERENCE
    )
    return [replace(group, spec=spec), *pods]


def settled(*objects: ApiObject) -> SchedulerHarness:
    harness = harness_with_groups(
        objects, TopologyAwareWorkloadScheduling=True, CompositePodGroup=True
    )
    harness.settle()
    return harness


def racked(rack: str, *names: str) -> Sequence[ApiObject]:
    return [
        make_node(name=name, allocatable={"cpu": "1"}, labels={RACK: rack})
        for name in names
    ]


def test_all_groups_of_a_tree_get_nodes_of_one_rack() -> None:
    root = make_composite_pod_group(name="root", min_group_count=2, topology_key=RACK)
    nodes = [*racked("one", "a", "b"), *racked("two", "c", "d", "e")]
    harness = settled(*nodes, root, *child("left", 2), *child("right", 1))
    assert sorted(nodes_by_pod(harness).values()) == ["c", "d", "e"]
    assert group_condition(harness, "left") == ("True", "Scheduled", "")


def test_no_pod_is_bound_if_too_few_groups_fit() -> None:
    root = make_composite_pod_group(name="root", min_group_count=2)
    harness = settled(*cpu_nodes("a", "b"), root, *child("left", 2), *child("right", 1))
    assert nodes_by_pod(harness) == {}
    status, reason, message = group_condition(harness, "left")
    assert (status, reason) == ("False", "Unschedulable")
    assert "0/1 placements are available" in message


def test_group_that_does_not_fit_leaves_its_room_to_the_next_ones() -> None:
    root = make_composite_pod_group(name="root")
    harness = settled(
        *cpu_nodes("a", "b"), root, *child("large", 3), *child("small", 2)
    )
    assert set(nodes_by_pod(harness)) == {"small-0", "small-1"}
    assert group_condition(harness, "small") == ("True", "Scheduled", "")
    assert group_condition(harness, "large")[0] == "False"


def test_tree_of_three_levels_is_scheduled() -> None:
    root = make_composite_pod_group(name="root", min_group_count=1)
    middle = make_composite_pod_group(
        name="middle", min_group_count=1, topology_key=RACK, parent="root"
    )
    nodes = [*racked("one", "a"), *racked("two", "b", "c")]
    harness = settled(*nodes, root, middle, *child("leaf", 2, parent="middle"))
    assert sorted(nodes_by_pod(harness).values()) == ["b", "c"]


def test_pods_wait_until_enough_groups_are_complete() -> None:
    root = make_composite_pod_group(name="root", min_group_count=2)
    harness = settled(*cpu_nodes("a", "b"), root, *child("left", 1))
    assert nodes_by_pod(harness) == {}
    pending = harness.why_pending("default/left-0")
    assert pending is not None
    text = 'waiting for composite pod group "root" tree to meet quorum'
    assert text in pending.message
    for obj in child("right", 1):
        harness.cluster.create(obj)
    harness.settle()
    assert set(nodes_by_pod(harness)) == {"left-0", "right-0"}
