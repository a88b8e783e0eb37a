"""Cached scores have the same totals as new ones, whatever changed, with any weights.

The tests compare with a loop over nodes that reads like the rules. Many rows change at
once, all or nearly all nodes are full, and weights differ from 1.
"""

from collections.abc import Callable, Mapping

import attrs
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from quaymaster import (
    Int64Array,
    NodeInfo,
    NodeTable,
    Pod,
    PodUse,
    Rows,
    Scope,
    hookimpl,
)
from quaymaster.testing import SchedulerHarness, make_node, make_pod
from tests.kit.documents import HEADER
from tests.kit.internals.cycle import Decision
from tests.memo.world import Full, Recording, World, kind

NODES = 100
KINDS = ("a", "b")
ROWS = st.tuples(st.integers(0, NODES - 1), st.sampled_from([1, 24, 25, 33, 34, NODES]))


def load_of(node: NodeInfo) -> int:
    return min(100, 7 * len(node.pods) + rate_of(node))


def rate_of(node: NodeInfo) -> int:
    return int(node.labels.get("rate", "0"))


class Loaded(Recording):
    """Scores a node by its number of pods."""

    @hookimpl
    def score(self, node: NodeInfo) -> int:
        return load_of(node)


class TwinLoaded(Loaded):
    """Does the same with a batch twin, whose argument it treats as nodes."""

    @hookimpl
    def score_nodes(self, nodes: NodeTable, rows: Rows) -> Int64Array:
        scores = np.array([load_of(node) for node in nodes.infos_at(rows)])
        assert scores.max() <= 100
        return scores


class StretchedLoad(TwinLoaded):
    """Does the same, and normalizes the highest score to 100."""

    @hookimpl
    def normalize_score(self, scores: Int64Array) -> Int64Array:
        return scores * 100 // max(1, int(scores.max()))


class StillRate(Recording):
    """Scores a node by its label."""

    pod_use = PodUse.NONE

    @hookimpl
    def score(self, node: NodeInfo) -> int:
        return rate_of(node)


class AmongAll(StillRate):
    """Does the same with a scope of all nodes."""

    scope = Scope.NODES


class StretchedRate(StillRate):
    """Does the same, and normalizes the highest score to 100."""

    @hookimpl
    def normalize_score(self, scores: Int64Array) -> Int64Array:
        return scores * 100 // max(1, int(scores.max()))


@attrs.frozen
class Rule:
    """The rule for a plugin's score.

    Attributes:
        raw: The score of a node.
        is_stretched: Whether the highest score becomes 100.
    """

    raw: Callable[[NodeInfo], int]
    is_stretched: bool = False


RULES: Mapping[type[Recording], Rule] = {
    Loaded: Rule(load_of),
    TwinLoaded: Rule(load_of),
    StretchedLoad: Rule(load_of, is_stretched=True),
    StillRate: Rule(rate_of),
    AmongAll: Rule(rate_of),
    StretchedRate: Rule(rate_of, is_stretched=True),
}


def best(world: World, name: str, weights: Mapping[type[Recording], int]) -> list[str]:
    """Return the best nodes for a pod, by the rules; empty if it fits nowhere."""
    totals = {
        node.name: 0
        for node in world.snapshot
        if name not in {pod.labels["kind"] for pod in node.pods.values()}
    }
    nodes = [node for node in world.snapshot if node.name in totals]
    for plugin, weight in weights.items():
        rule = RULES[plugin]
        raw = {node.name: rule.raw(node) for node in nodes}
        highest = max(1, *raw.values()) if raw else 1
        for node_name, score in raw.items():
            scaled = score * 100 // highest if rule.is_stretched else score
            totals[node_name] += weight * scaled
    return sorted(node for node in totals if totals[node] == max(totals.values()))


