"""A group is scheduled in one cycle: all that it needs, or nothing."""

import pytest
from msgspec.structs import replace

from quaymaster import CycleState, Handle, NodeInfo, Pod, Status, hookimpl
from quaymaster.inmemory import InMemoryCluster
from quaymaster.testing import SchedulerHarness, make_node, make_pod, make_pod_group
from tests.kit.group_cluster import (
    cpu_nodes,
    gang_objects,
    group_condition,
    harness_with_groups,
    nodes_by_pod,
)
from tests.kit.internals.binding import WaitingPods

NO_VICTIMS = "pod group preemption: No preemption victims found for incoming preemptor"
FULL = "0/2 nodes are available: 2 Insufficient cpu."


def test_gang_that_fits_is_bound_together() -> None:
    harness = harness_with_groups([*cpu_nodes("a", "b", "c"), *gang_objects(3)])
    harness.settle()
    assert sorted(nodes_by_pod(harness).values()) == ["a", "b", "c"]
    assert group_condition(harness) == ("True", "Scheduled", "")


def test_gang_that_does_not_fit_leaves_no_pod_on_any_node() -> None:
    harness = harness_with_groups([*cpu_nodes("a", "b"), *gang_objects(3)])
    harness.settle()
    assert nodes_by_pod(harness) == {}
    text = "minCount (3) cannot be satisfied: 2 scheduled, 0 remaining"
    assert group_condition(harness) == (
        "False",
        "Unschedulable",
        f"{text}, {NO_VICTIMS}",
    )


def test_pod_has_its_own_rejection_or_the_message_of_its_group() -> None:
    harness = harness_with_groups([*cpu_nodes("a", "b"), *gang_objects(5, min_count=4)])
    harness.settle()
    group = "minCount (4) cannot be satisfied: 2 scheduled, 1 remaining"
    assert harness.message("gang-0") == (
        f"pod group is unschedulable, {group}, {NO_VICTIMS}"
    )
    assert harness.message("gang-2") == FULL
    assert harness.message("gang-4") == group


def test_pods_beyond_the_quorum_stay_pending_on_their_own() -> None:
    harness = harness_with_groups([*cpu_nodes("a", "b"), *gang_objects(3, min_count=2)])
    harness.settle()
    assert sorted(nodes_by_pod(harness)) == ["gang-0", "gang-1"]
    harness.assert_pending("gang-2", reason=FULL)


def test_bound_pods_count_for_the_quorum() -> None:
    harness = harness_with_groups([*cpu_nodes("a", "b"), *gang_objects(2)])
    harness.settle()
    harness.cluster.create(make_node(name="c", allocatable={"cpu": "1"}))
    late = make_pod(name="late", requests={"cpu": "1"}, scheduling_group="gang")
    harness.cluster.create(late)
    harness.settle()
    harness.assert_scheduled("late", on="c")


def test_pods_that_wait_after_a_quorum_are_released_by_the_next_one() -> None:
    nodes = cpu_nodes("a", "b", "c", "d")
    harness = harness_with_groups([*nodes, *gang_objects(2)])
    harness.settle()
    harness.cluster.update(make_pod_group(name="gang", min_count=4))
    for name in ("late-0", "late-1"):
        pod = make_pod(name=name, requests={"cpu": "1"}, scheduling_group="gang")
        harness.cluster.create(pod)
    harness.settle()
    assert len(nodes_by_pod(harness)) == 4
    assert not harness.waiting_pods()


