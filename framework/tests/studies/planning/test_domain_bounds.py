"""Topology constraints of pods give bounds of plans."""

from collections.abc import Sequence

import pytest

from quaymaster import ApiObject, Pod
from quaymaster.config import default_config
from quaymaster.planning import Loss, Plan, parse_node_group, plan
from quaymaster.scheduler import PluginRegistry
from quaymaster.testing import (
    make_affinity_term,
    make_daemon_set,
    make_node,
    make_pod,
    make_spread_constraint,
)

REGISTRY = PluginRegistry.discover()
CONFIG = default_config(REGISTRY)
ZONE, HOST = "topology.kubernetes.io/zone", "kubernetes.io/hostname"
LABELS = {"app": "web"}


def planned(
    objects: Sequence[ApiObject],
    *groups: str,
    loss: Loss | None = None,
    max_trials: int = 1,
) -> Plan:
    """Make a plan with a single trial."""
    return plan(
        objects,
        groups=[parse_node_group(f"{group},memory=64Gi") for group in groups],
        config=CONFIG,
        registry=REGISTRY,
        tolerate_loss=loss,
        max_trials=max_trials,
    )


def proof(found: Plan) -> tuple[float, bool]:
    """Return the lower bound and whether the plan is proven optimal."""
    return float(found.lower_bound), found.is_final


def apart(count: int, key: str = ZONE) -> list[Pod]:
    """Return pods that may not share a domain."""
    term = make_affinity_term(topology_key=key, selector=LABELS)
    return [
        make_pod(
            name=f"web-{index}",
            labels=LABELS,
            requests={"cpu": "100m"},
            pod_anti_affinity=[term],
        )
        for index in range(count)
    ]


def spread(
    count: int,
    key: str = ZONE,
    cpu: str = "1",
    *,
    max_skew: int = 1,
    min_domains: int | None = None,
) -> list[Pod]:
    """Return pods that are spread over all domains."""
    constraint = make_spread_constraint(
        topology_key=key, selector=LABELS, max_skew=max_skew, min_domains=min_domains
    )
    return [
        make_pod(
            name=f"web-{index}",
            labels=LABELS,
            requests={"cpu": cpu},
            spread=[constraint],
        )
        for index in range(count)
    ]


def test_pods_that_shun_a_zone_need_as_many_zones() -> None:
    found = planned(apart(3), "cpu=64,zones=4")
    assert (proof(found), found.tried) == ((3, True), 1)


@pytest.mark.long
def test_too_few_zones_are_reported_before_any_trial() -> None:
    found = planned(apart(4), "cpu=64,zones=3")
    assert (found.is_found, found.is_final, found.tried) == (False, True, 0)
    assert found.obstacle == (
        f"no number of nodes helps: 4 pods such as default/web-0 may not share a value "
        f"of {ZONE}, of which there are fewer"
    )


@pytest.mark.long
def test_a_zone_that_only_a_dear_group_has_is_in_the_bound() -> None:
    cheap = f"name=cheap,cpu=64,price=1,label:{ZONE}=a"
    dear = f"name=dear,cpu=64,price=5,label:{ZONE}=b"
    found = planned(apart(2), cheap, dear)
    assert proof(found) == (6, True)


@pytest.mark.long
def test_nodes_of_the_input_are_domains_too() -> None:
    node = make_node(name="old", labels={ZONE: "zone-b"})
    found = planned([node, *apart(2)], f"cpu=64,label:{ZONE}=zone-a")
    assert proof(found) == (1, True)


@pytest.mark.long
def test_racks_are_domains_as_well() -> None:
    groups = [f"name=r{rack},cpu=64,label:rack=r{rack}" for rack in range(3)]
    assert proof(planned(apart(3, "rack"), *groups))[0] == 3
    assert planned(apart(4, "rack"), *groups).is_final


@pytest.mark.long
def test_nodes_without_the_label_take_any_number() -> None:
    groups = ("cpu=64", "name=r,cpu=64,label:rack=r")
    found = planned(apart(5, "rack"), *groups, max_trials=3)
    assert proof(found) == (1, True)


@pytest.mark.long
def test_pods_that_shun_a_zone_need_one_more_to_lose() -> None:
    found = planned(apart(2), "cpu=64,zones=4", loss=Loss.ZONE)
    assert proof(found) == (3, True)


@pytest.mark.long
@pytest.mark.parametrize(
    ("skew", "least", "nodes"), [(1, 4, 4), (2, 3, 2), (1, None, 1)]
)
def test_minimum_of_domains_limits_pods_on_few_hosts(
    skew: int, least: int | None, nodes: int
) -> None:
    pods = spread(4, HOST, "100m", max_skew=skew, min_domains=least)
    found = planned(pods, "cpu=64")
    assert proof(found) == (nodes, True)


@pytest.mark.long
def test_every_zone_needs_room_for_its_share() -> None:
    """Four pods in two zones with a skew of one are two in each."""
    large = f"name=large,cpu=16,price=1,label:{ZONE}=a"
    small = f"name=small,cpu=1,price=1,label:{ZONE}=b"
    node = make_node(name="old", labels={ZONE: "b"}, capacity={"cpu": "0"})
    found = planned([node, *spread(4)], large, small)
    assert proof(found) == (3, True)


@pytest.mark.long
def test_spread_over_a_label_that_no_node_has_is_reported_at_once() -> None:
    found = planned(spread(4), "cpu=64")
    assert (found.is_found, found.is_final, found.tried) == (False, True, 0)
    assert f"too little: room in each {ZONE} for its part of 4 pods" in found.obstacle


@pytest.mark.long
def test_a_full_zone_of_the_input_keeps_the_others_from_filling() -> None:
    node = make_node(name="old", labels={ZONE: "z"}, capacity={"cpu": "0"})
    found = planned([node, *spread(4)], "cpu=64,zones=3,max=6")
    assert (found.is_found, found.is_final) == (False, True)


@pytest.mark.long
def test_others_that_count_and_do_not_follow_make_no_bound() -> None:
    other = make_pod(name="other", labels=LABELS, requests={"cpu": "1"})
    pods = [*spread(3, HOST, "1", max_skew=1, min_domains=4), other]
    found = planned(pods, "cpu=64", max_trials=20)
    assert found.lower_bound <= len(found.nodes) == 3


@pytest.mark.long
def test_pods_that_may_be_preempted_make_no_bound() -> None:
    urgent = make_pod(name="urgent", requests={"cpu": "1"}, priority=9)
    pods = [*spread(4, HOST, "100m", max_skew=1, min_domains=4), urgent]
    assert planned(pods, "cpu=64", max_trials=20).is_found


@pytest.mark.long
def test_daemons_that_count_make_no_bound() -> None:
    """One on each of four small nodes lets the one large node of a zone take four."""
    labels = LABELS | {"part": "agent"}
    pod = make_pod(labels=labels, requests={"cpu": "100m"})
    agent = make_daemon_set(selector={"part": "agent"}, pod=pod)
    small = f"name=small,cpu=500m,min=4,max=4,label:{ZONE}=a"
    large = f"name=large,cpu=16,max=2,label:{ZONE}=b"
    found = planned([agent, *spread(4)], small, large, max_trials=20)
    assert [group.nodes for group in found.groups] == [4, 1]


@pytest.mark.long
def test_urgent_pods_that_run_already_preempt_no_pod() -> None:
    node = make_node(name="old")
    urgent = make_pod(name="urgent", node="old", priority=9)
    pods = spread(4, HOST, "100m", min_domains=5)
    assert proof(planned([node, urgent, *pods], "cpu=64")) == (3, True)
