"""What becomes of groups in a cluster.

Time passes by `advance`: `settle` would try every pod again, and hide that no event has
woken it. Fifteen seconds are more than any backoff, and a pod that is deleted is gone
after thirty.
"""

from collections.abc import Iterable, Mapping

import msgspec
import pytest
from quaymaster import ApiObject, Node, PermitWait, Pod, hookimpl
from quaymaster.testing import SchedulerHarness, make_node, make_pod, profile_config

from quaymaster_coscheduling import Coscheduling, PodGroup
from quaymaster_coscheduling.testing import make_member, make_members, make_pod_group


def cluster(
    *objects: ApiObject, args: Mapping[str, object] | None = None
) -> SchedulerHarness:
    return SchedulerHarness(
        objects,
        plugins={"Coscheduling": Coscheduling},
        config=profile_config(
            enable=[Coscheduling],
            disable=["PrioritySort"],
            args={Coscheduling: args or {}},
        ),
    )


def nodes(*cpus: int) -> list[Node]:
    return [
        make_node(
            name=f"n{at}", capacity={"cpu": str(cpu), "memory": "64Gi", "pods": "110"}
        )
        for at, cpu in enumerate(cpus)
    ]


def gang(
    name: str,
    size: int,
    *,
    min_member: int | None = None,
    priority: int = 0,
    created: float = 0.0,
    timeout: int | None = None,
) -> list[ApiObject]:
    group = make_pod_group(
        name=name,
        min_member=size if min_member is None else min_member,
        creation_timestamp=created,
        schedule_timeout_seconds=timeout,
    )
    return [group, *make_members(size, group=name, priority=priority)]


def placed(harness: SchedulerHarness, group: str) -> int:
    pods = harness.cluster.list(Pod).items
    return sum(pod.name.startswith(f"{group}-") and bool(pod.node_name) for pod in pods)


def test_a_gang_that_fits_is_bound_as_a_whole() -> None:
    harness = cluster(*nodes(2, 2), *gang("a", 4))
    for expected in (0, 0, 0, 4):
        harness.schedule_one()
        harness.advance(0)
        assert placed(harness, "a") in (expected, 4)
    assert placed(harness, "a") == 4


def test_nobody_is_bound_before_all_have_a_node() -> None:
    harness = cluster(*nodes(2, 2), *gang("a", 4))
    for waiting in (1, 2, 3):
        harness.schedule_one()
        assert len(harness.waiting_pods()) == waiting
        assert placed(harness, "a") == 0
    harness.advance(15)
    assert placed(harness, "a") == 4
    assert harness.waiting_pods() == []


def test_a_gang_larger_than_the_cluster_comes_to_rest_unbound() -> None:
    harness = cluster(*nodes(2, 2), *gang("a", 5))
    harness.advance(15)
    assert placed(harness, "a") == 0
    assert harness.waiting_pods() == []
    attempts = len(harness.attempts)
    harness.advance(200)
    assert len(harness.attempts) == attempts


def test_a_new_node_wakes_a_gang_that_was_too_large() -> None:
    harness = cluster(*nodes(2, 2), *gang("a", 5))
    harness.advance(15)
    harness.cluster.create(make_node(name="new", capacity={"cpu": "1", "pods": "5"}))
    harness.advance(15)
    assert placed(harness, "a") == 5


def test_a_pod_that_goes_wakes_a_gang_that_was_too_large() -> None:
    harness = cluster(
        *nodes(2, 2),
        make_pod(name="other", node="n0", requests={"cpu": "1"}),
        *gang("a", 4),
    )
    harness.advance(15)
    assert placed(harness, "a") == 0
    harness.cluster.delete(Pod, "default/other")
    harness.advance(60)
    assert placed(harness, "a") == 4


def test_of_two_gangs_that_do_not_fit_together_the_older_one_is_bound() -> None:
    harness = cluster(
        *nodes(3, 3), *gang("young", 4, created=5), *gang("old", 4, created=4)
    )
    harness.advance(15)
    assert (placed(harness, "old"), placed(harness, "young")) == (4, 0)


def test_the_gang_of_higher_priority_is_bound_first() -> None:
    harness = cluster(
        *nodes(3, 3),
        *gang("low", 4, created=1),
        *gang("high", 4, created=2, priority=5),
    )
    harness.advance(15)
    assert (placed(harness, "high"), placed(harness, "low")) == (4, 0)


def test_gangs_that_are_too_large_come_to_rest_beside_each_other() -> None:
    harness = cluster(*nodes(4, 4), *gang("a", 9), *gang("b", 9), *gang("c", 8))
    harness.advance(15)
    assert [placed(harness, name) for name in "abc"] == [0, 0, 8]
    assert harness.waiting_pods() == []


