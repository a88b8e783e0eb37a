"""A score plugin that signs pods is called once per kind of pod and node."""

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
from tests.memo.world import ALL, Full, Rated, Recording, World, kind


class StillRated(Recording):
    """Scores a node by its label ``rate``; ignores the pods there."""

    pod_use = PodUse.NONE

    @hookimpl
    def score(self, node: NodeInfo) -> int:
        self.calls.append(node.name)
        return int(node.labels.get("rate", "0"))


class Ranked(StillRated):
    """Compares a node's label ``rate`` with that of all nodes."""

    scope = Scope.NODES

    @hookimpl
    def score_nodes(self, nodes: NodeTable, rows: Rows) -> Int64Array:
        self.note(nodes, rows)
        rates = [int(info.labels.get("rate", "0")) for info in nodes]
        mine = [int(info.labels.get("rate", "0")) for info in nodes.infos_at(rows)]
        return np.array([sum(rate < own_rate for rate in rates) for own_rate in mine])

    @hookimpl
    def score(self, node: NodeInfo) -> int:
        raise AssertionError("there are more nodes than a few")


class Stretched(Rated):
    """Scores 100 for the highest rate."""

    @hookimpl
    def normalize_score(self, scores: Int64Array) -> Int64Array:
        self.calls.append("normalize")
        return scores * 100 // max(1, int(scores.max()))


class TwinRated(Rated):
    @hookimpl
    def score_nodes(self, nodes: NodeTable, rows: Rows) -> Int64Array:
        self.note(nodes, rows)
        infos = nodes.infos_at(rows)
        rates = [int(info.labels.get("rate", "0")) for info in infos]
        return np.array(rates, dtype=np.int64) + 10 * nodes.pod_count[rows]


def rate(world: World, **rates: int) -> None:
    """Set the rates of nodes."""
    for name, value in rates.items():
        world.set_node(name, labels={"rate": str(value)})


def test_score_is_called_once_per_node_and_again_after_a_change() -> None:
    world = World(Full, Rated)
    rate(world, n1=5)
    assert world.fits(kind("a")) == ["n1"]
    assert world.calls("Rated") == ["n0", "n1", "n2"]
    assert world.fits(kind("a")) == ["n1"]
    assert world.calls("Rated") == []
    world.bind("b", "n2")
    assert world.fits(kind("a")) == ["n2"]
    assert world.calls("Rated") == ["n2"]
    world.unbind("n2")
    assert world.fits(kind("a")) == ["n1"]


def test_a_node_that_is_rejected_is_not_scored_until_it_passes() -> None:
    world = World(Full, Rated)
    rate(world, n1=5)
    world.bind("a", "n1")
    assert world.fits(kind("a")) == ["n0", "n2"]
    assert world.calls("Rated") == ["n0", "n2"]
    world.unbind("n1")
    assert world.fits(kind("a")) == ["n1"]
    assert world.calls("Rated") == ["n1"]
    world.bind("a", "n1")
    assert world.fits(kind("a")) == ["n0", "n2"]
    assert world.calls("Rated") == []


def test_each_kind_of_pods_has_its_own_scores() -> None:
    class Choosy(Recording):
        @hookimpl
        def score(self, pod: Pod, node: NodeInfo) -> int:
            return 50 if node.name == pod.labels["kind"] else 0

    world = World(Full, Choosy)
    for _ in range(2):
        assert world.fits(kind("n0")) == ["n0"]
        assert world.fits(kind("n2")) == ["n2"]


def test_scores_that_do_not_look_at_pods_are_renewed_for_changed_nodes_only() -> None:
    world = World(Full, StillRated)
    rate(world, n1=5)
    world.fits(kind("a"))
    world.calls("StillRated")
    world.bind("b", "n0")
    assert world.fits(kind("a")) == ["n1"]
    assert world.calls("StillRated") == []
    rate(world, n0=9)
    assert world.fits(kind("a")) == ["n0"]
    assert world.calls("StillRated") != []