def found(world: World, name: str) -> list[str]:
    """Return the nodes for a pod of a kind; a single node is not scored."""
    decision = world.attempt(kind(name))
    if not isinstance(decision, Decision):
        assert decision.status.code.name == "UNSCHEDULABLE", decision.status
        return []
    return world.best or [decision.node.name]


steps = st.one_of(
    st.tuples(st.just("bind"), ROWS, st.sampled_from(KINDS)),
    st.tuples(st.just("unbind"), ROWS),
    st.tuples(st.just("rate"), ROWS, st.sampled_from([0, 3, 14])),
    st.tuples(st.just("remove"), ROWS),
)


def take(world: World, pods: dict[str, int], step: tuple[object, ...]) -> None:
    """Change some nodes; ``pods`` counts their pods."""
    act, rows, *more = step
    assert isinstance(rows, tuple)
    for number in range(rows[0], min(NODES, rows[0] + rows[1])):
        name = f"n{number}"
        if act == "rate":
            world.set_node(name, labels={"rate": str(more[0])})
            pods.setdefault(name, 0)
        elif act == "bind" and pods.get(name, 3) < 3:
            world.bind(str(more[0]), name)
            pods[name] += 1
        elif act == "unbind" and pods.get(name):
            world.unbind(name)
            pods[name] -= 1
        elif act == "remove" and pods.get(name) == 0:
            world.remove_node(name)
            del pods[name]


@given(
    weights=st.dictionaries(
        st.sampled_from(list(RULES)), st.sampled_from([1, 2, 7, 100]), min_size=1
    ),
    steps=st.lists(steps, max_size=8),
)
def test_cached_totals_are_those_of_the_rules(
    weights: Mapping[type[Recording], int], steps: list[tuple[object, ...]]
) -> None:
    named = {plugin.__name__: weight for plugin, weight in weights.items()}
    world = World(Full, *weights, nodes=NODES, weights=named)
    pods = dict.fromkeys((f"n{number}" for number in range(NODES)), 0)
    for step in [None, *steps]:
        if step is not None:
            take(world, pods, step)
        for name in KINDS:
            assert found(world, name) == best(world, name, weights)


@pytest.mark.parametrize("left", [0, 1, 2])
@pytest.mark.parametrize("moved", [24, 25, 33, 34])
@pytest.mark.parametrize("plugin", RULES)
def test_many_changed_nodes_of_which_few_or_none_pass(
    plugin: type[Recording], moved: int, left: int
) -> None:
    weights = {plugin: 2}
    world = World(Full, plugin, nodes=NODES, weights={plugin.__name__: 2})
    pods = dict.fromkeys((f"n{number}" for number in range(NODES)), 0)
    assert found(world, "a") == best(world, "a", weights)
    take(world, pods, ("bind", (left, moved - left), "a"))
    take(world, pods, ("bind", (0, left), "b"))
    assert found(world, "a") == best(world, "a", weights)


class Spare:
    """Scores a node by its number of pods."""

    scope = Scope.NODE

    def __init__(self, args: object, handle: object) -> None:
        pass

    @hookimpl
    def sign_pod(self) -> tuple[()]:
        return ()

    @hookimpl
    def score(self, node: NodeInfo) -> int:
        return min(100, len(node.pods))


def test_a_kind_whose_changed_nodes_are_all_full_is_scheduled() -> None:
    score = {"enabled": [{"name": "Spare", "weight": 2}]}
    harness = SchedulerHarness(
        [make_node(name=f"n{number}", capacity={"cpu": "4"}) for number in range(120)],
        plugins={"Spare": Spare},
        config={
            **HEADER,
            "profiles": [{"plugins": {"score": score}}],
        },
    )
    for number, cpu in enumerate(["2500m", *["3500m"] * 24, "2500m"]):
        harness.cluster.create(make_pod(name=f"p{number}", requests={"cpu": cpu}))
        harness.settle()
        assert harness.node_of(f"p{number}"), harness.cluster.get(
            Pod, f"default/p{number}"
        )
