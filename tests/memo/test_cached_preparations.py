"""Answers and data of PreFilter and PreScore are cached and used again."""

from collections.abc import Callable

import pytest

from quaymaster import CycleState, NodeInfo, Pod, PreFilterResult, Status, hookimpl
from tests.kit.internals.cycle import FitError
from tests.memo.world import Full, Preparing, Recording, World, kind


class Copied:
    """A value of the cycle state that is changed while pods are imagined."""

    def __init__(self, entries: list[str]) -> None:
        self.entries = entries

    def clone(self) -> "Copied":
        return Copied(list(self.entries))


class Reading(Preparing):
    """Rejects all nodes; the reason comes from the value of PreFilter."""

    @hookimpl
    def filter(self, state: CycleState) -> Status | None:
        return Status.unschedulable(str(state[self.key]))


class Spoiling(Preparing):
    """Changes the value of PreFilter."""

    @hookimpl
    def filter(self, state: CycleState, node: NodeInfo) -> Status | None:
        copied = state[self.key]
        assert isinstance(copied, Copied)
        copied.entries.append(node.name)
        return None


def prepared(
    world: World, plugin: str, answer: object = None, value: object = None
) -> None:
    """Set a plugin's answer and the value that it writes."""
    instance = world.plugin(plugin)
    assert isinstance(instance, Preparing)
    instance.answer, instance.value = answer, value  # type: ignore[assignment]  # any


def test_pre_filter_is_called_once_per_kind() -> None:
    world = World(Preparing, Full)
    for _ in range(2):
        assert world.fits(kind("a")) == ["n0", "n1", "n2"]
        assert world.fits(kind("b")) == ["n0", "n1", "n2"]
    assert world.calls("Preparing") == ["a", "b"]


def test_written_values_are_written_again() -> None:
    world = World(Reading)
    prepared(world, "Reading", value="remember me")
    for _ in range(3):
        text = "0/3 nodes are available: 3 remember me."
        assert world.message(kind("a")) == text
        assert world.state[Preparing.key] == "remember me"
    assert world.calls("Reading") == ["a"]


def test_values_that_can_be_cloned_are_new_in_each_attempt() -> None:
    world = World(Spoiling)
    prepared(world, "Spoiling", value=Copied([]))
    seen = []
    for _ in range(3):
        world.fits(kind("a"))
        world.set_node("n1")
        value = world.state[Preparing.key]
        assert isinstance(value, Copied)
        seen.append(sorted(value.entries))
    assert seen == [["n0", "n1", "n2"], ["n1"], ["n1"]]


def test_values_that_cannot_be_cloned_are_not_cached_and_break_nothing() -> None:
    class Stuck:
        def clone(self) -> object:
            raise RuntimeError("stuck")

    world = World(Preparing, Full)
    prepared(world, "Preparing", value=Stuck())
    for _ in range(2):
        assert world.fits(kind("a")) == ["n0", "n1", "n2"]
    assert world.calls("Preparing") == ["a", "a"]


def test_every_pod_of_the_kind_activates_the_same_pods() -> None:
    class Activating(Preparing):
        @hookimpl
        def pre_filter(self, state: CycleState, pod: Pod) -> None:
            self.calls.append(pod.labels["kind"])
            state.pods_to_activate.append("default/sibling")

    world = World(Activating, Full)
    for _ in range(3):
        world.fits(kind("a"))
        assert world.state.pods_to_activate == ["default/sibling"]
    assert world.calls("Activating") == ["a"]


def test_a_skip_is_cached() -> None:
    class Skipping(Preparing, Full):
        @hookimpl
        def filter(self, pod: Pod, node: NodeInfo) -> Status | None:
            return Status.unschedulable("never called")

    world = World(Skipping)
    prepared(world, "Skipping", Status.skip())
    for _ in range(2):
        assert world.fits(kind("a")) == ["n0", "n1", "n2"]
        assert world.state.skip_filter_plugins == {"Skipping"}
    assert world.calls("Skipping") == ["a"]


class Imagining(Preparing):
    """Has hooks for imagined pods."""

    @hookimpl
    def add_pod(self, state: CycleState) -> None:
        """Add an imagined pod."""


def test_only_a_skip_is_cached_of_a_plugin_that_imagines_pods() -> None:
    world = World(Imagining, Full)
    prepared(world, "Imagining", Status.skip())
    for _ in range(2):
        assert world.fits(kind("a")) == ["n0", "n1", "n2"]
        assert world.state.skip_filter_plugins == {"Imagining"}
    assert world.calls("Imagining") == ["a"]


def test_a_plugin_that_imagines_pods_is_called_again_if_it_does_not_skip() -> None:
    world = World(Imagining, Full)
    for value in "xyz":
        prepared(world, "Imagining", value=value)
        assert world.fits(kind("a")) == ["n0", "n1", "n2"]
        assert world.state[Preparing.key] == value
    assert world.calls("Imagining") == ["a", "a", "a"]


