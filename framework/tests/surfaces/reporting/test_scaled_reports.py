"""Reports of runs with an autoscaler: nodes and prices over time, cost of workloads."""

from typing import Any

import pytest

from quaymaster import ApiObject
from quaymaster.autoscaling import (
    ClusterAutoscalerOptions,
    ClusterAutoscalerSetup,
    GroupSettings,
)
from quaymaster.objects import Quantity
from quaymaster.reporting import report
from quaymaster.simulation import ObservedRun, observe
from quaymaster.testing import make_deployment, make_node, make_pod
from tests.kit.report_pages import shown_by

POOL = {"pool": "a"}
QUICK = ClusterAutoscalerOptions(
    scale_down_delay_after_add=0,
    scale_down_unneeded_time=20,
    scale_down_unready_time=20,
    unremovable_node_recheck_timeout=20,
)
CAPACITY = {"cpu": "4", "memory": "8Gi"}


def run_of(*objects: ApiObject, price: float | None = 3.6) -> ObservedRun:
    """Observe a run with one group, whose nodes cost 0.001 in a second."""
    group = GroupSettings(
        name="pool",
        max=5,
        price=price,
        nodes=POOL,
        resources={name: Quantity(amount) for name, amount in CAPACITY.items()},
    )
    setup = ClusterAutoscalerSetup(groups=[group], options=QUICK)
    return observe(objects, autoscaler=setup)


def spare_node() -> list[ApiObject]:
    """Return a node with a small pod, and a larger pod that needs another one."""
    node = make_node(name="old", labels=POOL, capacity=CAPACITY)
    small = make_deployment(
        name="small", selector={"app": "s"}, pod=make_pod(requests={"cpu": "1"})
    )
    large = make_pod(name="large", requests={"cpu": "4", "memory": "4Gi"})
    return [node, small, large]


def tables_of(run: ObservedRun) -> dict[str, list[list[Any]]]:
    tables = shown_by(report(run))["tables"]
    return {table["title"]: table["rows"] for table in tables}


@pytest.fixture(scope="module")
def run() -> ObservedRun:
    return run_of(*spare_node())


def test_costs_of_workloads_and_what_is_unused_are_the_cost_of_all_nodes(
    run: ObservedRun,
) -> None:
    assert run.scaled is not None
    assert run.scaled.unused is not None
    costs = [each.cost for each in run.scaled.workloads if each.cost is not None]
    nodes = [node.cost for node in run.scaled.nodes if node.cost is not None]
    assert sum(costs) + run.scaled.unused == pytest.approx(sum(nodes))
    assert len(nodes) == 2


def test_pod_pays_the_mean_of_its_shares_while_it_is_there(run: ObservedRun) -> None:
    assert run.scaled is not None
    courses = {each.workload: each for each in run.scaled.workloads}
    [large] = [place for place in run.result.placements if place.pod.endswith("large")]
    until = run.scaled.nodes[0].until
    share = (1 + 0.5) / 2
    cost = share * 0.001 * (until - large.bound)
    assert courses["default/Pod/large"].cost == pytest.approx(cost)
    assert courses["default/Pod/large"].waits == (large.bound,)
    [wait] = courses["default/Deployment/small"].waits
    assert wait == pytest.approx(100.1)


@pytest.mark.long
def test_charts_have_the_nodes_and_prices_of_each_group(run: ObservedRun) -> None:
    [shown] = shown_by(report(run))["runs"]
    [group] = shown["scaled"]
    assert group["name"] == "pool"
    assert group["at"][0] == 0
    assert group["nodes"] == [1, 2, 2]
    assert group["price"] == [3.6, 7.2, 7.2]


@pytest.mark.long
def test_tables_list_nodes_and_workloads(run: ObservedRun) -> None:
    tables = tables_of(run)
    names = [row[0] for row in tables["Nodes of the autoscaler"]]
    assert names == ["old", "pool-0"]
    workloads = tables["Cost and waiting time of workloads"]
    assert [row[0] for row in workloads] == [
        "default/Pod/large",
        "default/Deployment/small",
        "(requested by no pod)",
    ]
    assert sum(row[3] for row in workloads) == pytest.approx(100, abs=0.2)


@pytest.mark.long
def test_without_prices_there_are_waiting_times_alone() -> None:
    run = run_of(*spare_node(), price=None)
    [shown] = shown_by(report(run))["runs"]
    assert shown["scaled"][0]["price"] is None
    rows = tables_of(run)["Cost and waiting time of workloads"]
    assert [row[2] for row in rows] == [None, None]


@pytest.mark.long
def test_run_without_an_autoscaler_has_no_such_part() -> None:
    run = observe([make_node(), make_pod()])
    [shown] = shown_by(report(run))["runs"]
    assert shown["scaled"] is None
    assert tables_of(run) == {}
