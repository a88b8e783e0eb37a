"""Pods that fit nowhere: equal attempts on an unchanged cluster share their outcome."""

import pytest
from msgspec.structs import replace

from quaymaster import (
    Handle,
    NodeStatuses,
    Pod,
    PodUse,
    PostFilterResult,
    Status,
    hookimpl,
)
from quaymaster.objects import PodCondition
from quaymaster.scheduler import SchedulerOptions
from tests.kit.internals.cycle import FitError
from tests.memo.world import Full, Preparing, Recording, World, kind


class Helping(Recording):
    """Records for whom it was called, and what it read."""

    def __init__(self, args: object, handle: Handle) -> None:
        super().__init__(args, handle)
        self.result: PostFilterResult | None = PostFilterResult(Status.unschedulable())
        self.seen: list[object] = []

    @hookimpl
    def post_filter(self, pod: Pod, statuses: NodeStatuses) -> PostFilterResult | None:
        self.calls.append(pod.name)
        self.seen.append([statuses[name].reasons for name in ("n0", "n1")])
        return self.result


class Live(Recording):
    """Rejects every node, and signs no pod."""

    @hookimpl
    def sign_pod(self, pod: Pod) -> None:
        return None

    @hookimpl
    def filter(self) -> Status | None:
        self.calls.append("filter")
        return Status.unschedulable("never")


class Still(Recording):
    """Rejects closed nodes, whatever pods run there."""

    pod_use = PodUse.NONE

    @hookimpl
    def filter(self, pod: Pod) -> Status | None:
        return None


class ByStatus(Recording):
    """Rejects pods without a reason in their status."""

    @hookimpl
    def sign_pod(self, pod: Pod) -> str:
        self.calls.append("sign")
        return pod.status.reason

    @hookimpl
    def filter(self, pod: Pod) -> Status | None:
        return None if pod.status.reason else Status.unschedulable("no reason")


def rejected(pod: Pod, message: str, **changes: str) -> Pod:
    """Return a pod after a failed attempt, with other changes of its status."""
    condition = PodCondition(type="PodScheduled", status="False", message=message)
    status = replace(pod.status, conditions=(condition,), **changes)
    return replace(pod, status=status)


def a_full_world(*plugins: type) -> World:
    world = World(Full, *plugins, nodes=2)
    for node in ("n0", "n1"):
        world.bind("a", node)
    return world


def unfit(world: World, pod: Pod) -> FitError:
    outcome = world.attempt(pod)
    assert isinstance(outcome, FitError)
    return outcome


def test_equal_attempts_share_their_outcome_until_a_node_changes() -> None:
    world = a_full_world()
    first = unfit(world, kind("a"))
    assert unfit(world, kind("a", name="other")) is first
    world.set_node("n0", labels={"new": ""})
    assert world.message(kind("a")) == "0/2 nodes are available: 2 has a."
    world.unbind("n0")
    assert world.fits(kind("a")) == ["n0"]
    world.bind("b", "n0")
    assert world.fits(kind("a")) == ["n0"]
    world.bind("a", "n0")
    assert unfit(world, kind("a")) is not first


def test_an_outcome_is_shared_if_a_change_leaves_all_verdicts() -> None:
    world = a_full_world()
    first = unfit(world, kind("a"))
    assert first.diagnosis is not None
    first.diagnosis.message()
    world.bind("b", "n1")
    world.calls("Full")
    assert unfit(world, kind("a")) is first
    assert world.calls("Full") == ["n1"]


def test_a_pod_is_signed_again_unless_only_its_condition_changes() -> None:
    world, pod = World(ByStatus, nodes=1), kind("a", name="p")
    first = unfit(world, rejected(pod, "one"))
    assert world.calls("ByStatus") == ["sign"]
    assert unfit(world, rejected(pod, "two")) is first
    assert world.calls("ByStatus") == []
    assert world.fits(rejected(pod, "three", reason="ready")) == ["n0"]
    assert world.calls("ByStatus") == ["sign"]


def test_pods_of_other_kinds_and_new_nodes_have_outcomes_of_their_own() -> None:
    world = a_full_world()
    first = unfit(world, kind("a"))
    world.bind("b", "n0")
    world.bind("b", "n1")
    assert unfit(world, kind("b")) is not first
    world.set_node("n2")
    assert world.fits(kind("a")) == ["n2"]
    world.bind("a", "n2")
    assert world.message(kind("a")) == "0/3 nodes are available: 3 has a."


