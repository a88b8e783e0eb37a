"""Plans with the nodes of an autoscaler, beside what it does."""

from collections.abc import Sequence
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quaymaster import ApiObject, Node
from quaymaster.autoscaling import (
    AutoscalerError,
    AutoscalerFactory,
    ClusterAutoscalerOptions,
    ClusterAutoscalerSetup,
    GroupSettings,
)
from quaymaster.config import default_config
from quaymaster.objects import Quantity
from quaymaster.planning import NodeGroup, NodeGroupError, Plan, parse_node_group, plan
from quaymaster.scheduler import PluginRegistry
from quaymaster.testing import make_deployment, make_node, make_pod
from tests.kit.profiles import fewer

REGISTRY = PluginRegistry.discover()
CONFIG = default_config(REGISTRY)
GROUP_LABEL = "eks.amazonaws.com/nodegroup"


def group(name: str, cpu: int, price: float | None, *, least: int = 0) -> GroupSettings:
    return GroupSettings(
        name=name,
        price=price,
        resources={"cpu": Quantity(cpu), "memory": Quantity(f"{4 * cpu}Gi")},
        min=least,
        max=10,
    )


def web(replicas: int, cpu: str) -> ApiObject:
    pod = make_pod(requests={"cpu": cpu, "memory": "1Gi"})
    return make_deployment(name="web", replicas=replicas, pod=pod)


def member(name: str, of: str) -> Node:
    capacity = {"cpu": "2", "memory": "8Gi", "pods": "50", "example.com/fpga": "1"}
    labels = {GROUP_LABEL: of, "disk": "ssd"}
    return make_node(name=name, capacity=capacity, labels=labels)


def planned(
    objects: Sequence[ApiObject], groups: Sequence[GroupSettings], *expanders: str
) -> Plan:
    options = ClusterAutoscalerOptions(expander=expanders or ("least-waste",))
    setup = ClusterAutoscalerSetup(groups=groups, options=options)
    return planned_by(objects, setup)


def planned_by(
    objects: Sequence[ApiObject], setup: AutoscalerFactory, *groups: NodeGroup
) -> Plan:
    return plan(
        objects,
        autoscaler=setup,
        groups=groups,
        config=CONFIG,
        registry=REGISTRY,
        max_trials=10,
    )


@pytest.mark.long
def test_plan_is_cheaper_than_what_the_autoscaler_adds() -> None:
    groups = [group("small", 2, 0.1), group("big", 8, 0.4)]
    found = planned([web(3, "1500m")], groups, "least-nodes")
    assert [each.nodes for each in found.groups] == [3, 0]
    assert found.cost == Decimal("0.3")
    assert found.scaled is not None
    assert found.scaled.nodes == {"small": 0, "big": 1}
    assert (found.scaled.added, found.scaled.cost) == (1, Decimal("0.4"))
    assert (found.scaled.pending, found.scaled.removed) == (0, 0)
    assert found.scaled.seconds > 60


@pytest.mark.long
def test_groups_are_those_of_the_file_less_the_nodes_of_the_input() -> None:
    like_member = GroupSettings(name="old", max=4)
    found = planned(
        [member("a", "old"), member("b", "old"), web(6, "1")], [like_member]
    )
    [part] = found.groups
    assert part.group.max_nodes == 2
    assert part.nodes == 1
    [node] = found.nodes
    assert node.labels["disk"] == "ssd"
    assert node.status.allocatable["example.com/fpga"] == Quantity(1)
    assert node.status.allocatable["pods"] == Quantity(50)


@pytest.mark.long
def test_smallest_size_counts_only_if_the_autoscaler_enforces_it() -> None:
    groups = [group("g", 2, None, least=3)]
    options = ClusterAutoscalerOptions(enforce_node_group_min_size=True)
    for setup, nodes in (
        (ClusterAutoscalerSetup(groups=groups), 1),
        (ClusterAutoscalerSetup(groups=groups, options=options), 3),
    ):
        found = planned_by([web(1, "1")], setup)
        assert len(found.nodes) == nodes
        assert found.scaled is not None
        assert found.scaled.added == nodes


@pytest.mark.long
def test_pods_that_no_group_helps_are_pending_beside_a_partial_plan() -> None:
    objects = [web(2, "1"), make_pod(name="huge", requests={"cpu": "99"})]
    found = planned(objects, [group("g", 2, None)])
    assert not found.is_found
    assert found.partial is not None
    assert found.partial.scaled is not None
    assert (found.partial.scaled.added, found.partial.scaled.pending) == (1, 1)
    assert found.scaled == found.partial.scaled


@pytest.mark.long
def test_time_may_be_over_before_the_autoscaler_has_settled() -> None:
    setup = ClusterAutoscalerSetup(groups=[group("g", 2, None)])
    times = iter(range(1000))
    found = plan(
        [web(2, "1")], autoscaler=setup, time_limit=1, clock=lambda: next(times)
    )
    assert found.scaled is None


def test_autoscaler_has_groups_and_needs_no_others() -> None:
    setup = ClusterAutoscalerSetup(groups=[group("g", 2, None)])
    with pytest.raises(NodeGroupError, match="expected no group beside an autoscaler"):
        planned_by([], setup, parse_node_group("cpu=1,memory=1Gi"))
    with pytest.raises(AutoscalerError, match="it has no method 'offers'"):
        planned_by([], setup.__call__)
    with pytest.raises(NodeGroupError, match=r"group b: price: .* got none"):
        planned([], [group("a", 2, 0.1), group("b", 2, None)])


@pytest.mark.long
@fewer(4)
@given(
    st.lists(st.sampled_from((1, 2, 4, 8)), min_size=1, max_size=3, unique=True),
    st.lists(st.tuples(st.integers(1, 12), st.integers(1, 20)), min_size=1, max_size=3),
    st.sampled_from(("least-waste", "least-nodes", "most-pods")),
    st.data(),
)
def test_plan_costs_at_most_what_the_autoscaler_adds(
    sizes: list[int],
    workloads: list[tuple[int, int]],
    expander: str,
    data: st.DataObject,
) -> None:
    prices = st.sampled_from((0.05, 0.1, 0.3, 0.45))
    groups = [group(f"g{size}", size, data.draw(prices)) for size in sizes]
    objects = [
        make_deployment(
            name=f"w{number}",
            replicas=replicas,
            pod=make_pod(requests={"cpu": f"{cpu}00m"}),
        )
        for number, (replicas, cpu) in enumerate(workloads)
    ]
    found = planned(objects, groups, expander)
    assert found.scaled is not None
    if not found.scaled.pending:
        assert found.cost is not None
        assert found.scaled.cost is not None
        assert found.cost <= found.scaled.cost
