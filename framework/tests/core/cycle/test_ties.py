"""Tie breakers choose among the nodes with the highest total."""

from collections.abc import Generator, Sequence
from typing import ClassVar

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from quaymaster import (
    CycleState,
    Handle,
    Node,
    NodeInfo,
    NodeTable,
    Pod,
    Rows,
    Scope,
    StateKey,
    Status,
    hookimpl,
)
from quaymaster.columns import RowArray
from quaymaster.errors import VerificationError
from quaymaster.scheduler import SchedulerOptions
from quaymaster.testing import SchedulerHarness, make_node, make_pod, profile_config

VERIFIED = SchedulerOptions(verify=1)
LIKED: StateKey[str] = StateKey("liked")


class Plugin:
    def __init__(self, _args: None, handle: Handle) -> None:
        self.handle = handle


class Stars(Plugin):
    """Scores a node by its label, 0 to 100; its answers are cached."""

    scope = Scope.NODE

    @hookimpl
    def sign_pod(self) -> str:
        return "all alike"

    @hookimpl
    def score(self, node: NodeInfo) -> int:
        return int(node.labels.get("stars", "0"))


class Room(Plugin):
    """Scores a node by how few pods it has; its answers are cached."""

    scope = Scope.NODE

    @hookimpl
    def sign_pod(self) -> str:
        return "all alike"

    @hookimpl
    def score(self, node: NodeInfo) -> int:
        return 100 - len(node.pods)


class Last(Plugin):
    """Chooses the last row and records its calls."""

    calls: ClassVar[list[tuple[str, list[str]]]] = []

    @hookimpl
    def break_tie(self, pod: Pod, nodes: NodeTable, tied: RowArray) -> int:
        self.calls.append((pod.name, nodes.names_at(tied)))
        return int(tied[-1])


@pytest.fixture(autouse=True)
def fresh(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Last, "calls", [])


def harness_of(
    stars: dict[str, int],
    tie_breaker: str | type,
    *plugins: type,
    pods: Sequence[Pod] = (make_pod(name="p"),),
    options: SchedulerOptions = VERIFIED,
    seed: int = 0,
) -> SchedulerHarness:
    """Return nodes with stars, and pods that go to the node with most stars."""
    named = [Stars, *plugins]
    if isinstance(tie_breaker, type):
        named.append(tie_breaker)
    needed = ["PrioritySort", "DefaultBinder"]
    config = profile_config(
        enable=[*needed, Stars, *plugins], disable=["*"], tie_breaker=tie_breaker
    )
    nodes = [
        make_node(name=name, labels={"stars": str(count)})
        for name, count in stars.items()
    ]
    return SchedulerHarness(
        [*nodes, *pods],
        plugins={plugin.__name__: plugin for plugin in named},
        config=config,
        options=options,
        seed=seed,
    )


def node_of(harness: SchedulerHarness, pod: str = "p") -> str:
    harness.settle()
    harness.assert_no_errors()
    return harness.node_of(pod)


# By name ---------------------------------------------------------------------------


@given(
    st.dictionaries(
        st.from_regex("[ab1]([-.]?[ab1]){0,2}", fullmatch=True),
        st.integers(0, 2),
        min_size=1,
        max_size=8,
    )
)
def test_by_name_the_smallest_of_the_best_wins(stars: dict[str, int]) -> None:
    most = max(stars.values())
    best = min(name for name, count in stars.items() if count == most)
    assert node_of(harness_of(stars, "name")) == best


def test_by_name_no_seed_matters() -> None:
    stars = {"c": 5, "b": 9, "a": 5, "d": 9}
    found = {node_of(harness_of(stars, "name", seed=seed)) for seed in range(8)}
    assert found == {"b"}


def test_names_are_compared_as_text() -> None:
    assert node_of(harness_of({"n-9": 1, "n-10": 1}, "name")) == "n-10"