def test_gangs_that_hold_a_part_each_do_not_starve_each_other() -> None:
    # As many of each are tried first as keep the other from the rest.
    harness = cluster(*nodes(10))
    for name in ("a", "b"):
        harness.cluster.create(
            make_pod_group(name=name, min_member=8, creation_timestamp=0.0)
        )
    for at in range(8):
        for name in ("a", "b"):
            harness.cluster.create(make_member(name=f"{at}-{name}", group=name))
    harness.advance(15)
    bound = [pod.name[-1] for pod in harness.cluster.list(Pod).items if pod.node_name]
    assert bound == ["a"] * 8


def test_a_gang_of_higher_priority_takes_the_place_of_others() -> None:
    others = [
        make_pod(name=f"low-{at}", node="n0", requests={"cpu": "1"}) for at in range(4)
    ]
    harness = cluster(*nodes(4), *others, *gang("a", 3, priority=5))
    harness.advance(90)
    assert placed(harness, "a") == 3
    assert placed(harness, "low") == 1


def test_a_gang_takes_its_turn_when_another_one_ends() -> None:
    harness = cluster(*nodes(4), *gang("a", 4, created=1), *gang("b", 3, created=2))
    harness.advance(15)
    for at in range(4):
        harness.cluster.delete(Pod, f"default/a-{at}")
    harness.advance(60)
    assert placed(harness, "b") == 3


def test_members_above_the_minimum_come_when_there_is_room() -> None:
    harness = cluster(*nodes(3), *gang("a", 5, min_member=2))
    harness.advance(15)
    assert placed(harness, "a") == 3
    harness.cluster.create(make_node(name="new", capacity={"cpu": "2", "pods": "5"}))
    harness.advance(15)
    assert placed(harness, "a") == 5


def test_members_that_fit_run_without_those_that_never_will() -> None:
    # By their names these are tried first, each time that they are called.
    huge = [make_member(name=f"a--huge-{at}", group="a", cpu="64") for at in range(3)]
    harness = cluster(*nodes(4), make_pod_group(name="a", min_member=3), *huge)
    harness.advance(15)
    for pod in make_members(3, group="a"):
        harness.cluster.create(pod)
    harness.advance(15)
    assert placed(harness, "a") == 3


def test_too_few_members_are_not_tried() -> None:
    harness = cluster(*nodes(4), *gang("a", 2, min_member=3))
    harness.advance(15)
    assert placed(harness, "a") == 0
    assert "cannot find enough sibling pods" in harness.message("a-0")
    harness.cluster.create(make_member(name="a-2", group="a"))
    harness.advance(15)
    assert placed(harness, "a") == 3


def test_the_last_gate_that_goes_wakes_the_group() -> None:
    gated = make_member(name="a-9", group="a", scheduling_gates=["quota"])
    harness = cluster(*nodes(4), *gang("a", 2, min_member=3), gated)
    harness.advance(15)
    assert "gated pods" in harness.message("a-0")
    pod = harness.pod("a-9")
    free = msgspec.structs.replace(pod.spec, scheduling_gates=())
    harness.cluster.update(msgspec.structs.replace(pod, spec=free))
    harness.advance(15)
    assert placed(harness, "a") == 3


def test_members_without_a_group_wait_for_it() -> None:
    harness = cluster(*nodes(4), *make_members(2, group="a"))
    harness.advance(15)
    assert "PodGroup not found" in harness.message("a-0")
    harness.cluster.create(make_pod_group(name="a", min_member=2))
    harness.advance(15)
    assert placed(harness, "a") == 2


def test_a_group_that_asks_for_less_is_tried_again() -> None:
    harness = cluster(*nodes(2), *gang("a", 3))
    harness.advance(15)
    assert placed(harness, "a") == 0
    stored = harness.cluster.get(PodGroup, "default/a")
    asks = make_pod_group(name="a", min_member=2)
    harness.cluster.update(
        PodGroup(metadata=stored.metadata, spec=asks.spec, status=stored.status)
    )
    harness.advance(15)
    assert placed(harness, "a") == 2


def test_a_group_whose_resources_are_not_left_is_not_tried_before_they_are() -> None:
    group = make_pod_group(name="a", min_member=2, min_resources={"cpu": "4"})
    harness = cluster(*nodes(2), group, *make_members(2, group="a"))
    harness.advance(15)
    assert placed(harness, "a") == 0
    assert "resource gap: cpu 2000m" in harness.message("a-0")
    harness.cluster.create(make_node(name="new", capacity={"cpu": "2", "pods": "5"}))
    harness.advance(15)
    assert placed(harness, "a") == 2


