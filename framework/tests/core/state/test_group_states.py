"""The pods of a group by their state, and how the cache keeps them in step.

Some cases mirror ``podgroupstate_test.go`` (Kubernetes v1.37,
``pkg/scheduler/backend/cache``).
"""

import pytest
from msgspec.structs import replace

from quaymaster import Pod, Snapshot
from quaymaster.testing import make_node, make_pod, make_pod_group
from tests.kit.internals.state import GroupCache, GroupState, GroupStates


def member(name: str, *, node: str | None = None) -> Pod:
    return make_pod(name=name, uid=name, node=node, scheduling_group="gang")


def state_of(states: GroupStates) -> GroupState:
    state = states.get("default/gang")
    assert state is not None
    return state


def counts(states: GroupStates) -> tuple[list[str], list[str], list[str]]:
    state = state_of(states)
    assert {*state.unscheduled, *state.assumed, *state.assigned} == state.pods.keys()
    return list(state.unscheduled), list(state.assumed), list(state.assigned)


@pytest.fixture
def states() -> GroupStates:
    return GroupStates()


@pytest.fixture
def cache(states: GroupStates) -> GroupCache:
    cache = GroupCache(Snapshot(), states)
    cache.add_node(make_node(name="n1"))
    return cache


def test_pod_without_a_node_is_unscheduled_and_one_with_a_node_assigned(
    states: GroupStates,
) -> None:
    states.put(member("a"))
    states.put(member("b", node="n1"))
    assert counts(states) == (["a"], [], ["b"])
    assert state_of(states).scheduled_count == 1


def test_pods_may_come_before_the_object(states: GroupStates) -> None:
    states.put(member("a"))
    assert state_of(states).group is None
    states.set_group(make_pod_group(name="gang"))
    assert state_of(states).group == make_pod_group(name="gang")


def test_state_ends_with_the_last_pod_and_the_object(states: GroupStates) -> None:
    group = make_pod_group(name="gang")
    states.set_group(group)
    states.put(member("a"))
    states.remove_group(group)
    assert len(states) == 1
    states.remove(member("a"))
    assert states.get("default/gang") is None


def test_state_stays_with_the_object_alone(states: GroupStates) -> None:
    states.set_group(make_pod_group(name="gang"))
    states.put(member("a"))
    states.remove(member("a"))
    assert [state.key for state in states] == ["default/gang"]


def test_pods_outside_groups_have_no_state(states: GroupStates) -> None:
    states.put(make_pod(name="single"))
    assert states.of(make_pod(name="single")) is None
    assert len(states) == 0


def test_assumed_pod_counts_as_scheduled_with_its_node(
    cache: GroupCache, states: GroupStates
) -> None:
    states.put(member("a"))
    cache.assume(member("a", node="n1"))
    assert counts(states) == ([], ["a"], [])
    assert [pod.node_name for pod in state_of(states).scheduled()] == ["n1"]


def test_forgotten_pod_is_unscheduled_again_in_its_newest_version(
    cache: GroupCache, states: GroupStates
) -> None:
    states.put(member("a"))
    cache.assume(member("a", node="n1"))
    newer = replace(
        member("a"), metadata=replace(member("a").metadata, labels={"v": "2"})
    )
    states.put(newer)
    assert counts(states) == ([], ["a"], [])
    cache.forget(member("a", node="n1"))
    assert state_of(states).unscheduled == {"a": newer}


def test_bound_pod_moves_from_assumed_to_assigned(
    cache: GroupCache, states: GroupStates
) -> None:
    states.put(member("a"))
    cache.assume(member("a", node="n1"))
    cache.add_pod(member("a", node="n1"))
    assert counts(states) == ([], [], ["a"])
    assert not cache.forget(member("a", node="n1"))
    assert counts(states) == ([], [], ["a"])


def test_pod_bound_by_another_scheduler_is_assigned(
    cache: GroupCache, states: GroupStates
) -> None:
    states.put(member("a"))
    cache.update_pod(member("a"), member("a", node="n1"))
    assert counts(states) == ([], [], ["a"])


def test_deleted_pod_leaves_its_group(cache: GroupCache, states: GroupStates) -> None:
    states.set_group(make_pod_group(name="gang"))
    cache.add_pod(member("a", node="n1"))
    cache.remove_pod(member("a", node="n1"))
    assert counts(states) == ([], [], [])


def test_assumed_pod_that_is_being_deleted_leaves_its_group(
    cache: GroupCache, states: GroupStates
) -> None:
    states.set_group(make_pod_group(name="gang"))
    states.put(member("a"))
    cache.assume(member("a", node="n1"))
    cache.remove_assumed(member("a", node="n1"))
    assert counts(states) == ([], [], [])
    assert cache.get("a") is None


def test_pod_that_was_deleted_during_its_attempt_is_not_counted_again(
    cache: GroupCache, states: GroupStates
) -> None:
    states.set_group(make_pod_group(name="gang"))
    cache.assume(member("a", node="n1"))
    assert counts(states) == ([], [], [])
    cache.forget(member("a", node="n1"))
    assert counts(states) == ([], [], [])


def test_annotations_of_an_assumed_pod_reach_its_group(
    cache: GroupCache, states: GroupStates
) -> None:
    states.put(member("a"))
    assumed = member("a", node="n1")
    cache.assume(assumed)
    cache.annotate(assumed, {"device": "7"})
    assert state_of(states).assumed["a"].annotations == {"device": "7"}
