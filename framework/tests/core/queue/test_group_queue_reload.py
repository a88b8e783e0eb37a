"""Groups in the queue when profiles are replaced, and records that replace others."""

import pytest
from msgspec.structs import replace

from quaymaster.scheduler import QueueName
from quaymaster.testing import make_pod, make_pod_group
from tests.kit.group_rig import GroupRig, members
from tests.kit.internals.queue import BackoffPolicy, QueueProfile
from tests.kit.queue_rig import ACTIVE, ERROR_BACKOFF, UNSCHEDULABLE, by_priority

POLICY = BackoffPolicy(initial_seconds=1.0, max_seconds=10.0)
PLAIN = QueueProfile(sort_key=by_priority)


def names(rig: GroupRig, profiles: dict[str, QueueProfile]) -> list[str]:
    """Replace the profiles; return the names of the removed pods."""
    return sorted(queued.pod.name for queued in rig.queue.reload(profiles, POLICY))


def test_profile_without_the_gate_releases_a_gated_group() -> None:
    rig = GroupRig()
    rig.add_group(min_count=3)
    rig.add("a", "b")
    assert rig.where("a") is UNSCHEDULABLE
    assert names(rig, {"default-scheduler": PLAIN}) == []
    assert (rig.where("a"), rig.where("b")) == (ACTIVE, ACTIVE)


def test_group_in_backoff_backs_off_by_the_new_policy() -> None:
    rig = GroupRig(initial=8.0)
    rig.add_group()
    rig.add("a")
    rig.reject(rig.pop_group())
    assert rig.group().backoff_expiration == rig.clock.now() + 8.0
    names(rig, {"default-scheduler": PLAIN})
    assert rig.group().backoff_expiration == rig.clock.now() + 1.0
    assert rig.where("a") is ERROR_BACKOFF


def test_pods_without_a_profile_leave_every_place() -> None:
    rig = GroupRig()
    rig.add_group()
    rig.add("a", "b", nominated="n1")
    rig.add("c", group="other")
    assert names(rig, {"other-scheduler": PLAIN}) == ["a", "b", "c"]
    assert len(rig.queue) == 0
    assert rig.queue.group("default/gang") is None
    assert rig.queue.nominator.is_empty


@pytest.mark.parametrize("place", ["queued", "incomplete"])
def test_new_pod_with_the_name_of_an_older_one_replaces_its_record(place: str) -> None:
    rig = GroupRig()
    if place == "queued":
        rig.add_group()
    rig.add("a", nominated="n1")
    rig.store(make_pod(name="a", uid="another", scheduling_group="gang"))
    queued = rig.queue.get("default/a")
    assert queued is not None
    assert (queued.pod.uid, len(rig.queue)) == ("another", 1)
    assert rig.queue.nominator.is_empty
    state = rig.groups.get("default/gang")
    assert state is not None
    assert list(state.pods) == ["another"]


def test_new_pod_outside_groups_replaces_a_pod_of_a_group_and_back() -> None:
    rig = GroupRig()
    rig.add_group()
    rig.add("a", "b")
    rig.store(make_pod(name="a", uid="single"))
    assert members(rig.group()) == ["b"]
    single = rig.queue.get("default/a")
    assert single is not None
    assert (single.pod.uid, single.queue) == ("single", ACTIVE)
    rig.delete("a")
    rig.store(make_pod(name="c"))
    rig.store(make_pod(name="c", uid="member", scheduling_group="gang"))
    assert members(rig.group()) == ["b", "c"]
    assert len(rig.queue) == 2


def test_new_object_with_the_name_of_an_older_one_is_another_group() -> None:
    rig = GroupRig()
    rig.add_group(min_count=1)
    rig.add("a")
    group = make_pod_group(name="gang", min_count=2)
    rig.store(replace(group, metadata=replace(group.metadata, uid="another")))
    assert rig.where("a") is UNSCHEDULABLE


def test_pod_finishes_like_a_deleted_one() -> None:
    rig = GroupRig()
    rig.add_group(min_count=2)
    rig.add("a", "b")
    rig.end(rig.pop_group(), scheduled=["a", "b"])
    rig.bind("a", "b")
    rig.store(make_pod(name="a", node="n1", phase="Succeeded", scheduling_group="gang"))
    state = rig.groups.get("default/gang")
    assert state is not None
    assert [pod.name for pod in state.assigned.values()] == ["b"]
    rig.delete("b")
    assert state.scheduled_count == 0
    assert rig.where("a") is not QueueName.PENDING
