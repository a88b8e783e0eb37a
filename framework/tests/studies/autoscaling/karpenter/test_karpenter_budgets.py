"""How many nodes of a pool may be disrupted, and what that costs."""

from collections.abc import Mapping

import pytest

from quaymaster.objects import Time, from_wire
from quaymaster.testing import make_pod
from tests.kit.internals.karpenter import NodePool
from tests.kit.internals.karpenter_disruption import (
    allowed_disruptions,
    eviction_cost,
    reschedule_cost,
)

MONDAY_NINE = Time.parse("2026-11-02T09:00:00Z")


def allowed(
    *budgets: Mapping[str, object], nodes: int = 19, reason: str = "Empty"
) -> int:
    tree = {
        "metadata": {"name": "a"},
        "spec": {"disruption": {"budgets": list(budgets)}} if budgets else {},
    }
    return allowed_disruptions(from_wire(tree, NodePool), nodes, reason, MONDAY_NINE)


def test_default_is_a_tenth_of_the_nodes_rounded_up() -> None:
    assert allowed() == 2
    assert allowed(nodes=20) == 2
    assert allowed(nodes=21) == 3


def test_smallest_budget_counts() -> None:
    assert allowed({"nodes": "50%"}, {"nodes": "3"}) == 3


def test_budget_counts_for_its_reasons_only() -> None:
    drifted = {"nodes": "0", "reasons": ["Drifted"]}
    assert allowed(drifted, {"nodes": "5"}) == 5
    assert allowed(drifted, {"nodes": "5"}, reason="Drifted") == 0


@pytest.mark.parametrize(
    ("schedule", "duration", "number"),
    [
        ("0 8 * * mon", "2h", 0),
        ("0 8 * * mon", "59m", 7),
        ("0 9 * * *", "1m", 0),
        ("0 10 * * *", "1h", 7),
        ("0 22 * * sun", "12h", 0),
    ],
)
def test_budget_counts_within_its_window(
    schedule: str, duration: str, number: int
) -> None:
    window = {"nodes": "0", "schedule": schedule, "duration": duration}
    assert allowed(window, {"nodes": "7"}) == number


def test_wrong_budget_allows_nothing() -> None:
    assert allowed({"nodes": "many"}) == 0
    assert allowed({"nodes": "5", "schedule": "never", "duration": "1h"}) == 0


def test_annotations_and_priority_make_a_pod_costly() -> None:
    assert eviction_cost(make_pod()) == 1.0
    assert eviction_cost(make_pod(priority=2**25)) == 2.0
    cost = {"controller.kubernetes.io/pod-deletion-cost": str(2**27)}
    assert eviction_cost(make_pod(annotations=cost)) == 2.0
    own = cost | {"karpenter.sh/disruption-cost": "0"}
    assert eviction_cost(make_pod(annotations=own)) == 1.0
    assert eviction_cost(make_pod(priority=2_000_000_000)) == 10.0


def test_cheap_pods_give_no_discount() -> None:
    cheap = make_pod(priority=-(2**30))
    assert eviction_cost(cheap) < 0
    assert reschedule_cost([cheap]) == 1.0
    assert reschedule_cost([cheap, make_pod()]) == 2.0
