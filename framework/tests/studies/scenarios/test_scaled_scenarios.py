"""Scenarios with an autoscaler: what its nodes cost, and which pods it evicts."""

import pytest

from quaymaster.autoscaling import ClusterAutoscalerOptions, ClusterAutoscalerSetup
from quaymaster.autoscaling import GroupSettings as Group
from quaymaster.objects import Quantity
from quaymaster.scenarios import (
    AssertionResult,
    ScenarioErrors,
    ScenarioResult,
    parse_scenario,
    run_scenario,
)

HEAD = """
apiVersion: simulation.quaymaster.io/v1alpha1
kind: Scenario
until: 30m
"""
PENDING = """
input:
  objects:
  - apiVersion: v1
    kind: Pod
    metadata: {name: web}
    spec: {containers: [{name: a, image: b, resources: {requests: {cpu: 1}}}]}
"""
SPARE = """
input:
  nodes: ["2:name=node,cpu=4,memory=8Gi,label:pool=a"]
  objects:
  - apiVersion: apps/v1
    kind: Deployment
    metadata: {name: web}
    spec:
      replicas: 2
      selector: {matchLabels: {app: web}}
      template:
        metadata: {labels: {app: web}}
        spec: {containers: [{name: a, image: b, resources: {requests: {cpu: 1}}}]}
"""
QUICK = ClusterAutoscalerOptions(
    scale_down_delay_after_add=0,
    scale_down_unneeded_time=20,
    scale_down_unready_time=20,
    unremovable_node_recheck_timeout=20,
)


def played(text: str, price: float | None = 6.0) -> ScenarioResult:
    """Play a scenario with one group, whose nodes cost 0.1 in a minute."""
    group = Group(
        name="pool",
        max=3,
        price=price,
        nodes={"pool": "a"},
        resources={"cpu": Quantity("4"), "memory": Quantity("8Gi")},
    )
    setup = ClusterAutoscalerSetup(groups=[group], options=QUICK)
    return run_scenario(parse_scenario(HEAD + text), autoscaler=setup)


def judged(check: str, price: float | None = 6.0) -> AssertionResult:
    [result] = played(f"{PENDING}assertions: [{{{check}}}]", price).assertions
    return result


def test_cost_counts_from_the_order_of_each_node() -> None:
    result = judged("cost: {atMost: 2.99}")
    assert result.passed
    assert result.expected == "nodes cost at most 2.99"
    assert result.found == "2.98"


def test_cost_fails_when_it_is_passed() -> None:
    result = judged("cost: {atMost: 1}")
    assert not result.passed
    assert result.failed_at == pytest.approx(600 + 10.1)


def test_cost_of_a_time_is_that_of_its_hours() -> None:
    result = judged("cost: {atLeast: 1, atMost: 1}, from: 10m, to: 20m")
    assert result.passed


def test_cost_of_other_groups_does_not_count() -> None:
    assert judged("cost: {groups: [other], atMost: 0}").passed


def test_least_cost_fails_at_the_end() -> None:
    result = judged("cost: {atLeast: 5}")
    assert (result.passed, result.failed_at) == (False, 1800)


def test_unknown_price_is_a_failure() -> None:
    result = judged("cost: {atMost: 1}", price=None)
    assert not result.passed
    assert result.found == "the price is unknown of the groups pool"


def test_cost_without_an_autoscaler_is_a_failure() -> None:
    scenario = parse_scenario(f"{HEAD}{PENDING}assertions: [{{cost: {{atMost: 1}}}}]")
    [result] = run_scenario(scenario).assertions
    assert not result.passed
    assert result.found.startswith("no autoscaler")


def test_nodes_are_counted_over_time() -> None:
    checks = "[{nodes: {equals: 0}, at: 0s}, {nodes: {equals: 1}, at: 20m}]"
    result = played(f"{PENDING}assertions: {checks}")
    assert [each.passed for each in result.assertions] == [True, True]


def test_pods_that_the_autoscaler_evicts_count_as_evicted() -> None:
    checks = "[{evictions: {}}, {evictions: {causes: [Drained, Lost, Preempted]}}]"
    scaled, drained = played(f"{SPARE}assertions: {checks}").assertions
    assert (scaled.passed, scaled.found) == (False, "1 scaled")
    assert drained.passed


BUSY = SPARE.replace("requests: {cpu: 1}", "requests: {cpu: 3}")
ROTATION = """
steps:
- {name: rotate, at: 1m, rotateNodes: {nodes: pool=a, surge: 1, boot: 90s}}
"""


def test_rotated_nodes_stay_in_their_group() -> None:
    text = f"{BUSY}{ROTATION}assertions: [{{cost: {{atLeast: 6, atMost: 6.1}}}}]"
    result = played(text)
    assert [each.passed for each in result.assertions] == [True]
    assert {place.node for place in result.simulation.placements} >= {
        "node-000-1",
        "node-001-1",
    }


def test_a_lost_node_costs_nothing_and_is_replaced_for_its_pods() -> None:
    lost = "steps: [{name: storm, at: 1m, failNodes: {nodes: node-000}}]"
    text = f"{BUSY}{lost}\nassertions: [{{cost: {{atMost: 6}}}}, {{placed: {{}}}}]"
    result = played(text)
    assert [each.passed for each in result.assertions] == [True, True]
    nodes = {place.node for place in result.simulation.placements}
    assert "pool-0" in nodes


@pytest.mark.parametrize(
    ("check", "problem"),
    [
        ("cost: {}", "expected a bound: atLeast or atMost"),
        ("cost: {atMost: 1}, at: 5m", "expected from and to, or no time at all"),
        ("cost: {atMost: -1}", "expected a number"),
    ],
)
def test_mistakes_of_costs_are_reported(check: str, problem: str) -> None:
    with pytest.raises(ScenarioErrors, match=problem):
        parse_scenario(f"{HEAD}{PENDING}assertions: [{{{check}}}]")
