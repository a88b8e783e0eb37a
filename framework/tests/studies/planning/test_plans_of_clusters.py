"""Plans for clusters whose nodes are closed, lost, unneeded, spare or spot."""

from decimal import Decimal

import pytest

from quaymaster import ApiObject, Node
from quaymaster.config import default_config
from quaymaster.planning import (
    PRICE_ANNOTATION,
    Loss,
    NodeGroupError,
    Plan,
    parse_node_group,
    plan,
)
from quaymaster.scheduler import PluginRegistry
from quaymaster.testing import (
    make_affinity_term,
    make_daemon_set,
    make_deployment,
    make_node,
    make_pod,
)

REGISTRY = PluginRegistry.discover()
CONFIG = default_config(REGISTRY)
GROUP = "cpu=4,memory=8Gi"
CAPACITY = {"cpu": "4", "memory": "8Gi", "pods": "20"}


def web(replicas: int, cpu: str = "1") -> ApiObject:
    return make_deployment(
        name="web", replicas=replicas, pod=make_pod(requests={"cpu": cpu})
    )


def planned(
    *objects: ApiObject, groups: tuple[str, ...] = (GROUP,), **how: object
) -> Plan:
    return plan(
        objects,
        groups=[parse_node_group(group) for group in groups],
        config=CONFIG,
        registry=REGISTRY,
        **how,  # type: ignore[arg-type]  # each test passes what `plan` takes
    )


def cordoned(name: str) -> Node:
    return make_node(name=name, capacity=CAPACITY, unschedulable=True)


@pytest.mark.long
def test_cordoned_nodes_offer_nothing() -> None:
    open_node = make_node(name="open", capacity=CAPACITY)
    found = planned(open_node, cordoned("old"), web(3), max_utilization={"cpu": 0.5})
    assert (len(found.nodes), found.is_final) == (1, True)
    assert found.utilization["cpu"].allocatable == 8000
    [closed] = found.closed_nodes
    assert (closed.node, closed.status, closed.why) == (
        "old",
        "Ready,SchedulingDisabled",
        "cordoned",
    )


@pytest.mark.long
def test_bound_expects_no_room_on_nodes_that_accept_no_pods() -> None:
    found = planned(*(cordoned(f"old-{n}") for n in range(3)), web(4))
    assert (len(found.nodes), found.is_final, found.tried) == (1, True, 1)


@pytest.mark.long
def test_nodes_that_a_plan_does_not_need_are_named() -> None:
    found = planned(
        make_node(name="full", capacity=CAPACITY),
        cordoned("empty"),
        make_pod(name="there", node="full", requests={"cpu": "3"}),
        web(1),
    )
    assert found.unneeded_nodes == ("empty",)


@pytest.mark.long
def test_node_is_unneeded_if_its_pods_fit_elsewhere() -> None:
    nodes = [make_node(name=name, capacity=CAPACITY) for name in ("a", "b")]
    found = planned(*nodes, web(2))
    assert len(found.unneeded_nodes) == 1


@pytest.mark.long
def test_control_plane_and_nodes_with_single_pods_are_never_unneeded() -> None:
    control = make_node(
        name="control",
        capacity=CAPACITY,
        labels={"node-role.kubernetes.io/control-plane": ""},
    )
    busy = make_node(name="busy", capacity=CAPACITY)
    found = planned(control, busy, make_pod(name="bare", node="busy"))
    assert found.unneeded_nodes == ()


@pytest.mark.long
def test_all_pods_fit_after_the_loss_of_any_rack() -> None:
    racks = tuple(f"name={rack},{GROUP},label:rack={rack}" for rack in "ab")
    found = planned(web(4), groups=racks, tolerate_loss=Loss("rack"))
    assert {group.group.name: group.nodes for group in found.groups} == {"a": 1, "b": 1}