def test_nothing_is_kept_of_groups_that_are_gone() -> None:
    harness = cluster(*nodes(2), *gang("a", 3), *gang("b", 3))
    harness.advance(15)
    plugin = harness.plugin(Coscheduling)
    assert plugin.failed_groups == {"default/a", "default/b"}
    harness.cluster.delete(PodGroup, "default/a")
    harness.cluster.create(make_node(name="new", capacity={"cpu": "0", "pods": "5"}))
    harness.advance(15)
    assert plugin.failed_groups == {"default/b"}


@pytest.mark.parametrize(("own", "seconds"), [(None, 60), (20, 20), (0, 60)])
def test_waiting_ends_after_the_timeout_of_the_group_or_the_profile(
    own: int | None, seconds: int
) -> None:
    harness = cluster(*nodes(9), *gang("a", 10, timeout=own))
    harness.advance(0)
    # One of ten is missing: that is few enough to wait for it.
    assert len(harness.waiting_pods()) == 9
    harness.advance(seconds - 1)
    assert len(harness.waiting_pods()) == 9
    harness.advance(2)
    assert harness.waiting_pods() == []
    assert placed(harness, "a") == 0


def test_a_waiting_member_that_is_deleted_sends_the_others_back() -> None:
    harness = cluster(*nodes(4), *gang("a", 4))
    for _ in range(3):
        harness.schedule_one()
    harness.cluster.delete(Pod, harness.waiting_pods()[0])
    harness.advance(15)
    assert harness.waiting_pods() == []
    assert placed(harness, "a") == 0
    harness.cluster.create(make_member(name="a-new", group="a"))
    harness.advance(15)
    assert placed(harness, "a") == 4


class Slow:
    """Keeps every pod waiting for a while, and lets none go before."""

    def __init__(self, args: object, handle: object) -> None:
        pass

    @hookimpl
    def permit(self) -> PermitWait:
        return PermitWait(5)


def test_members_may_wait_for_another_plugin_as_well() -> None:
    harness = SchedulerHarness(
        [*nodes(4), *gang("a", 4, min_member=2)],
        plugins={"Coscheduling": Coscheduling, "Slow": Slow},
        config=profile_config(enable=[Slow, Coscheduling], disable=["PrioritySort"]),
    )
    harness.advance(1)
    harness.assert_no_errors()
    assert len(harness.waiting_pods()) == 4
    harness.advance(5)
    assert "waiting 5s at plugin Slow" in harness.message("a-0")


def test_a_new_scheduler_finds_the_members_that_are_bound() -> None:
    first = cluster(*nodes(4), *gang("a", 4))
    first.advance(15)
    first.cluster.delete(Pod, "default/a-3")
    first.advance(60)
    objects: Iterable[ApiObject] = [
        *first.cluster.list(Node).items,
        *first.cluster.list(PodGroup).items,
        *first.cluster.list(Pod).items,
    ]
    first.close()
    again = cluster(*objects, make_member(name="a-new", group="a"))
    again.advance(15)
    assert again.node_of("a-new") == "n0"


def test_a_new_scheduler_begins_anew_with_a_gang_that_was_waiting() -> None:
    first = cluster(*nodes(4), *gang("a", 4))
    for _ in range(3):
        first.schedule_one()
    objects: Iterable[ApiObject] = [
        *first.cluster.list(Node).items,
        *first.cluster.list(PodGroup).items,
        *first.cluster.list(Pod).items,
    ]
    first.close()
    again = cluster(*objects)
    again.advance(15)
    assert placed(again, "a") == 4


def test_members_that_wait_during_a_reload_count_afterwards() -> None:
    harness = cluster(*nodes(4), *gang("a", 4))
    for _ in range(3):
        harness.schedule_one()
    harness.reload(harness.config)
    harness.advance(15)
    assert placed(harness, "a") == 4


def test_a_group_in_backoff_is_left_alone_and_then_woken() -> None:
    harness = cluster(*nodes(2), *gang("a", 3), args={"podGroupBackoffSeconds": 30})
    harness.advance(1)
    harness.cluster.create(make_node(name="new", capacity={"cpu": "1", "pods": "5"}))
    harness.advance(20)
    assert placed(harness, "a") == 0
    harness.advance(10)
    assert placed(harness, "a") == 3


def test_pods_without_a_group_are_none_of_its_business() -> None:
    harness = cluster(*nodes(2), *gang("a", 3), make_pod(requests={"cpu": "2"}))
    harness.advance(15)
    harness.assert_scheduled("pod")
    harness.assert_no_errors()