def test_by_name_all_feasible_nodes_are_compared_without_score_plugins() -> None:
    harness = SchedulerHarness(
        [*(make_node(name=name) for name in "cab"), make_pod(name="p")],
        config=profile_config(
            enable=["PrioritySort", "DefaultBinder"], disable=["*"], tie_breaker="name"
        ),
        options=VERIFIED,
    )
    assert node_of(harness) == "a"


def test_names_are_ranked_again_when_nodes_come_and_go() -> None:
    harness = harness_of({"m": 1, "x": 1}, "name")
    assert node_of(harness) == "m"
    harness.cluster.create(make_node(name="b", labels={"stars": "1"}))
    harness.cluster.create(make_pod(name="q"))
    assert node_of(harness, "q") == "b"
    harness.cluster.delete(Node, "b")
    harness.cluster.create(make_pod(name="r"))
    assert node_of(harness, "r") == "m"


def test_pod_goes_to_its_nominated_node_whatever_its_name() -> None:
    pod = make_pod(name="p", nominated_node="z")
    assert node_of(harness_of({"a": 1, "z": 1}, "name", pods=[pod])) == "z"


def test_verify_finds_a_wrong_rank(monkeypatch: pytest.MonkeyPatch) -> None:
    reversed_ranks = property(lambda nodes: -np.arange(nodes.capacity))
    monkeypatch.setattr(NodeTable, "name_ranks", reversed_ranks)
    harness = harness_of({"a": 1, "b": 1}, "name")
    with pytest.raises(VerificationError, match="b was chosen of the best, expected a"):
        harness.settle()


# At random -------------------------------------------------------------------------


def test_at_random_each_of_the_best_wins_with_some_seed() -> None:
    stars = {"a": 1, "b": 3, "c": 3}
    found = {node_of(harness_of(stars, "random", seed=seed)) for seed in range(16)}
    assert found == {"b", "c"}


def test_explicit_random_draws_the_same_as_the_default() -> None:
    stars = dict.fromkeys("abcdefgh", 1)
    pods = [make_pod(name=f"p{at}") for at in range(9)]
    written = harness_of(stars, "random", pods=pods, seed=3)
    config = profile_config(
        enable=["PrioritySort", "DefaultBinder", Stars], disable=["*"]
    )
    default = SchedulerHarness(
        [*written.cluster.list(Node).items, *pods],
        plugins={"Stars": Stars},
        config=config,
        seed=3,
    )
    for harness in (written, default):
        harness.settle()
    names = [pod.name for pod in pods]
    assert [written.node_of(name) for name in names] == [
        default.node_of(name) for name in names
    ]


# By a plugin -----------------------------------------------------------------------


def test_plugin_chooses_among_the_best_nodes_only() -> None:
    harness = harness_of({"a": 3, "b": 1, "c": 3, "d": 3}, Last)
    assert node_of(harness) == "d"
    assert Last.calls == [("p", ["a", "c", "d"])]


def test_plugin_is_not_called_when_one_node_is_best() -> None:
    assert node_of(harness_of({"a": 3, "b": 1}, Last)) == "a"
    assert Last.calls == []


def test_plugin_is_not_called_when_one_node_is_feasible() -> None:
    assert node_of(harness_of({"a": 3}, Last)) == "a"
    assert Last.calls == []


def test_plugin_is_not_called_for_a_nominated_node() -> None:
    pod = make_pod(name="p", nominated_node="b")
    assert node_of(harness_of({"a": 1, "b": 1, "c": 1}, Last, pods=[pod])) == "b"
    assert Last.calls == []


def test_tie_breaker_of_another_profile_is_never_called() -> None:
    class Both(Last):
        @hookimpl
        def filter(self) -> Status | None:
            return None

    assert node_of(harness_of({"b": 1, "a": 1}, "name", Both)) == "a"
    assert Last.calls == []


