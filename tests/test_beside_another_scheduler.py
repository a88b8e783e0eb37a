"""Another scheduler on the same cluster: its bindings are seen, and count."""

import pytest

from quaymaster import Pod
from quaymaster.testing import SchedulerHarness, make_node, make_pod
from tests.kit.probing import probed

ALL = {"cpu": "4"}
REASONS = ("OutOfcpu", "OutOfmemory", "OutOfpods", "OutOfephemeral-storage")


def others(name: str, *, node: str | None = None) -> Pod:
    """Return a pod of the other scheduler, which takes a whole node."""
    return make_pod(name=name, node=node, scheduler_name="other", requests=ALL)


def refuse(harness: SchedulerHarness, key: str, reason: str) -> None:
    """Reject a pod, as a kubelet without room does."""
    changes = {"phase": "Failed", "reason": reason, "message": "Pod was rejected"}
    harness.cluster.patch_status(harness.pod(key), changes)


def raced() -> tuple[SchedulerHarness, str]:
    """Make a cluster on which both schedulers have just taken the same room.

    Returns:
        The cluster, and the node of our pod 'p' and of the other one's pod.
    """

    def take_all(harness: SchedulerHarness) -> None:
        for node in ("a", "b"):
            harness.cluster.create(others(f"on-{node}", node=node))

    harness = probed("reserve", take_all)
    harness.cluster.delete(Pod, "default/p")
    harness.cluster.create(make_pod(name="p", requests={"cpu": "1"}))
    harness.settle()
    return harness, harness.node_of("p")


def test_pods_of_the_other_one_take_their_room() -> None:
    nodes = [make_node(name=name, allocatable=ALL) for name in ("a", "b")]
    harness = SchedulerHarness(nodes)
    harness.cluster.create(others("theirs", node="a"))
    harness.cluster.create(make_pod(name="first", requests=ALL))
    harness.cluster.create(make_pod(name="second", requests=ALL))
    harness.settle()
    placed = [harness.node_of(name) for name in ("first", "second")]
    assert sorted(placed) == ["", "b"]


def test_pods_that_wait_for_the_other_one_are_left_alone() -> None:
    harness = SchedulerHarness([make_node(name="a")])
    harness.cluster.create(others("theirs"))
    harness.settle()
    assert harness.attempts == []
    harness.assert_pending("theirs")


@pytest.mark.parametrize("reason", REASONS)
def test_pod_that_lost_a_race_takes_no_room(reason: str) -> None:
    harness, node = raced()
    refuse(harness, "p", reason)
    harness.cluster.create(make_pod(name="next", requests=ALL))
    harness.settle()
    harness.assert_pending("next", reason="2 Insufficient cpu")
    harness.cluster.delete(Pod, f"default/on-{node}")
    harness.settle()
    harness.assert_scheduled("next", on=node)


@pytest.mark.parametrize("reason", REASONS)
def test_pod_of_the_other_one_that_lost_a_race_takes_no_room(reason: str) -> None:
    harness, node = raced()
    refuse(harness, f"on-{node}", reason)
    harness.cluster.create(make_pod(name="next", requests=ALL))
    harness.settle()
    harness.assert_pending("next")
    harness.cluster.delete(Pod, "default/p")
    harness.settle()
    harness.assert_scheduled("next", on=node)


def test_room_that_a_refused_pod_leaves_wakes_those_that_wait() -> None:
    harness, node = raced()
    harness.cluster.create(make_pod(name="next", requests=ALL))
    harness.settle()
    harness.assert_pending("next")
    refuse(harness, "p", "OutOfcpu")
    refuse(harness, f"on-{node}", "OutOfcpu")
    harness.settle()
    harness.assert_scheduled("next", on=node)
