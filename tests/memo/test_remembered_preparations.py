"""What PreFilter and PreScore plugins say and write is said and written again."""

from collections.abc import Callable

import pytest

from quaymaster import CycleState, NodeInfo, Pod, PreFilterResult, Status, hookimpl
from tests.kit.internals.cycle import FitError
from tests.memo.world import Asked, Full, Preparing, World, kind


class Copied:
    """A value of the cycle state that is changed while pods are imagined."""

    def __init__(self, entries: list[str]) -> None:
        self.entries = entries

    def clone(self) -> "Copied":
        return Copied(list(self.entries))


class Reading(Preparing):
    """Rejects all nodes, for the reason that was written at PreFilter."""

    @hookimpl
    def filter(self, state: CycleState) -> Status | None:
        return Status.unschedulable(str(state[self.key]))


class Spoiling(Preparing):
    """Changes what was written at PreFilter."""

    @hookimpl
    def filter(self, state: CycleState, node: NodeInfo) -> Status | None:
        copied = state[self.key]
        assert isinstance(copied, Copied)
        copied.entries.append(node.name)
        return None


def prepared(
    world: World, plugin: str, answer: object = None, value: object = None
) -> None:
    """Tell a plugin what to answer and to write."""
    instance = world.plugin(plugin)
    assert isinstance(instance, Preparing)
    instance.answer, instance.value = answer, value  # type: ignore[assignment]  # any


def test_pre_filter_is_asked_once_per_kind() -> None:
    world = World(Preparing, Full)
    for _ in range(2):
        assert world.fits(kind("a")) == ["n0", "n1", "n2"]
        assert world.fits(kind("b")) == ["n0", "n1", "n2"]
    assert world.asked("Preparing") == ["a", "b"]


def test_what_was_written_is_written_again() -> None:
    world = World(Reading)
    prepared(world, "Reading", value="remember me")
    for _ in range(3):
        text = "0/3 nodes are available: 3 remember me."
        assert world.message(kind("a")) == text
        assert world.state[Preparing.key] == "remember me"
    assert world.asked("Reading") == ["a"]


def test_what_can_be_cloned_is_new_in_each_attempt() -> None:
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


def test_what_cannot_be_cloned_is_not_remembered_and_breaks_nothing() -> None:
    class Stuck:
        def clone(self) -> object:
            raise RuntimeError("stuck")

    world = World(Preparing, Full)
    prepared(world, "Preparing", value=Stuck())
    for _ in range(2):
        assert world.fits(kind("a")) == ["n0", "n1", "n2"]
    assert world.asked("Preparing") == ["a", "a"]


def test_pods_that_are_to_be_activated_are_so_for_every_pod_of_the_kind() -> None:
    class Activating(Preparing):
        @hookimpl
        def pre_filter(self, state: CycleState, pod: Pod) -> None:
            self.asked.append(pod.labels["kind"])
            state.pods_to_activate.append("default/sibling")

    world = World(Activating, Full)
    for _ in range(3):
        world.fits(kind("a"))
        assert world.state.pods_to_activate == ["default/sibling"]
    assert world.asked("Activating") == ["a"]


def test_a_skip_is_remembered() -> None:
    class Skipping(Preparing, Full):
        @hookimpl
        def filter(self, pod: Pod, node: NodeInfo) -> Status | None:
            return Status.unschedulable("never asked")

    world = World(Skipping)
    prepared(world, "Skipping", Status.skip())
    for _ in range(2):
        assert world.fits(kind("a")) == ["n0", "n1", "n2"]
        assert world.state.skip_filter_plugins == {"Skipping"}
    assert world.asked("Skipping") == ["a"]


class Imagining(Preparing):
    """Wants to be told of pods that are imagined."""

    @hookimpl
    def add_pod(self, state: CycleState) -> None:
        """Have an opinion about pods that may come."""


def test_a_skip_is_all_that_is_remembered_of_a_plugin_that_imagines_pods() -> None:
    world = World(Imagining, Full)
    prepared(world, "Imagining", Status.skip())
    for _ in range(2):
        assert world.fits(kind("a")) == ["n0", "n1", "n2"]
        assert world.state.skip_filter_plugins == {"Imagining"}
    assert world.asked("Imagining") == ["a"]


