"""A score that signs pods is asked for once per kind of pod and node."""

import enum
from collections.abc import Callable

import numpy as np
import pytest

from quaymaster import (
    Int64Array,
    NodeInfo,
    NodeTable,
    Pod,
    PodUse,
    PreFilterResult,
    Rows,
    Scope,
    Status,
    hookimpl,
)
from quaymaster.scheduler import SchedulerOptions
from quaymaster.testing import SchedulerHarness, make_node
from tests.kit.documents import HEADER
from tests.kit.internals.cycle import FitError
from tests.kit.internals.memo import FEWEST_SIGNATURES, REMEMBERED_BYTES
from tests.memo.world import ALL, Asked, Full, Rated, World, kind


class StillRated(Asked):
    """Scores a node by its label ``rate``, whatever runs there."""

    pod_use = PodUse.NONE

    @hookimpl
    def score(self, node: NodeInfo) -> int:
        self.asked.append(node.name)
        return int(node.labels.get("rate", "0"))


class Ranked(StillRated):
    """Compares a node's label ``rate`` with that of all nodes."""

    scope = Scope.NODES

    @hookimpl
    def score_nodes(self, nodes: NodeTable, rows: Rows) -> Int64Array:
        self.note(nodes, rows)
        rates = [int(info.labels.get("rate", "0")) for info in nodes]
        mine = [int(info.labels.get("rate", "0")) for info in nodes.infos_at(rows)]
        return np.array([sum(rate < one for rate in rates) for one in mine])

    @hookimpl
    def score(self, node: NodeInfo) -> int:
        raise AssertionError("there are more nodes than a few")


class Stretched(Rated):
    """Gives 100 to the highest rate."""

    @hookimpl
    def normalize_score(self, scores: Int64Array) -> Int64Array:
        self.asked.append("normalize")
        return scores * 100 // max(1, int(scores.max()))


class TwinRated(Rated):
    @hookimpl
    def score_nodes(self, nodes: NodeTable, rows: Rows) -> Int64Array:
        self.note(nodes, rows)
        infos = nodes.infos_at(rows)
        rates = [int(info.labels.get("rate", "0")) for info in infos]
        return np.array(rates, dtype=np.int64) + 10 * nodes.pod_count[rows]


def rate(world: World, **rates: int) -> None:
    """Give nodes a rate."""
    for name, value in rates.items():
        world.set_node(name, labels={"rate": str(value)})


def test_a_score_is_asked_for_once_and_again_where_a_node_moved() -> None:
    world = World(Full, Rated)
    rate(world, n1=5)
    assert world.fits(kind("a")) == ["n1"]
    assert world.asked("Rated") == ["n0", "n1", "n2"]
    assert world.fits(kind("a")) == ["n1"]
    assert world.asked("Rated") == []
    world.bind("b", "n2")
    assert world.fits(kind("a")) == ["n2"]
    assert world.asked("Rated") == ["n2"]
    world.unbind("n2")
    assert world.fits(kind("a")) == ["n1"]


def test_a_node_that_is_rejected_is_not_scored_until_it_passes() -> None:
    world = World(Full, Rated)
    rate(world, n1=5)
    world.bind("a", "n1")
    assert world.fits(kind("a")) == ["n0", "n2"]
    assert world.asked("Rated") == ["n0", "n2"]
    world.unbind("n1")
    assert world.fits(kind("a")) == ["n1"]
    assert world.asked("Rated") == ["n1"]
    world.bind("a", "n1")
    assert world.fits(kind("a")) == ["n0", "n2"]
    assert world.asked("Rated") == []


def test_kinds_of_pods_have_scores_of_their_own() -> None:
    class Choosy(Asked):
        @hookimpl
        def score(self, pod: Pod, node: NodeInfo) -> int:
            return 50 if node.name == pod.labels["kind"] else 0

    world = World(Full, Choosy)
    for _ in range(2):
        assert world.fits(kind("n0")) == ["n0"]
        assert world.fits(kind("n2")) == ["n2"]


def test_scores_that_do_not_look_at_pods_hear_only_of_nodes() -> None:
    world = World(Full, StillRated)
    rate(world, n1=5)
    world.fits(kind("a"))
    world.asked("StillRated")
    world.bind("b", "n0")
    assert world.fits(kind("a")) == ["n1"]
    assert world.asked("StillRated") == []
    rate(world, n0=9)
    assert world.fits(kind("a")) == ["n0"]
    assert world.asked("StillRated") != []


def test_scores_that_look_at_all_nodes_are_renewed_with_any_of_them() -> None:
    world = World(Full, Ranked, nodes=6)
    rate(world, n1=5)
    assert world.fits(kind("a")) == ["n1"]
    assert world.asked("Ranked") == [ALL]
    world.bind("b", "n2")
    assert world.fits(kind("a")) == ["n1"]
    assert world.asked("Ranked") == []
    rate(world, n2=5)
    assert world.fits(kind("a")) == ["n1", "n2"]
    assert world.asked("Ranked") == [ALL]
    world.remove_node("n1")
    assert world.fits(kind("a")) == ["n2"]
    assert world.asked("Ranked") == [ALL]


