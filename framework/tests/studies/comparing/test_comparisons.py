"""Comparisons of configurations, environments and inputs."""

import math
import statistics
import sys
from collections.abc import Mapping
from pathlib import Path

import attrs
import pytest
from hypothesis import given
from hypothesis import strategies as st

from quaymaster import ApiObject
from quaymaster.config import default_config, load_config
from quaymaster.reporting import report
from quaymaster.scheduler import PluginRegistry
from quaymaster.simulation import (
    Comparison,
    Decision,
    EnvironmentFailedError,
    EnvironmentVariant,
    Estimate,
    Measures,
    Outcome,
    Variant,
    VariantResult,
    compare,
)
from quaymaster.testing import make_node, make_pod
from tests.kit.internals.comparing import estimate, first_difference, moved
from tests.kit.workloads import make_deployment

REGISTRY = PluginRegistry.discover()
ZONE = "topology.kubernetes.io/zone"


def variant(name: str, *objects: ApiObject, profile: str = "default") -> Variant:
    config = load_config(profile, REGISTRY)
    return Variant(name=name, objects=objects, config=config, registry=REGISTRY)


def outcome(places: Mapping[str, Mapping[str, int]]) -> Outcome:
    return Outcome(seed=0, figures={}, decisions=(), places=places)


def decisions(*nodes: str) -> list[Decision]:
    return [
        Decision(pod=f"p-{i}", node=node, attempt=1) for i, node in enumerate(nodes)
    ]


def nodes(count: int, cpu: str = "4") -> list[ApiObject]:
    return [
        make_node(name=f"n-{i}", capacity={"cpu": cpu}, labels={ZONE: f"zone-{i % 2}"})
        for i in range(count)
    ]


def figures(comparison: Comparison) -> list[dict[str, float]]:
    return [
        {name: figure.mean for name, figure in each.figures.items()}
        for each in comparison.variants
    ]


def test_packing_needs_fewer_nodes_than_spreading() -> None:
    pods = [make_pod(name=f"p-{i}", requests={"cpu": "1"}) for i in range(4)]
    objects = [*nodes(4), *pods]
    comparison = compare(
        [
            variant("spread", *objects),
            variant("pack", *objects, profile="bin-packing"),
        ]
    )
    spread, pack = figures(comparison)
    assert (spread["nodes_used"], pack["nodes_used"]) == (4, 1)
    [difference] = comparison.differences
    assert difference.figures["nodes_used"] == Estimate(mean=-3)
    assert difference.figures["placed"] == Estimate(mean=0)


def test_first_difference_comes_with_the_scores_of_both() -> None:
    pods = [make_pod(name=f"p-{i}", requests={"cpu": "1"}) for i in range(4)]
    objects = [*nodes(4), *pods]
    comparison = compare(
        [
            variant("spread", *objects),
            variant("pack", *objects, profile="bin-packing"),
        ]
    )
    found = comparison.differences[0].divergence
    assert found is not None
    # The first pod meets four equal nodes; the second one is the first to choose.
    assert found.number == 2
    assert found.first is not None
    assert found.other is not None
    assert found.first.pod == found.other.pod
    assert found.first_explanation is not None
    assert found.other_explanation is not None
    assert found.first_explanation.scores[0].node == found.first.node
    assert found.other_explanation.scores[0].node == found.other.node
    best = {score.total for score in found.first_explanation.scores}
    assert len(best) > 1


@pytest.mark.long
def test_a_variant_does_not_differ_from_itself() -> None:
    objects = [*nodes(3), make_deployment(7)]
    comparison = compare(
        [variant("a", *objects), variant("b", *objects)], seeds=range(3)
    )
    [difference] = comparison.differences
    assert difference.moved == ()
    assert difference.divergence is None
    assert {
        (figure.mean, figure.half_width) for figure in difference.figures.values()
    } == {(0.0, 0.0)}


def test_inputs_are_compared_under_one_configuration() -> None:
    pods = [make_pod(name=f"p-{i}", requests={"cpu": "3"}) for i in range(3)]
    comparison = compare(
        [variant("two", *nodes(2), *pods), variant("three", *nodes(3), *pods)]
    )
    wide, three = figures(comparison)
    assert (wide["pending"], three["pending"]) == (1, 0)
    [left] = [move for move in comparison.differences[0].moved if "" in move.first]
    assert left.first == {"": 1}


def test_waits_are_those_of_pods_that_got_a_node() -> None:
    first = make_pod(
        name="first",
        requests={"cpu": "3"},
        annotations={"simulation.quaymaster.io/run-seconds": "60"},
        priority=1,
    )
    second = make_pod(name="second", requests={"cpu": "3"})
    third = make_pod(name="third", requests={"cpu": "30"})
    comparison = compare(
        [
            variant("a", *nodes(1), first, second, third),
            variant("b", *nodes(2), first, second, third),
        ]
    )
    narrow, wide = figures(comparison)
    assert narrow["wait_max"] >= 60
    assert wide["wait_max"] == 0
    assert narrow["pending"] == wide["pending"] == 1


