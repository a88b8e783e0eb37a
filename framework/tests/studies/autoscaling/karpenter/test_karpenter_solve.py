"""Pods go to nodes, to claims of the round, and at last to new claims."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

import pytest
from msgspec.structs import replace

from quaymaster import ApiObject
from quaymaster.objects import (
    PersistentVolume,
    PersistentVolumeClaim,
    StorageClass,
    from_wire,
)
from tests.kit.internals.karpenter import (
    KWOK_WELL_KNOWN_LABELS,
    ClusterState,
    InstanceType,
    KarpenterOptions,
    NodeClaim,
    NodeOverlay,
    NodePool,
    Offering,
    Requirement,
    Requirements,
    as_created,
    order_by_price,
    pods_to_schedule,
    worst_launch_price,
)
from tests.kit.karpenter import (
    CAPACITY_TYPE,
    HOSTNAME,
    OPTIONS,
    TYPES,
    ZONE,
    Tree,
    agent_of_all_nodes,
    away_from,
    claimed_pods,
    make_pod,
    make_pool,
    make_type,
    names_of_pods,
    node_preferences,
    prefer,
    required,
    solved,
    spread_of,
    types_of,
    zoned_node,
)


def test_a_claim_keeps_all_types_that_hold_its_pods_the_cheapest_first() -> None:
    assert types_of(solved(make_pool(), make_pod("a"))) == [["m-2", "m-4", "m-8"]]


def test_pods_join_a_claim_while_some_type_holds_them() -> None:
    pods = [make_pod(f"p{number}", "3") for number in range(2)]
    result = solved(make_pool(), *pods)
    assert claimed_pods(result) == [["p0", "p1"]]
    assert types_of(result) == [["m-8"]]


def test_nodes_come_first() -> None:
    result = solved(make_pool(), zoned_node("node"), make_pod("a"))
    assert {name: names_of_pods(pods) for name, pods in result.existing.items()} == {
        "node": ["a"]
    }
    assert not result.new_claims


def test_an_excluded_node_gets_no_pods() -> None:
    objects = make_pool(), zoned_node("node"), make_pod("a")
    assert not solved(*objects, exclude_nodes=["node"]).existing


def test_the_pool_with_the_larger_weight_comes_first() -> None:
    result = solved(make_pool("a", weight=1), make_pool("z"), make_pod("p"))
    assert [claim.pool.name for claim in result.new_claims] == ["a"]


def test_of_equal_pools_the_last_by_name_comes_first() -> None:
    result = solved(make_pool("a"), make_pool("z"), make_pod("p"))
    assert [claim.pool.name for claim in result.new_claims] == ["z"]


def test_a_pool_whose_taints_are_not_tolerated_makes_no_claim() -> None:
    taint = {"key": "team", "value": "x", "effect": "NoSchedule"}
    result = solved(make_pool(template={"taints": [taint]}), make_pod("p"))
    assert result.errors == {
        "default/p": "did not tolerate taint (taint=team=x:NoSchedule)"
    }


def test_startup_taints_keep_no_pods_away() -> None:
    taint = {"key": "starting", "effect": "NoSchedule"}
    assert claimed_pods(
        solved(make_pool(template={"startupTaints": [taint]}), make_pod("p"))
    )


def test_a_limit_is_charged_with_the_largest_type() -> None:
    pods = [make_pod(f"p{number}", "7") for number in range(2)]
    result = solved(make_pool(limits={"cpu": "9"}), *pods)
    assert len(result.new_claims) == 1
    [error] = result.errors.values()
    assert error == (
        "all available instance types exceed limits for nodepool (NodePool=pool)"
    )


def test_a_limit_of_no_nodes_is_exhausted() -> None:
    [error] = solved(make_pool(limits={"nodes": "0"}), make_pod("p")).errors.values()
    assert error == "node limits have been exhausted for nodepool (NodePool=pool)"


def test_a_pod_that_is_too_large_fits_no_type() -> None:
    [error] = solved(make_pool(), make_pod("p", "100")).errors.values()
    assert error.startswith("no instance type has enough resources, requirements=")
    assert error.endswith('resources={"cpu":"100","pods":"1"}')


def test_an_unknown_custom_label_is_reported() -> None:
    pod = make_pod("p", nodeSelector={"example.com/team": "red"})
    assert [*solved(make_pool(), pod).errors.values()] == [
        'incompatible requirements, label "example.com/team" does not have known values'
    ]


def test_a_custom_label_gets_the_value_that_the_pod_chooses() -> None:
    condition = {"key": "example.com/team", "operator": "In", "values": ["blue", "red"]}
    pool = make_pool(template={"requirements": [condition]})
    pod = make_pod("p", nodeSelector={"example.com/team": "red"})
    [claim] = solved(pool, pod).new_claims
    assert claim.labels["example.com/team"] == "red"


def test_the_next_required_term_is_tried_when_the_first_fits_nowhere() -> None:
    affinity = required((ZONE, "In", ["nowhere"]), (ZONE, "In", ["zone-b"]))
    [claim] = solved(make_pool(), make_pod("p", affinity=affinity)).new_claims
    assert claim.requirements.get(ZONE).values == {"zone-b"}


@pytest.mark.parametrize(
    ("heavy", "zones"), [("zone-b", {"zone-b"}), ("nowhere", {"zone-a"})]
)
def test_preferences_count_until_nothing_fits(heavy: str, zones: set[str]) -> None:
    affinity = node_preferences(prefer("zone-a", 1), prefer(heavy, 9))
    [claim] = solved(make_pool(), make_pod("p", affinity=affinity)).new_claims
    assert claim.requirements.get(ZONE).values == zones


def test_preferences_can_be_ignored() -> None:
    pod = make_pod("p", affinity=node_preferences(prefer("zone-a", 1)))
    options = KarpenterOptions(
        well_known_labels=KWOK_WELL_KNOWN_LABELS, ignore_preferences=True
    )
    [claim] = solved(make_pool(), pod, options=options).new_claims
    assert ZONE not in claim.requirements


def test_spread_pods_go_to_different_zones() -> None:
    pods = [
        make_pod(
            f"p{number}",
            labels={"app": "web"},
            topologySpreadConstraints=[spread_of(ZONE, "web")],
        )
        for number in range(2)
    ]
    result = solved(make_pool(), *pods)
    zones = [claim.requirements.get(ZONE).values for claim in result.new_claims]
    assert sorted(map(sorted, zones)) == [["zone-a"], ["zone-b"]]


def test_pods_that_avoid_each_other_by_zone_get_one_place_in_a_round() -> None:
    pods = [
        make_pod(f"p{n}", labels={"app": "web"}, affinity=away_from("web", ZONE))
        for n in range(2)
    ]
    result = solved(make_pool(), *pods)
    assert len(result.new_claims) == 1
    assert len(result.errors) == 1


def test_pods_that_avoid_each_other_by_host_get_a_claim_each() -> None:
    pods = [
        make_pod(f"p{n}", labels={"app": "web"}, affinity=away_from("web", HOSTNAME))
        for n in range(3)
    ]
    assert claimed_pods(solved(make_pool(), *pods)) == [["p0"], ["p1"], ["p2"]]


def test_pods_with_one_host_port_get_a_claim_each() -> None:
    port = {"containerPort": 80, "hostPort": 80}
    pods = [make_pod(f"p{number}", ports=[port]) for number in range(2)]
    assert claimed_pods(solved(make_pool(), *pods)) == [["p0"], ["p1"]]


def test_daemon_sets_need_room_on_each_new_node() -> None:
    result = solved(make_pool(), agent_of_all_nodes("1"), make_pod("p"))
    assert types_of(result) == [["m-4", "m-8"]]
    [claim] = result.new_claims
    assert {name: str(amount) for name, amount in claim.requests.items()} == {
        "cpu": "2",
        "pods": "2",
    }


def volume_objects(zone: str) -> Sequence[ApiObject]:
    expression = {"key": ZONE, "operator": "In", "values": [zone]}
    term = {"matchExpressions": [expression]}
    volume = {
        "metadata": {"name": "volume"},
        "spec": {
            "csi": {"driver": "disks", "volumeHandle": "volume"},
            "nodeAffinity": {"required": {"nodeSelectorTerms": [term]}},
        },
    }
    claim = {
        "metadata": {
            "name": "data",
            "namespace": "default",
            "annotations": {"pv.kubernetes.io/bind-completed": "yes"},
        },
        "spec": {"volumeName": "volume"},
    }
    return [
        from_wire(volume, PersistentVolume),
        from_wire(claim, PersistentVolumeClaim),
    ]


def test_a_new_node_is_where_the_volume_is() -> None:
    volume = {"name": "data", "persistentVolumeClaim": {"claimName": "data"}}
    pod = make_pod("p", volumes=[volume])
    [claim] = solved(make_pool(), pod, *volume_objects("zone-b")).new_claims
    assert claim.requirements.get(ZONE).values == {"zone-b"}


def test_a_pod_with_an_unbound_immediate_claim_is_rejected() -> None:
    storage_class = from_wire(
        {"metadata": {"name": "now"}, "volumeBindingMode": "Immediate"}, StorageClass
    )
    claim = from_wire(
        {
            "metadata": {"name": "data", "namespace": "default"},
            "spec": {"storageClassName": "now"},
        },
        PersistentVolumeClaim,
    )
    volume = {"name": "data", "persistentVolumeClaim": {"claimName": "data"}}
    pod = make_pod("p", volumes=[volume])
    objects = make_pool(), pod, storage_class, claim
    state = ClusterState.from_objects(objects, TYPES, now=0.0)
    assert [*pods_to_schedule(state, OPTIONS).rejected] == ["default/p"]


def test_a_pod_may_not_require_labels_of_karpenter() -> None:
    pod = make_pod("p", nodeSelector={"karpenter.sh/registered": "true"})
    state = ClusterState.from_objects([make_pool(), pod], TYPES, now=0.0)
    assert [*pods_to_schedule(state, OPTIONS).rejected] == ["default/p"]


def least_values(count: int) -> Tree:
    key = "node.kubernetes.io/instance-type"
    return {"requirements": [{"key": key, "operator": "Exists", "minValues": count}]}


@pytest.mark.parametrize(("best_effort", "claims"), [(False, 0), (True, 1)])
def test_fewer_types_than_required_are_enough_only_with_best_effort(
    best_effort: bool, claims: int
) -> None:
    options = KarpenterOptions(
        well_known_labels=KWOK_WELL_KNOWN_LABELS, best_effort_min_values=best_effort
    )
    pool = make_pool(template=least_values(3))
    result = solved(pool, make_pod("p", "3"), options=options)
    assert len(result.new_claims) == claims


def starting_node(**claim: Any) -> Sequence[ApiObject]:
    """Return a node that has registered and is not initialised, with its claim."""
    labels = {
        "karpenter.sh/nodepool": "pool",
        "karpenter.sh/registered": "true",
        "node.kubernetes.io/instance-type": "m-4",
    }
    taints = [{"key": "starting", "effect": "NoSchedule"}]
    tree = {
        "metadata": {"name": "claim", "labels": {"karpenter.sh/nodepool": "pool"}},
        "spec": {"startupTaints": taints},
        "status": {"providerID": "node", **claim},
    }
    return [
        zoned_node("node", taints=taints, labels=labels),
        from_wire(tree, NodeClaim),
    ]


def test_a_node_that_starts_gets_pods_in_spite_of_its_startup_taints() -> None:
    result = solved(make_pool(), *starting_node(), make_pod("p"))
    assert [*result.existing] == ["node"]


def test_a_launched_claim_gets_pods_before_its_node_is_there() -> None:
    amounts = {"cpu": "4", "memory": "16Gi", "pods": "110"}
    tree = {
        "metadata": {"name": "claim", "labels": {"karpenter.sh/nodepool": "pool"}},
        "status": {"providerID": "x", "capacity": amounts, "allocatable": amounts},
    }
    result = solved(make_pool(), from_wire(tree, NodeClaim), make_pod("p"))
    assert [*result.existing] == ["claim"]


def test_a_created_claim_lists_its_types_and_the_capacity_types_they_have() -> None:
    pod = make_pod("p", nodeSelector={CAPACITY_TYPE: "spot"})
    [claim] = solved(make_pool(), pod).new_claims
    trees = {
        tree["key"]: tree for tree in as_created(claim, OPTIONS).requirement_trees()
    }
    assert trees[CAPACITY_TYPE]["values"] == ["spot"]
    assert trees["node.kubernetes.io/instance-type"]["values"] == ["m-2", "m-4", "m-8"]
    assert "karpenter.sh/registered" not in trees


def overlay(**spec: Any) -> NodeOverlay:
    key = "node.kubernetes.io/instance-type"
    condition = {"key": key, "operator": "In", "values": ["m-8"]}
    return from_wire(
        {"metadata": {"name": "cheap"}, "spec": {"requirements": [condition], **spec}},
        NodeOverlay,
    )


@pytest.mark.parametrize("change", [{"price": "0.01"}, {"priceAdjustment": "-99%"}])
def test_an_overlay_changes_the_order_by_price(change: Mapping[str, str]) -> None:
    options = KarpenterOptions(
        well_known_labels=KWOK_WELL_KNOWN_LABELS, node_overlay=True
    )
    result = solved(make_pool(), make_pod("p"), overlay(**change), options=options)
    assert types_of(result) == [["m-8", "m-2", "m-4"]]


def reserved_offering(capacity: int) -> Offering:
    labels = {
        ZONE: "zone-a",
        CAPACITY_TYPE: "reserved",
        "karpenter.sh/reservation-id": "r1",
    }
    return Offering(
        requirements=Requirements.from_labels(labels),
        price=0.001,
        reservation_id="r1",
        reservation_capacity=capacity,
    )


def reserved_type(capacity: int) -> InstanceType:
    plain = make_type("m-8", 8, 0.4)
    requirements = plain.requirements.copy()
    both = ("on-demand", "spot", "reserved")
    requirements.replace(Requirement.of(CAPACITY_TYPE, "In", both))
    return InstanceType(
        name=plain.name,
        requirements=requirements,
        capacity=plain.capacity,
        overhead=plain.overhead,
        offerings=[*plain.offerings, reserved_offering(capacity)],
    )


RESERVING: Final = KarpenterOptions(
    well_known_labels=KWOK_WELL_KNOWN_LABELS | {"karpenter.sh/reservation-id"}
)


def test_a_claim_holds_the_reserved_capacity_that_it_can_have() -> None:
    result = solved(
        make_pool(), make_pod("p"), types=[reserved_type(1)], options=RESERVING
    )
    [claim] = result.new_claims
    assert claim.requirements.get(CAPACITY_TYPE).values == {"reserved"}


def test_a_second_claim_waits_for_reserved_capacity() -> None:
    pods = [make_pod(f"p{number}", "7") for number in range(2)]
    result = solved(make_pool(), *pods, types=[reserved_type(1)], options=RESERVING)
    assert len(result.new_claims) == 1
    assert len(result.deferred) == 1


def test_without_strictness_a_second_claim_does_without_reserved_capacity() -> None:
    pods = [make_pod(f"p{number}", "7") for number in range(2)]
    result = solved(
        make_pool(),
        *pods,
        types=[reserved_type(1)],
        options=RESERVING,
        strict_reservations=False,
    )
    assert len(result.new_claims) == 2


def test_types_are_ordered_by_the_cheapest_offering_that_is_allowed() -> None:
    allowed = Requirements.from_labels({CAPACITY_TYPE: "on-demand"})
    assert [each.name for each in order_by_price([*TYPES][::-1], allowed)] == [
        "m-2",
        "m-4",
        "m-8",
    ]


def test_the_worst_launch_price_is_that_of_spot_before_on_demand() -> None:
    assert worst_launch_price(TYPES[0].offerings, Requirements()) == pytest.approx(0.07)


def test_pods_with_device_claims_are_not_served() -> None:
    pod = make_pod("p", resourceClaims=[{"name": "gpu", "resourceClaimName": "gpu"}])
    assert solved(make_pool(), pod).final == {"default/p"}


def test_without_pools_no_pod_is_looked_at() -> None:
    result = solved(zoned_node("n"), make_pod("p"))
    assert result.problem == "no dynamic nodepools found"
    assert not result.errors
    assert not result.existing


@pytest.mark.parametrize(
    ("name", "family", "size"),
    [
        ("m5.2xlarge", "m5", "2xlarge"),
        ("m5.xlarge", "m5", "xlarge"),
        ("c6g.metal", "c6g", "metal"),
        ("c-4x-amd64-linux", "c", "4"),
        ("n2-standard.4", "n2", "4"),
        ("tiny", "t", "4"),
    ],
)
def test_a_type_of_kwok_has_the_labels_of_its_name(
    name: str, family: str, size: str
) -> None:
    labels = make_type(name, 4, 1.0).requirements
    assert labels.get("karpenter.kwok.sh/instance-family").single_value == family
    assert labels.get("karpenter.kwok.sh/instance-size").single_value == size


@pytest.mark.parametrize(
    "template",
    [
        {"requirements": [{"key": HOSTNAME, "operator": "Exists"}]},
        {"requirements": [{"key": "karpenter.sh/nodepool", "operator": "Exists"}]},
        {"requirements": [{"key": ZONE, "operator": "In"}]},
        {"requirements": [{"key": "x", "operator": "Gt", "values": ["a"]}]},
        {"requirements": [{"key": CAPACITY_TYPE, "operator": "In", "values": ["x"]}]},
        {"taints": [{"key": "a", "effect": "Never"}]},
        {"taints": 2 * [{"key": "a", "effect": "NoSchedule"}]},
    ],
)
def test_a_pool_that_would_not_become_ready_makes_no_claims(template: Tree) -> None:
    result = solved(make_pool(template=template), make_pool("other"), make_pod("p"))
    assert [*result.pools_left_out] == ["pool"]
    assert [claim.pool.name for claim in result.new_claims] == ["other"]


NO_TYPES: Final = (
    "NodePool requirements filtered out all compatible available instance types"
)
NOWHERE: Final = {"requirements": [{"key": ZONE, "operator": "In", "values": ["x"]}]}


@pytest.mark.parametrize(
    ("spec", "reason"),
    [
        ({"replicas": 2}, "it has a fixed number of nodes, spec.replicas"),
        ({"template": NOWHERE}, NO_TYPES),
        (
            {"template": least_values(9)},
            f"{NO_TYPES} due to minValues incompatibility",
        ),
    ],
)
def test_a_pool_is_left_out_with_a_reason(spec: Tree, reason: str) -> None:
    assert solved(make_pool(**spec), make_pod("p")).pools_left_out == {"pool": reason}


@pytest.mark.parametrize(
    ("more", "why"),
    [
        ({"message": "NodeClassReady=False", "reason": "X"}, "NodeClassReady=False"),
        ({"message": "", "reason": "NodeClassNotReady"}, "NodeClassNotReady"),
        ({}, "Ready is False"),
    ],
)
def test_a_pool_that_is_not_ready_has_a_reason(more: Tree, why: str) -> None:
    condition = {"type": "Ready", "status": "False", **more}
    tree = {"status": {"conditions": [condition]}}
    pool = replace(make_pool(), status=from_wire(tree, NodePool).status)
    left_out = solved(pool, make_pod("p")).pools_left_out
    assert left_out == {"pool": f"it is not ready: {why}"}


def test_an_overlay_that_adds_cpu_does_nothing() -> None:
    options = KarpenterOptions(
        well_known_labels=KWOK_WELL_KNOWN_LABELS, node_overlay=True
    )
    wrong = overlay(price="0.01", capacity={"cpu": "1"})
    result = solved(make_pool(), make_pod("p"), wrong, options=options)
    assert types_of(result) == [["m-2", "m-4", "m-8"]]


def test_pods_of_manifests_need_no_uid() -> None:
    pods = [make_pod(f"p{number}") for number in range(2)]
    bare = [replace(p, metadata=replace(p.metadata, uid="")) for p in pods]
    assert claimed_pods(solved(make_pool(), *bare)) == [["p0", "p1"]]