def test_raw_scores_that_differ_are_normalised_each_time() -> None:
    world = World(Full, Stretched, StillRated)
    rate(world, n0=1, n1=2, n2=3)
    assert world.fits(kind("a")) == ["n2"]
    world.asked("Stretched")
    for _ in range(2):
        assert world.fits(kind("a")) == ["n2"]
        assert world.asked("Stretched") == ["normalize"]
    world.bind("b", "n0")
    assert world.fits(kind("a")) == ["n0"]


def test_without_differences_nothing_is_normalised() -> None:
    world = World(Full, Stretched)
    world.fits(kind("a"))
    world.asked("Stretched")
    assert world.fits(kind("a")) == ["n0", "n1", "n2"]
    assert world.asked("Stretched") == []
    rate(world, n1=5)
    assert world.fits(kind("a")) == ["n1"]
    assert world.fits(kind("a")) == ["n1"]
    assert world.asked("Stretched").count("normalize") >= 2


def test_a_score_that_is_gone_for_good_leaves_nothing_behind() -> None:
    world = World(Full, Stretched)
    rate(world, n1=90)
    world.bind("b", "n0")
    assert world.fits(kind("a")) == ["n1"]
    world.bind("a", "n1")
    assert world.fits(kind("a")) == ["n0"]
    world.remove_node("n1")
    assert world.fits(kind("a")) == ["n0"]
    world.set_node("new")
    assert world.fits(kind("a")) == ["n0"]


@pytest.mark.parametrize("moved", [1, 24, 25, 40, 100])
@pytest.mark.parametrize("plugin", [Rated, TwinRated, Stretched, StillRated])
def test_however_many_nodes_moved_the_best_is_found(
    plugin: type[Asked], moved: int
) -> None:
    world = World(Full, plugin, nodes=101)
    rate(world, n100=5)
    assert world.fits(kind("a")) == ["n100"]
    for number in range(moved):
        world.bind("a" if number % 2 else "b", f"n{number}")
    assert world.fits(kind("a")) == best(world, plugin)
    rate(world, n3=99)
    assert world.fits(kind("a")) == best(world, plugin)
    for number in range(moved):
        world.unbind(f"n{number}")
    assert world.fits(kind("a")) == best(world, plugin) == ["n3"]


def best(world: World, plugin: type[Asked]) -> list[str]:
    """Where a pod of kind a should go, as the rules say it."""
    scores = {}
    for info in world.snapshot:
        if "a" not in {pod.labels["kind"] for pod in info.pods.values()}:
            pods = 0 if plugin is StillRated else len(info.pods)
            scores[info.name] = int(info.labels.get("rate", "0")) + 10 * pods
    return sorted(name for name in scores if scores[name] == max(scores.values()))


def test_weights_count() -> None:
    world = World(Full, Rated, StillRated, weights={"Rated": 3})
    rate(world, n0=5, n1=6)
    world.bind("b", "n0")
    for _ in range(2):
        assert world.fits(kind("a")) == ["n0"]  # 3 * 15 + 5 against 4 * 6


def test_scores_that_are_not_remembered_are_added() -> None:
    class Live(Rated):
        @hookimpl
        def sign_pod(self, pod: Pod) -> None:
            return None

        @hookimpl
        def score(self, node: NodeInfo) -> int:
            self.asked.append(node.name)
            return 100 if node.name == self.favourite else 0

        favourite = "n0"

    world = World(Full, Rated, Live)
    rate(world, n1=5)
    assert world.fits(kind("a")) == ["n0"]
    Live.favourite = "n2"
    assert world.fits(kind("a")) == ["n2"]
    Live.favourite = "none"
    assert world.fits(kind("a")) == ["n1"]
    assert world.asked("Live") == sorted(["n0", "n1", "n2"] * 3)
    assert world.asked("Rated") == ["n0", "n1", "n2"]