def test_one_instance_serves_all_hooks_of_its_plugin() -> None:
    class Likes(Plugin):
        @hookimpl
        def pre_score(
            self, state: CycleState, nodes: NodeTable, rows: Rows
        ) -> Status | None:
            self.liked = nodes.names_at(rows)[1]
            state[LIKED] = self.liked
            return None

        @hookimpl
        def score(self) -> int:
            return 7

        @hookimpl
        def break_tie(self, state: CycleState, nodes: NodeTable) -> int:
            assert state[LIKED] == self.liked
            row = nodes.row_of(self.liked)
            assert row is not None
            return row

    assert node_of(harness_of(dict.fromkeys("abc", 1), Likes, Likes)) == "b"


def test_numbers_of_columns_are_rows_as_well() -> None:
    class Emptiest(Plugin):
        @hookimpl
        def break_tie(self, nodes: NodeTable, tied: RowArray) -> int:
            row: int = tied[nodes.pod_count[tied].argmin()]
            return row

    pods = [make_pod(name=f"p{at}") for at in range(3)]
    harness = harness_of(dict.fromkeys("abc", 1), Emptiest, pods=pods)
    harness.settle()
    assert sorted(map(harness.node_of, ["p0", "p1", "p2"])) == ["a", "b", "c"]


def test_rows_that_a_plugin_keeps_stay_as_they_were() -> None:
    class Keeps(Plugin):
        kept: ClassVar[list[RowArray]] = []

        @hookimpl
        def break_tie(self, tied: RowArray) -> int:
            self.kept.append(tied)
            return int(tied[0])

    Keeps.kept.clear()
    pods = [make_pod(name=f"p{at}") for at in range(4)]
    harness_of(dict.fromkeys("abc", 1), Keeps, Room, pods=pods).settle()
    kept = [rows.tolist() for rows in Keeps.kept]
    assert kept == [[0, 1, 2], [1, 2], [0, 1, 2]]


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        pytest.param(
            2, "break_tie returned 2, expected one of the 2 rows", id="another node"
        ),
        pytest.param(
            "a",
            "break_tie returned str, expected one of the rows or Status",
            id="a name",
        ),
        pytest.param(
            True, "break_tie returned bool, expected one of the rows", id="a bool"
        ),
        pytest.param(
            None, "break_tie returned NoneType, expected one of the rows", id="nothing"
        ),
        pytest.param(Status.unschedulable("full up"), "full up", id="a status"),
    ],
)
def test_wrong_answer_fails_the_attempt(answer: object, said: str) -> None:
    class Wrong(Plugin):
        @hookimpl
        def break_tie(self) -> int:
            return answer  # type: ignore[return-value]  # that is the mistake

    harness = harness_of({"a": 1, "b": 1, "c": 0}, Wrong)
    assert harness.schedule_one() == "default/p"
    assert harness.node_of("p") == ""
    assert said in harness.message("p")
    assert 'running TieBreak plugin "Wrong": ' in harness.message("p")


def test_exception_fails_the_attempt_and_names_the_plugin() -> None:
    class Raises(Plugin):
        @hookimpl
        def break_tie(self) -> int:
            raise KeyError("tide")

    harness = harness_of({"a": 1, "b": 1}, Raises)
    harness.schedule_one()
    assert harness.node_of("p") == ""
    assert 'running TieBreak plugin "Raises": KeyError' in harness.message("p")
    (error,) = harness.errors
    assert (error.plugin, error.hook) == ("Raises", "break_tie")


def test_plugins_may_wrap_what_another_one_chooses() -> None:
    class Reverses(Plugin):
        @hookimpl
        def filter(self) -> Status | None:
            return None

        @hookimpl(wrapper=True)
        def break_tie(self, tied: RowArray) -> Generator[None, int, int]:
            chosen = yield
            return int(tied[len(tied) - 1 - tied.tolist().index(chosen)])

    assert node_of(harness_of(dict.fromkeys("abc", 1), Last, Reverses)) == "a"