@pytest.mark.long
def test_groups_of_the_same_price_grow_alike_so_that_any_rack_may_be_lost() -> None:
    """Pods that exclude each other by rack need a fourth rack after a loss."""
    own = {"app": "db"}
    rule = make_affinity_term(selector=own, topology_key="rack")
    pod = make_pod(labels=own, requests={"cpu": "2"}, pod_anti_affinity=[rule])
    database = make_deployment(name="db", replicas=3, pod=pod)
    racks = tuple(f"name={rack},{GROUP},price=1,label:rack={rack}" for rack in "abcd")
    found = planned(web(12), database, groups=racks, tolerate_loss=Loss("rack"))
    assert found.is_found
    assert found.cost is not None
    assert found.cost <= 8


@pytest.mark.long
def test_all_pods_fit_after_the_loss_of_any_two_nodes() -> None:
    found = planned(web(4), tolerate_loss=Loss.parse("node:2"))
    assert (len(found.nodes), found.is_final) == (3, True)


@pytest.mark.parametrize(
    ("loss", "problem"),
    [
        ("rak", "rack"),
        ("rack", "to survive the loss of one, got only a"),
    ],
)
def test_loss_that_leaves_nothing_is_refused(loss: str, problem: str) -> None:
    with pytest.raises(NodeGroupError, match=problem):
        planned(web(1), groups=(f"{GROUP},label:rack=a",), tolerate_loss=Loss(loss))


@pytest.mark.long
def test_each_group_that_is_used_gets_spare_nodes() -> None:
    groups = (f"name=l,{GROUP},price=1", "name=s,cpu=1,memory=2Gi,price=5")
    found = planned(web(4), groups=groups, spare=2)
    assert [(group.nodes, group.spare) for group in found.groups] == [(3, 2), (0, 0)]
    assert (str(found.cost), str(found.lower_bound)) == ("3", "1")
    assert found.is_final
    assert not found.gap


def test_group_with_too_few_nodes_for_spare_ones_is_refused() -> None:
    with pytest.raises(NodeGroupError, match="at least 3 for 2 spare nodes, got 2"):
        planned(web(1), groups=(f"{GROUP},max=2",), spare=2)


SPOT = f"name=spot,{GROUP},price=3,label:karpenter.sh/capacity-type=spot"


@pytest.mark.long
def test_part_of_the_new_nodes_is_spot() -> None:
    groups = (f"name=fixed,{GROUP},price=2", SPOT)
    found = planned(web(8), groups=groups, min_spot=0.5)
    assert [group.nodes for group in found.groups] == [1, 1]
    assert (found.spot_share, found.is_final) == (0.5, True)
    assert [group.nodes for group in planned(web(8), groups=groups).groups] == [2, 0]


@pytest.mark.long
def test_all_new_nodes_may_have_to_be_spot() -> None:
    groups = (f"name=fixed,{GROUP},price=2", SPOT)
    found = planned(web(5), groups=groups, min_spot=1)
    assert [group.nodes for group in found.groups] == [0, 2]


def test_spot_nodes_are_required_only_if_a_group_has_them() -> None:
    with pytest.raises(NodeGroupError, match="expected a group of spot nodes"):
        planned(web(1), min_spot=0.5)


@pytest.mark.long
def test_prices_are_divided_among_the_owners_of_pods() -> None:
    old = make_node(
        name="old", capacity=CAPACITY, annotations={PRICE_ANNOTATION: "0.5"}
    )
    agent = make_daemon_set(name="agent", pod=make_pod(requests={"cpu": "400m"}))
    found = planned(old, web(6), agent, groups=(f"{GROUP},price=1",))
    costs = found.costs
    assert costs.total == Decimal("1.5")
    names = [(share.name, share.pods) for share in costs.workloads]
    assert names == [
        ("deployment.apps/default/web", 6),
        ("daemonset.apps/default/agent", 2),
    ]
    [namespace] = costs.namespaces
    assert namespace.pods == 8
    assert namespace.cost + costs.idle == costs.total
    assert costs.workloads[1].cost == Decimal("0.15")