def test_post_filter_is_called_in_every_attempt_with_equal_statuses() -> None:
    world = a_full_world(Helping)
    first = unfit(world, kind("a", name="x"))
    assert unfit(world, kind("a", name="y")) is first
    helping = world.plugin("Helping")
    assert isinstance(helping, Helping)
    assert helping.seen == [[("has a",), ("has a",)]] * 2
    helping.result = PostFilterResult(Status.unschedulable("no idea"))
    later = unfit(world, kind("a", name="x"))
    assert later.post_filter is not None
    assert later.post_filter.status == Status.unschedulable("no idea").with_plugin(
        "Helping"
    )
    helping.result = None
    assert unfit(world, kind("a", name="x")).post_filter == PostFilterResult()
    assert world.calls("Helping") == ["x", "x", "x", "y"]


class Repeating:
    """A `repeats` that records the pods of its calls."""

    def __init__(self) -> None:
        self.pods: list[str] = []

    def __call__(self, pod: Pod) -> bool:
        self.pods.append(pod.name)
        if pod.name == "raises":
            raise LookupError("gone")
        return pod.name != "other"


def helping_in(world: World, name: str = "Helping") -> Helping:
    plugin = world.plugin(name)
    assert isinstance(plugin, Helping)
    return plugin


def test_a_result_that_repeats_takes_the_place_of_the_hook() -> None:
    world, repeating = a_full_world(Helping), Repeating()
    status = Status.unschedulable("no idea")
    helping_in(world).result = PostFilterResult(status, repeats=repeating)
    first = unfit(world, kind("a", name="x"))
    assert unfit(world, kind("a", name="y")) is first
    assert (world.calls("Helping"), repeating.pods) == (["x"], ["y"])
    world.bind("b", "n0")
    assert unfit(world, kind("a", name="z")).post_filter == first.post_filter
    assert (world.calls("Helping"), repeating.pods) == (["z"], ["y"])


@pytest.mark.parametrize("name", ["other", "raises"])
def test_the_hook_is_called_unless_its_result_repeats(name: str) -> None:
    world, repeating = a_full_world(Helping), Repeating()
    helping_in(world).result = PostFilterResult(
        Status.unschedulable("no idea"), repeats=repeating
    )
    first = unfit(world, kind("a", name="x"))
    assert unfit(world, kind("a", name=name)) is first
    assert (world.calls("Helping"), repeating.pods) == ([name, "x"], [name])


class Second(Helping):
    """Is called after `Helping`."""


def test_a_plugin_is_called_after_one_whose_result_does_not_repeat() -> None:
    world, repeating = a_full_world(Helping, Second), Repeating()
    helping_in(world, "Second").result = PostFilterResult(
        Status.unschedulable("no idea"), repeats=repeating
    )
    unfit(world, kind("a", name="x"))
    unfit(world, kind("a", name="y"))
    assert (world.calls("Second"), repeating.pods) == (["x", "y"], [])
    helping_in(world).result = PostFilterResult(
        Status.unschedulable(), repeats=lambda _pod: True
    )
    unfit(world, kind("a", name="x"))
    unfit(world, kind("a", name="other"))
    assert world.calls("Helping") == ["x", "x", "y"]
    assert (world.calls("Second"), repeating.pods) == (["other", "x"], ["other"])


def test_the_hook_is_called_where_decisions_are_verified() -> None:
    world = World(Full, Helping, nodes=2, options=SchedulerOptions(verify=1))
    for node in ("n0", "n1"):
        world.bind("a", node)
    helping_in(world).result = PostFilterResult(
        Status.unschedulable(), repeats=lambda _pod: True
    )
    unfit(world, kind("a", name="x"))
    unfit(world, kind("a", name="y"))
    assert world.calls("Helping") == ["x", "y"]


@pytest.mark.parametrize("others", [(), (Still,)], ids=["alone", "beside a still one"])
def test_a_filter_without_a_signature_is_called_in_every_attempt(
    others: tuple[type, ...],
) -> None:
    world = World(*others, Live, nodes=2)
    first = unfit(world, kind("a"))
    assert world.calls("Live") == ["filter", "filter"]
    assert unfit(world, kind("a")) is not first
    assert world.calls("Live") == ["filter", "filter"]


def test_a_pod_leaves_room_for_a_nomination_after_equal_attempts() -> None:
    world = World(Full, nodes=1)
    world.bind("a", "n0")
    first = unfit(world, kind("a"))
    world.nominate("b", "n0")
    assert unfit(world, kind("a")) is not first
    assert world.message(kind("b")) == "0/1 nodes are available: 1 has b."


def test_the_values_of_pre_filter_are_there_after_equal_attempts() -> None:
    world = a_full_world(Preparing)
    preparing = world.plugin("Preparing")
    assert isinstance(preparing, Preparing)
    preparing.value = "prepared"
    for _ in range(3):
        unfit(world, kind("a"))
        assert world.state[Preparing.key] == "prepared"
    assert world.calls("Preparing") == ["a"]