def test_waiting_pods_are_released_once_for_all_pods_above_the_quorum(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    released: list[str] = []
    get = WaitingPods.get

    def noted(waiting: WaitingPods, uid: str) -> object:
        released.append(uid)
        return get(waiting, uid)

    monkeypatch.setattr(WaitingPods, "get", noted)
    names = [f"n{number}" for number in range(8)]
    objects = [*cpu_nodes(*names), *gang_objects(8, min_count=3)]
    harness = harness_with_groups(objects)
    harness.settle()
    assert len(nodes_by_pod(harness)) == 8
    assert len(released) == 3


def test_basic_group_binds_what_fits() -> None:
    harness = harness_with_groups([*cpu_nodes("a", "b"), *gang_objects(3, basic=True)])
    harness.settle()
    assert len(nodes_by_pod(harness)) == 2
    assert group_condition(harness) == ("True", "Scheduled", "")


def test_gang_below_its_quorum_waits_without_condition_or_attempt() -> None:
    harness = harness_with_groups([*cpu_nodes("a", "b"), *gang_objects(2, min_count=3)])
    harness.settle()
    assert nodes_by_pod(harness) == {}
    assert group_condition(harness) == ()
    assert harness.attempts == []


def test_gang_is_released_when_its_quorum_falls() -> None:
    harness = harness_with_groups([*cpu_nodes("a", "b"), *gang_objects(2, min_count=3)])
    harness.settle()
    harness.cluster.update(make_pod_group(name="gang", min_count=2))
    harness.settle()
    assert len(nodes_by_pod(harness)) == 2


def test_condition_that_is_true_survives_later_failures() -> None:
    harness = harness_with_groups([*cpu_nodes("a", "b"), *gang_objects(2)])
    harness.settle()
    late = make_pod(name="late", requests={"cpu": "1"}, scheduling_group="gang")
    harness.cluster.create(late)
    harness.settle()
    harness.assert_pending("late")
    assert group_condition(harness) == ("True", "Scheduled", "")


def test_pod_that_is_being_deleted_is_left_out() -> None:
    harness = harness_with_groups(
        [*cpu_nodes("a", "b", "c"), *gang_objects(3, min_count=2)]
    )
    harness.cluster.create(make_pod(name="first", priority=10))
    stored = harness.cluster.get(Pod, "default/gang-1")
    keep_while_terminating(harness.cluster, stored)
    harness.settle()
    assert sorted(nodes_by_pod(harness)) == ["first", "gang-0", "gang-2"]


def keep_while_terminating(cluster: InMemoryCluster, pod: Pod) -> None:
    """Delete a pod that has a finalizer, so that it stays."""
    metadata = replace(pod.metadata, finalizers=("example.com/hold",))
    cluster.update(replace(pod, metadata=metadata))
    cluster.delete(Pod, pod.key)


class FailsAtThird:
    """Fails for the third pod of a group, at one hook."""

    where = ""

    def __init__(self, _args: None, handle: Handle) -> None:
        self.handle = handle
        self.reserved: list[str] = []

    def check(self, where: str, pod: Pod) -> Status | None:
        """Raise for one pod at one hook."""
        if where == self.where and pod.name == "gang-2":
            raise RuntimeError("broken")
        return None

    @hookimpl
    def pre_filter(self, pod: Pod) -> Status | None:
        return self.check("pre_filter", pod)

    @hookimpl
    def filter(self, pod: Pod, node: NodeInfo) -> Status | None:
        return self.check("filter", pod)

    @hookimpl
    def score(self, pod: Pod, node: NodeInfo) -> int:
        self.check("score", pod)
        return 0

    @hookimpl
    def reserve(self, state: CycleState, pod: Pod, node_name: str) -> Status | None:
        self.reserved.append(pod.name)
        return self.check("reserve", pod)

    @hookimpl
    def unreserve(self, pod: Pod) -> None:
        if pod.name in self.reserved:
            self.reserved.remove(pod.name)


@pytest.mark.parametrize("where", ["pre_filter", "filter", "score", "reserve"])
def test_error_of_one_pod_leaves_nothing_assumed_or_reserved(where: str) -> None:
    broken: type[FailsAtThird] = type("Broken", (FailsAtThird,), {"where": where})
    harness = with_plugin(broken)
    harness.errors.clear()
    plugin = harness.plugin(broken)
    assert nodes_by_pod(harness) == {}
    assert plugin.reserved == []
    assert all(not node.pods for node in plugin.handle.snapshot)
    status, reason, message = group_condition(harness)
    assert (status, reason) == ("False", "SchedulerError")
    assert message.startswith("failed to schedule other pod from a pod group: ")
    assert harness.message("gang-0") == message
    assert "broken" in harness.message("gang-2")


def with_plugin(plugin: type) -> SchedulerHarness:
    """Return a settled scheduler with a plugin and a gang that fits."""
    name = plugin.__name__
    config = {
        "profiles": [{"plugins": {"multiPoint": {"enabled": [{"name": name}]}}}],
        "apiVersion": "kubescheduler.config.k8s.io/v1",
        "kind": "KubeSchedulerConfiguration",
    }
    objects = [*cpu_nodes("a", "b", "c", "d"), *gang_objects(4)]
    harness = harness_with_groups(objects, plugins={name: plugin}, config=config)
    harness.settle()
    return harness


def test_group_whose_pods_differ_in_priority_is_an_error() -> None:
    objects = [*cpu_nodes("a", "b"), *gang_objects(1, min_count=2)]
    odd = make_pod(name="odd", scheduling_group="gang", priority=7)
    harness = harness_with_groups([*objects, odd])
    harness.settle()
    text = (
        "all pods in a single pod group should have the same priority as the pod "
        "group's priority, got 7 and 0"
    )
    assert group_condition(harness) == ("False", "SchedulerError", text)
    assert harness.message("gang-0") == harness.message("odd") == text
