"""Variants with autoscalers: cost, hours of nodes and evicted pods."""

import pytest

from quaymaster import ApiObject
from quaymaster.autoscaling import (
    ClusterAutoscalerOptions,
    ClusterAutoscalerSetup,
    GroupSettings,
)
from quaymaster.objects import Quantity
from quaymaster.simulation import Comparison, Measures, Variant, compare
from quaymaster.testing import make_deployment, make_node, make_pod

POOL = {"pool": "a"}
QUICK = ClusterAutoscalerOptions(
    scale_down_delay_after_add=0,
    scale_down_unneeded_time=20,
    scale_down_unready_time=20,
    unremovable_node_recheck_timeout=20,
)
LAZY = ClusterAutoscalerOptions(
    scale_down_delay_after_add=0,
    scale_down_unneeded_time=200,
    scale_down_unready_time=200,
    unremovable_node_recheck_timeout=20,
)


def variant(
    name: str, options: ClusterAutoscalerOptions, price: float | None = 1.0
) -> Variant:
    """Make a variant with two nodes that hold a pod each, which fit on one."""
    capacity = {"cpu": "4", "memory": "8Gi"}
    nodes = [
        make_node(name=f"node-{number}", labels=POOL, capacity=capacity)
        for number in range(2)
    ]
    pod = make_pod(requests={"cpu": "1"})
    workload = make_deployment(name="web", replicas=2, selector={"app": "w"}, pod=pod)
    group = GroupSettings(
        name="a",
        max=5,
        price=price,
        nodes=POOL,
        resources={"cpu": Quantity("4"), "memory": Quantity("8Gi")},
    )
    objects: list[ApiObject] = [*nodes, workload]
    setup = ClusterAutoscalerSetup(groups=[group], options=options)
    return Variant(name=name, objects=objects, autoscaler=setup)


@pytest.fixture(scope="module")
def comparison() -> Comparison:
    return compare([variant("quick", QUICK), variant("lazy", LAZY)])


def test_cost_is_compared_over_the_same_time(comparison: Comparison) -> None:
    quick, lazy = (each.outcomes[0] for each in comparison.variants)
    assert quick.seconds < lazy.seconds
    assert quick.autoscaled is not None
    gone = [node for node in quick.autoscaled if node.removed is not None]
    seconds = 2 * lazy.seconds - sum(
        lazy.seconds - (node.removed or 0.0) for node in gone
    )
    assert quick.figures["cost"] == pytest.approx(seconds / 3600)


def test_autoscaler_that_removes_later_costs_more(comparison: Comparison) -> None:
    assert comparison.differences[0].figures["cost"].mean > 0
    assert comparison.differences[0].figures["node_hours"].mean > 0


def test_evicted_pods_are_counted(comparison: Comparison) -> None:
    figures = [each.outcomes[0].figures for each in comparison.variants]
    assert [(each["disruptions"], each["nodes_removed"]) for each in figures] == [
        (1, 1),
        (1, 1),
    ]


def test_cost_is_missing_if_a_price_is_unknown() -> None:
    figures = variant("quick", QUICK, price=None).outcome(0, Measures()).figures
    assert "cost" not in figures
    assert figures["node_hours"] > 0


def test_variant_without_an_autoscaler_has_no_such_figures() -> None:
    [first, _] = compare(
        [
            Variant(name="a", objects=[make_pod()]),
            Variant(name="b", objects=[make_pod()]),
        ]
    ).variants
    assert {"cost", "node_hours", "disruptions"}.isdisjoint(first.figures)