@pytest.mark.parametrize(
    "answer",
    [
        pytest.param(lambda: Status.unschedulable("no"), id="a status"),
        pytest.param(lambda: 101, id="out of range"),
        pytest.param(lambda: 2**63, id="out of an int64's range"),
        pytest.param(lambda: True, id="a truth value"),
        pytest.param(lambda: "5", id="no number"),
        pytest.param(lambda: 1 // 0, id="an exception"),
    ],
)
def test_errors_of_scores_are_never_remembered(answer: Callable[[], object]) -> None:
    class Failing(Asked):
        is_well = False

        @hookimpl
        def score(self, node: NodeInfo) -> object:
            if node.name == "n1" and not type(self).is_well:
                return answer()
            return 1 if node.name == "n1" else 0

    world = World(Full, Failing)
    for _ in range(2):
        assert isinstance(world.attempt(kind("a")), FitError)
    Failing.is_well = True
    for _ in range(2):
        assert world.fits(kind("a")) == ["n1"]
    Failing.is_well = False
    world.bind("b", "n1")
    assert isinstance(world.attempt(kind("a")), FitError)
    Failing.is_well = True
    assert world.fits(kind("a")) == ["n1"]


@pytest.mark.parametrize("normalizes", [False, True])
def test_score_of_any_class_of_integers_is_one_each_time(normalizes: bool) -> None:
    class Grade(enum.IntEnum):
        GOOD = 7

    class Graded(Asked):
        @hookimpl
        def score(self, node: NodeInfo) -> object:
            return Grade.GOOD if len(node.pods) else np.uint8(3)

    class Scaled(Graded):
        @hookimpl
        def normalize_score(self, scores: Int64Array) -> Int64Array:
            return scores * 10

    world = World(Full, Scaled if normalizes else Graded)
    world.bind("b", "n1")
    assert world.fits(kind("a")) == ["n1"]
    world.bind("b", "n2")
    assert world.fits(kind("a")) == ["n1", "n2"]


def test_score_that_is_too_large_to_normalise_fails_the_attempt_each_time() -> None:
    class Huge(Stretched):
        @hookimpl
        def score(self, node: NodeInfo) -> int:
            return 2**63 if len(node.pods) else 1

    world = World(Full, Huge)
    assert world.fits(kind("a")) == ["n0", "n1", "n2"]
    world.bind("b", "n1")
    for _ in range(2):
        failed = world.attempt(kind("a"))
        assert isinstance(failed, FitError)
        assert "which is not a 64-bit integer" in failed.status.message


# How long it is remembered


def test_the_oldest_kinds_are_forgotten_when_there_are_too_many(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(REMEMBERED_BYTES, 0)  # so that only the fewest are kept
    monkeypatch.setattr(FEWEST_SIGNATURES, 3)
    world = World(Full, Rated)
    for name in ("a", "b", "c", "d"):
        world.fits(kind(name))
    world.asked("Full")
    for name in ("b", "c", "d"):
        world.fits(kind(name))
    assert world.asked("Full") == []
    world.fits(kind("a"))
    assert world.asked("Full") == ["n0", "n1", "n2"]


def test_what_was_forgotten_is_not_read_from_an_old_pod(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(REMEMBERED_BYTES, 0)
    monkeypatch.setattr(FEWEST_SIGNATURES, 1)
    world = World(Full, Rated)
    first, second = kind("a"), kind("b")
    world.fits(first)
    world.fits(second)
    world.bind("a", "n0")
    assert world.fits(first) == ["n1", "n2"]
    assert world.fits(second) == ["n0"]


def test_a_new_configuration_begins_with_an_empty_memory() -> None:
    built: list[Asked] = []

    class Mine(Asked):
        def __init__(self, args: object, handle: object) -> None:
            self.asked = []
            built.append(self)

        @hookimpl
        def filter(self, node: NodeInfo) -> Status | None:
            self.asked.append(node.name)
            return None

    plugins = {"multiPoint": {"enabled": [{"name": "Mine"}]}}
    config = {
        **HEADER,
        "profiles": [{"plugins": plugins}],
    }
    harness = SchedulerHarness(
        [make_node(name="x"), make_node(name="y")],
        plugins={"Mine": Mine},
        config=config,
        options=SchedulerOptions(),
    )
    for number in range(2):
        harness.cluster.create(kind("a", name=f"p{number}"))
        harness.settle()
    assert len(built) == 1
    # Both nodes for the first pod, and for the second the one that the first got.
    assert sorted(built[0].asked) == sorted(["x", "y", harness.node_of("p0")])
    harness.reload({**config, "podInitialBackoffSeconds": 2})
    harness.cluster.create(kind("a", name="last"))
    harness.settle()
    assert len(built) == 2
    assert sorted(built[1].asked) == ["x", "y"]


class Door(Asked):
    """Rejects all nodes while it is closed, and leaves some of them else; unsigned."""

    is_closed = False
    left: frozenset[str] | None = None

    @hookimpl
    def sign_pod(self, pod: Pod) -> None:
        return None

    @hookimpl
    def pre_filter(self) -> PreFilterResult | None:
        return None if self.left is None else PreFilterResult(self.left)

    @hookimpl
    def filter(self, node: NodeInfo) -> Status | None:
        return Status.unschedulable("closed") if self.is_closed else None


class SecondDoor(Door):
    """Is not reached where the first one lets nobody pass."""


def test_verdicts_that_an_attempt_did_not_reach_are_not_taken_for_up_to_date() -> None:
    world = World(Door, SecondDoor, Full, Rated, nodes=3)
    rate(world, n2=50)
    world.bind("a", "n2")
    assert world.fits(kind("a")) == ["n0", "n1"]
    world.unbind("n2")
    door = world.plugin("Door")
    assert isinstance(door, Door)
    door.is_closed = True
    assert isinstance(world.attempt(kind("a")), FitError)
    door.is_closed = False
    door.left = frozenset({"n1", "n2"})
    assert world.fits(kind("a")) == ["n2"]