def test_scores_that_look_at_all_nodes_are_renewed_with_any_of_them() -> None:
    world = World(Full, Ranked, nodes=6)
    rate(world, n1=5)
    assert world.fits(kind("a")) == ["n1"]
    assert world.calls("Ranked") == [ALL]
    world.bind("b", "n2")
    assert world.fits(kind("a")) == ["n1"]
    assert world.calls("Ranked") == []
    rate(world, n2=5)
    assert world.fits(kind("a")) == ["n1", "n2"]
    assert world.calls("Ranked") == [ALL]
    world.remove_node("n1")
    assert world.fits(kind("a")) == ["n2"]
    assert world.calls("Ranked") == [ALL]


def test_raw_scores_that_differ_are_normalised_each_time() -> None:
    world = World(Full, Stretched, StillRated)
    rate(world, n0=1, n1=2, n2=3)
    assert world.fits(kind("a")) == ["n2"]
    world.calls("Stretched")
    for _ in range(2):
        assert world.fits(kind("a")) == ["n2"]
        assert world.calls("Stretched") == ["normalize"]
    world.bind("b", "n0")
    assert world.fits(kind("a")) == ["n0"]


def test_without_differences_nothing_is_normalised() -> None:
    world = World(Full, Stretched)
    world.fits(kind("a"))
    world.calls("Stretched")
    assert world.fits(kind("a")) == ["n0", "n1", "n2"]
    assert world.calls("Stretched") == []
    rate(world, n1=5)
    assert world.fits(kind("a")) == ["n1"]
    assert world.fits(kind("a")) == ["n1"]
    assert world.calls("Stretched").count("normalize") >= 2


def test_a_highest_score_that_is_gone_leaves_nothing_behind() -> None:
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
def test_the_best_node_is_found_whatever_the_number_of_changed_nodes(
    plugin: type[Recording], moved: int
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


def best(world: World, plugin: type[Recording]) -> list[str]:
    """Return the best nodes for a pod of kind a, by the rules."""
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


def test_scores_that_are_not_cached_are_added() -> None:
    class Live(Rated):
        @hookimpl
        def sign_pod(self, pod: Pod) -> None:
            return None

        @hookimpl
        def score(self, node: NodeInfo) -> int:
            self.calls.append(node.name)
            return 100 if node.name == self.favourite else 0

        favourite = "n0"

    world = World(Full, Rated, Live)
    rate(world, n1=5)
    assert world.fits(kind("a")) == ["n0"]
    Live.favourite = "n2"
    assert world.fits(kind("a")) == ["n2"]
    Live.favourite = "none"
    assert world.fits(kind("a")) == ["n1"]
    assert world.calls("Live") == sorted(["n0", "n1", "n2"] * 3)
    assert world.calls("Rated") == ["n0", "n1", "n2"]


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
def test_errors_of_scores_are_never_cached(answer: Callable[[], object]) -> None:
    class Failing(Recording):
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

    class Graded(Recording):
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


# The lifetime of the cache


def test_the_oldest_kinds_are_dropped_when_there_are_too_many(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(REMEMBERED_BYTES, 0)  # so that only the minimum is kept
    monkeypatch.setattr(FEWEST_SIGNATURES, 3)
    world = World(Full, Rated)
    for name in ("a", "b", "c", "d"):
        world.fits(kind(name))
    world.calls("Full")
    for name in ("b", "c", "d"):
        world.fits(kind(name))
    assert world.calls("Full") == []
    world.fits(kind("a"))
    assert world.calls("Full") == ["n0", "n1", "n2"]


def test_dropped_results_are_not_read_from_an_old_pod(
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


def test_a_new_configuration_begins_with_an_empty_cache() -> None:
    built: list[Recording] = []

    class Mine(Recording):
        def __init__(self, args: object, handle: object) -> None:
            self.calls = []
            built.append(self)

        @hookimpl
        def filter(self, node: NodeInfo) -> Status | None:
            self.calls.append(node.name)
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
    # Both nodes for the first pod; for the second pod the first one's node.
    assert sorted(built[0].calls) == sorted(["x", "y", harness.node_of("p0")])
    harness.reload({**config, "podInitialBackoffSeconds": 2})
    harness.cluster.create(kind("a", name="last"))
    harness.settle()
    assert len(built) == 2
    assert sorted(built[1].calls) == ["x", "y"]


class Door(Recording):
    """Rejects all nodes while it is closed, else some of them; it signs no pods."""

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
    """Is not called while the first door rejects all nodes."""


def test_verdicts_that_an_attempt_did_not_reach_are_stale() -> None:
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