def test_a_plugin_that_imagines_pods_is_asked_again_if_it_does_not_skip() -> None:
    world = World(Imagining, Full)
    for value in "xyz":
        prepared(world, "Imagining", value=value)
        assert world.fits(kind("a")) == ["n0", "n1", "n2"]
        assert world.state[Preparing.key] == value
    assert world.asked("Imagining") == ["a", "a", "a"]


def test_a_restriction_to_some_nodes_is_remembered() -> None:
    world = World(Preparing, Full, nodes=4)
    prepared(world, "Preparing", PreFilterResult(frozenset({"n1", "n2"})))
    world.bind("a", "n2")
    for _ in range(2):
        assert world.fits(kind("a")) == ["n1"]
    assert world.asked("Preparing") == ["a"]
    world.bind("a", "n1")
    assert world.message(kind("a")) == (
        "0/4 nodes are available: 2 has a, 2 node(s) didn't satisfy plugin(s) "
        "[Preparing]."
    )


@pytest.mark.parametrize("reject", [Status.unschedulable, Status.unresolvable])
def test_a_rejection_is_remembered_with_its_plugin(
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
    assert world.asked("Preparing") == ["a"]


class Later(Preparing):
    """The same, after the other."""


def test_an_attempt_that_ended_early_teaches_nothing() -> None:
    world = World(Preparing, Later)
    prepared(world, "Preparing", Status.unresolvable("not today"))
    world.message(kind("a"))
    assert world.asked("Later") == []
    world.message(kind("a"))
    assert world.asked("Preparing") == ["a", "a"]


def test_errors_of_pre_filter_are_never_remembered() -> None:
    class Failing(Preparing):
        @hookimpl
        def pre_filter(self, state: CycleState, pod: Pod) -> None:
            self.asked.append(pod.labels["kind"])
            if len(self.asked) < 3:
                raise RuntimeError("out of order")

    world = World(Failing)
    for _ in range(2):
        assert isinstance(world.attempt(kind("a")), FitError)
    assert world.fits(kind("a")) == ["n0", "n1", "n2"]
    assert world.fits(kind("a")) == ["n0", "n1", "n2"]
    assert world.asked("Failing") == ["a"] * 3


def test_a_plugin_that_does_not_sign_is_asked_between_those_that_do() -> None:
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
    assert world.asked("Live") == ["a"] * 3
    assert world.asked("Later") == ["a"]
    prepared(world, "Live", Status.skip(), "and now it skips")
    world.fits(kind("a"))
    assert world.state.skip_filter_plugins == {"Live"}


class PreScoring(Asked):
    """Scores by what it wrote at PreScore."""

    key = Preparing.key
    answer: Status | None = None

    @hookimpl
    def pre_score(self, state: CycleState, pod: Pod) -> Status | None:
        self.asked.append(f"pre {pod.labels['kind']}")
        state[self.key] = 7
        return self.answer

    @hookimpl
    def score(self, state: CycleState, node: NodeInfo) -> int:
        self.asked.append(node.name)
        value = state[self.key]
        assert isinstance(value, int)
        return value if node.name == "n1" else 0


def test_pre_score_is_asked_once_per_kind_and_what_it_wrote_stays() -> None:
    world = World(Full, PreScoring)
    for _ in range(3):
        assert world.fits(kind("a")) == ["n1"]
        assert world.state[Preparing.key] == 7
    assert world.asked("PreScoring") == ["n0", "n1", "n2", "pre a"]
    world.bind("b", "n0")
    assert world.fits(kind("a")) == ["n1"]
    assert world.asked("PreScoring") == ["n0"]


def test_a_skip_of_pre_score_is_remembered() -> None:
    class Bored(PreScoring):
        answer: Status | None = Status.skip()

    world = World(Full, Bored)
    for _ in range(2):
        assert world.fits(kind("a")) == ["n0", "n1", "n2"]
        assert world.state.skip_score_plugins == {"Bored"}
    assert world.asked("Bored") == ["pre a"]


def test_errors_of_pre_score_are_never_remembered() -> None:
    class Failing(PreScoring):
        @hookimpl
        def pre_score(self, state: CycleState, pod: Pod) -> None:
            self.asked.append("pre")
            state[self.key] = 7
            if self.asked.count("pre") < 3:
                raise RuntimeError("out of order")

    world = World(Full, Failing)
    for _ in range(2):
        unfit = world.attempt(kind("a"))
        assert isinstance(unfit, FitError)
        assert "out of order" in unfit.status.message
    for _ in range(2):
        assert world.fits(kind("a")) == ["n1"]
    assert world.asked("Failing").count("pre") == 3