def test_balance_is_measured_for_all_pods_and_for_each_workload() -> None:
    packed = compare(
        [
            variant("a", *nodes(4, "8"), make_deployment(4)),
            variant("b", *nodes(4, "8"), make_deployment(5)),
        ]
    )
    even, odd = figures(packed)
    assert (even["skew.zone"], odd["skew.zone"]) == (0, 1)
    assert (even["skew_of_workloads.zone"], odd["skew_of_workloads.zone"]) == (0, 1)


@pytest.mark.long
def test_room_that_no_typical_pod_can_use_is_reported() -> None:
    """A pod of 3 CPUs leaves a quarter of its node, where no other one fits."""
    pods = [make_pod(name=f"p-{i}", requests={"cpu": "3"}) for i in range(2)]
    full, half = figures(
        compare([variant("a", *nodes(2), *pods), variant("b", *nodes(4), *pods)])
    )
    assert full["fragmentation.cpu"] == 1
    assert half["fragmentation.cpu"] == pytest.approx(2 / 10)


def test_copies_of_a_workload_are_interchangeable() -> None:
    ours = outcome({"deployment.apps/d/web": {"a": 2, "b": 1}})
    theirs = outcome({"deployment.apps/d/web": {"a": 1, "b": 2}})
    [found] = moved(ours, theirs)
    assert (found.pods, found.first, found.other) == (1, {"a": 1}, {"b": 1})


def test_a_pod_that_one_variant_lacks_is_reported() -> None:
    [found] = moved(outcome({}), outcome({"pod/d/p": {"a": 1}}))
    assert (found.workload, found.pods, found.first) == ("pod/d/p", 1, {})


@pytest.mark.parametrize(
    ("first", "other", "number"),
    [
        (("a", "b"), ("a", "b"), None),
        (("a", "b"), ("a", "c"), 2),
        (("a",), ("a", "c"), 2),
        (("a", ""), ("a",), 2),
        ((), (), None),
    ],
)
def test_first_difference_is_found(
    first: tuple[str, ...], other: tuple[str, ...], number: int | None
) -> None:
    found = first_difference(decisions(*first), decisions(*other))
    assert (found and found.number) == number


@given(st.lists(st.floats(-1e6, 1e6), min_size=2, max_size=40))
def test_estimate_is_the_mean_and_shrinks_with_the_root_of_the_count(
    values: list[float],
) -> None:
    found = estimate(values)
    assert found.mean == pytest.approx(statistics.fmean(values), abs=1e-6)
    assert found.half_width is not None
    t = found.half_width * math.sqrt(len(values))
    assert t >= 1.95 * statistics.stdev(values) - 1e-6


def test_interval_is_that_of_the_tables() -> None:
    """Two values at 0 and 2: mean 1, deviation √2, t 12.706, over √2."""
    found = estimate([0, 2])
    assert found.mean == 1
    assert found.half_width == pytest.approx(12.706)


def test_one_seed_has_no_interval() -> None:
    found = estimate([3.0])
    assert found == Estimate(mean=3.0)
    assert not found.is_certain


@pytest.mark.parametrize("names", [(), ("a",), ("a", "a")])
def test_variants_need_different_names(names: tuple[str, ...]) -> None:
    with pytest.raises(ValueError, match="two variants or more"):
        compare([variant(name) for name in names])


@pytest.mark.long
def test_an_environment_decides_like_this_process() -> None:
    objects = (*nodes(3), make_deployment(5), make_pod(name="p"))
    ours = variant("here", *objects)
    theirs = EnvironmentVariant(
        name="there", environment=Path(sys.prefix), objects=objects
    )
    comparison = compare([ours, theirs], seeds=(3,))
    assert figures(comparison)[0] == figures(comparison)[1]
    assert comparison.variants[1].outcomes == comparison.variants[0].outcomes
    decision = comparison.variants[1].outcomes[0].decisions[-1]
    assert theirs.explain(decision, 3) == ours.explain(decision, 3)


@pytest.mark.long
def test_an_environment_reports_the_same_as_this_process() -> None:
    objects = (*nodes(2, cpu="2"), make_deployment(5), make_pod(name="p"))
    ours = variant("here", *objects).observe(3)
    theirs = EnvironmentVariant(
        name="there", environment=Path(sys.prefix), objects=objects
    ).observe(3)
    assert (ours.name, theirs.name) == ("here", "there")
    assert report(attrs.evolve(theirs, name="here")) == report(ours)


@pytest.mark.long
def test_errors_of_an_environment_are_reported(tmp_path: Path) -> None:
    there = EnvironmentVariant(name="there", environment=tmp_path, objects=())
    with pytest.raises(EnvironmentFailedError, match="expected a virtual environment"):
        there.outcome(0, Measures())
    with pytest.raises(EnvironmentFailedError, match="expected a virtual environment"):
        there.observe(0)
    wrong = EnvironmentVariant(
        name="there",
        environment=Path(sys.prefix),
        objects=(),
        config_file="no-such-profile",
    )
    with pytest.raises(EnvironmentFailedError, match="no-such-profile"):
        wrong.outcome(0, Measures())


def test_results_name_their_variants() -> None:
    comparison = compare([variant("a"), variant("b")])
    assert all(isinstance(result, VariantResult) for result in comparison.variants)
    assert [result.name for result in comparison.variants] == ["a", "b"]
    assert default_config(REGISTRY).profiles