def test_a_restriction_to_some_nodes_is_cached() -> None:
    world = World(Preparing, Full, nodes=4)
    prepared(world, "Preparing", PreFilterResult(frozenset({"n1", "n2"})))
    world.bind("a", "n2")
    for _ in range(2):
        assert world.fits(kind("a")) == ["n1"]
    assert world.calls("Preparing") == ["a"]
    world.bind("a", "n1")
    assert world.message(kind("a")) == (
        "0/4 nodes are available: 2 has a, 2 node(s) didn't satisfy plugin(s) "
        "[Preparing]."
    )


@pytest.mark.parametrize("reject", [Status.unschedulable, Status.unresolvable])
def test_a_rejection_is_cached_with_its_plugin(
    reject: Callable[[str], Status],
) -> None:
    world = World(Preparing, Full)
    prepared(world, "Preparing", reject("not today"))
    for _ in range(2):
        unfit = world.attempt(kind("a"))
        assert isinstance(unfit, FitError)
        assert unfit.diagnosis is not None
        text = "0/3 nodes are available: not today."
        assert unfit.diagnosis.message() == text
        assert unfit.diagnosis.unschedulable_plugins == {"Preparing"}
    assert world.calls("Preparing") == ["a"]


class Later(Preparing):
    """Does the same, after the other plugin."""


def test_nothing_is_cached_of_an_attempt_that_ended_early() -> None:
    world = World(Preparing, Later)
    prepared(world, "Preparing", Status.unresolvable("not today"))
    world.message(kind("a"))
    assert world.calls("Later") == []
    world.message(kind("a"))
    assert world.calls("Preparing") == ["a", "a"]


def test_errors_of_pre_filter_are_never_cached() -> None:
    class Failing(Preparing):
        @hookimpl
        def pre_filter(self, state: CycleState, pod: Pod) -> None:
            self.calls.append(pod.labels["kind"])
            if len(self.calls) < 3:
                raise RuntimeError("out of order")

    world = World(Failing)
    for _ in range(2):
        assert isinstance(world.attempt(kind("a")), FitError)
    assert world.fits(kind("a")) == ["n0", "n1", "n2"]
    assert world.fits(kind("a")) == ["n0", "n1", "n2"]
    assert world.calls("Failing") == ["a"] * 3


def test_a_plugin_that_does_not_sign_is_called_between_those_that_do() -> None:
    class Live(Preparing):
        @hookimpl
        def sign_pod(self, pod: Pod) -> None:
            return None

        @hookimpl
        def filter(self, state: CycleState) -> Status | None:
            return None if self.key in state else Status.unschedulable("forgot")

    world = World(Preparing, Live, Later)
    prepared(world, "Live", value="from the live one")
    for _ in range(3):
        world.fits(kind("a"))
        assert world.state[Preparing.key] == "from the live one"
    assert world.calls("Live") == ["a"] * 3
    assert world.calls("Later") == ["a"]
    prepared(world, "Live", Status.skip(), "and now it skips")
    world.fits(kind("a"))
    assert world.state.skip_filter_plugins == {"Live"}


class PreScoring(Recording):
    """Scores by the value of PreScore."""

    key = Preparing.key
    answer: Status | None = None

    @hookimpl
    def pre_score(self, state: CycleState, pod: Pod) -> Status | None:
        self.calls.append(f"pre {pod.labels['kind']}")
        state[self.key] = 7
        return self.answer

    @hookimpl
    def score(self, state: CycleState, node: NodeInfo) -> int:
        self.calls.append(node.name)
        value = state[self.key]
        assert isinstance(value, int)
        return value if node.name == "n1" else 0


def test_pre_score_is_called_once_per_kind_and_its_values_stay() -> None:
    world = World(Full, PreScoring)
    for _ in range(3):
        assert world.fits(kind("a")) == ["n1"]
        assert world.state[Preparing.key] == 7
    assert world.calls("PreScoring") == ["n0", "n1", "n2", "pre a"]
    world.bind("b", "n0")
    assert world.fits(kind("a")) == ["n1"]
    assert world.calls("PreScoring") == ["n0"]


def test_a_skip_of_pre_score_is_cached() -> None:
    class Bored(PreScoring):
        answer: Status | None = Status.skip()

    world = World(Full, Bored)
    for _ in range(2):
        assert world.fits(kind("a")) == ["n0", "n1", "n2"]
        assert world.state.skip_score_plugins == {"Bored"}
    assert world.calls("Bored") == ["pre a"]


def test_errors_of_pre_score_are_never_cached() -> None:
    class Failing(PreScoring):
        @hookimpl
        def pre_score(self, state: CycleState, pod: Pod) -> None:
            self.calls.append("pre")
            state[self.key] = 7
            if self.calls.count("pre") < 3:
                raise RuntimeError("out of order")

    world = World(Full, Failing)
    for _ in range(2):
        unfit = world.attempt(kind("a"))
        assert isinstance(unfit, FitError)
        assert "out of order" in unfit.status.message
    for _ in range(2):
        assert world.fits(kind("a")) == ["n1"]
    assert world.calls("Failing").count("pre") == 3
