"""Pods that run, and nodes that will be gone, change where other pods go."""

from typing import Any, Final

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from quaymaster import Pod
from quaymaster.objects import (
    CSINode,
    Namespace,
    PersistentVolume,
    PersistentVolumeClaim,
    PodDisruptionBudget,
    PodStatus,
    from_wire,
)
from tests.kit.internals.karpenter import (
    ClusterState,
    NodeClaim,
    pods_to_schedule,
    solve,
)
from tests.kit.karpenter import (
    HOSTNAME,
    OPTIONS,
    TYPES,
    ZONE,
    Tree,
    away_from,
    claimed_pods,
    make_pod,
    make_pool,
    names_of_pods,
    solved,
    spread_of,
    zoned_node,
)

WEB: Final = {"app": "web"}


def running(name: str, node: str, **spec: Any) -> Pod:
    pod = make_pod(name, **spec)
    return replace(pod, node_name=node, status=PodStatus(phase="Running"))


def test_a_pod_that_runs_keeps_others_away() -> None:
    lonely = running("lonely", "n", cpu="100m", affinity=away_from("web", HOSTNAME))
    result = solved(make_pool(), zoned_node("n"), lonely, make_pod("p", labels=WEB))
    assert not result.existing
    assert claimed_pods(result) == [["p"]]


def test_a_pod_that_runs_counts_for_a_spread() -> None:
    pod = make_pod("p", labels=WEB, topologySpreadConstraints=[spread_of(ZONE, "web")])
    node = zoned_node("n", cpu=1)
    result = solved(make_pool(), node, running("old", "n", labels=WEB), pod)
    [claim] = result.new_claims
    assert claim.requirements.get(ZONE).values == {"zone-b"}


def test_a_pod_that_ends_does_not_count() -> None:
    pod = make_pod("p", labels=WEB, topologySpreadConstraints=[spread_of(ZONE, "web")])
    ended = replace(
        running("old", "n", labels=WEB), status=PodStatus(phase="Succeeded")
    )
    result = solved(make_pool(), zoned_node("n", cpu=4), ended, pod)
    assert [*result.existing] == ["n"]


def test_a_pod_that_moves_does_not_count_where_it_was() -> None:
    pod = running(
        "p", "n", labels=WEB, topologySpreadConstraints=[spread_of(ZONE, "web")]
    )
    state = ClusterState.from_objects([make_pool(), zoned_node("n"), pod], TYPES, now=0)
    result = solve(state, [pod], OPTIONS, exclude_nodes=["n"])
    [claim] = result.new_claims
    assert claim.requirements.get(ZONE).values == {"zone-a"}


def test_a_state_answers_the_same_after_other_solves() -> None:
    pods = [
        make_pod(f"p{n}", "3", labels=WEB, affinity=away_from("web", HOSTNAME))
        for n in range(3)
    ]
    nodes = [zoned_node(f"n{n}") for n in range(2)]
    state = ClusterState.from_objects([make_pool(), *nodes, *pods], TYPES, now=0.0)
    results = [
        solve(state, pods, OPTIONS, exclude_nodes=excluded)
        for excluded in ([], ["n0"], [])
    ]
    placed = [
        {n: names_of_pods(p) for n, p in each.existing.items()} for each in results
    ]
    assert placed == [
        {"n0": ["p0"], "n1": ["p1"]},
        {"n1": ["p0"]},
        {"n0": ["p0"], "n1": ["p1"]},
    ]


def managed(name: str, *, taints: list[Tree] | None = None, **claim: Any) -> list[Any]:
    labels = {
        "karpenter.sh/nodepool": "pool",
        "karpenter.sh/registered": "true",
        "karpenter.sh/initialized": "true",
    }
    tree = {
        "metadata": {
            "name": name,
            "labels": {"karpenter.sh/nodepool": "pool"},
            **claim.pop("metadata", {}),
        },
        "status": {"providerID": name, **claim},
    }
    node = zoned_node(name, labels=labels, taints=taints or [])
    return [node, from_wire(tree, NodeClaim)]


DELETED: Final = {"deletionTimestamp": "2026-01-01T00:00:00Z"}


def test_pods_of_a_node_that_is_deleted_need_another_place() -> None:
    objects = managed("n", metadata=DELETED)
    result = solved(make_pool(), *objects, running("p", "n"))
    assert not result.existing
    assert claimed_pods(result) == [["p"]]


def test_a_pod_whose_budget_never_lets_it_go_needs_no_other_place() -> None:
    budget = from_wire(
        {
            "metadata": {"name": "b", "namespace": "default"},
            "spec": {"maxUnavailable": 0, "selector": {"matchLabels": WEB}},
        },
        PodDisruptionBudget,
    )
    objects = managed("n", metadata=DELETED)
    result = solved(make_pool(), *objects, running("p", "n", labels=WEB), budget)
    assert not result.new_claims


def test_limits_count_the_nodes_that_stay() -> None:
    pool = make_pool(limits={"cpu": "5"})
    assert solved(pool, *managed("n"), make_pod("p", "4")).existing
    [error] = solved(pool, *managed("n"), make_pod("p", "5")).errors.values()
    assert error.startswith("all available instance types exceed limits")


RECENT: Final[dict[str, Any]] = {
    "conditions": [
        {
            "type": "Initialized",
            "status": "True",
            "lastTransitionTime": "1970-01-01T00:00:00Z",
        }
    ],
    "lastPodEventTime": "1970-01-01T00:00:10Z",
}


@pytest.mark.parametrize(("now", "nodes"), [(20.0, []), (60.0, ["n"])])
def test_nodes_whose_pods_have_changed_get_no_pods_of_candidates(
    now: float, nodes: list[str]
) -> None:
    pool = make_pool(disruption={"consolidateAfter": "30s"})
    moving = running("p", "other")
    objects = [pool, *managed("n", **RECENT), zoned_node("other"), moving]
    state = ClusterState.from_objects(objects, TYPES, now=now)
    result = solve(state, [moving], OPTIONS, exclude_nodes=["other"], consolidates=True)
    assert [*result.existing] == nodes


def test_a_taint_that_only_prefers_is_tolerated_at_last() -> None:
    taint = {"key": "soft", "effect": "PreferNoSchedule"}
    pool = make_pool(template={"taints": [taint]})
    assert claimed_pods(solved(pool, make_pod("p"))) == [["p"]]


def test_a_node_with_all_volumes_it_can_attach_gets_no_more() -> None:
    def disk(name: str) -> list[Any]:
        volume = {"csi": {"driver": "disks", "volumeHandle": name}}
        claim = {
            "metadata": {
                "name": name,
                "namespace": "default",
                "annotations": {"pv.kubernetes.io/bind-completed": "yes"},
            },
            "spec": {"volumeName": name},
        }
        return [
            from_wire({"metadata": {"name": name}, "spec": volume}, PersistentVolume),
            from_wire(claim, PersistentVolumeClaim),
        ]

    def volumes(name: str) -> list[Tree]:
        return [{"name": name, "persistentVolumeClaim": {"claimName": name}}]

    driver = {"name": "disks", "nodeID": "n", "allocatable": {"count": 1}}
    limits = from_wire(
        {"metadata": {"name": "n"}, "spec": {"drivers": [driver]}}, CSINode
    )
    old = running("old", "n", cpu="100m", volumes=volumes("a"))
    pod = make_pod("p", volumes=volumes("b"))
    objects = [make_pool(), zoned_node("n"), limits, old, pod, *disk("a"), *disk("b")]
    assert claimed_pods(solved(*objects)) == [["p"]]


def test_an_anti_affinity_reaches_the_namespaces_that_it_selects() -> None:
    affinity = away_from("web", HOSTNAME)
    terms = affinity["podAntiAffinity"][
        "requiredDuringSchedulingIgnoredDuringExecution"
    ]
    terms[0]["namespaceSelector"] = {"matchLabels": {"team": "x"}}
    other = from_wire({"metadata": {"name": "x", "labels": {"team": "x"}}}, Namespace)
    old = running("old", "n", cpu="100m", labels=WEB)
    old = replace(old, metadata=replace(old.metadata, namespace="x"))
    pod = make_pod("p", affinity=affinity)
    assert claimed_pods(solved(make_pool(), zoned_node("n"), other, old, pod)) == [
        ["p"]
    ]


@given(
    st.lists(st.integers(100, 9000), max_size=12),
    st.integers(1, 40),
    st.integers(0, 3),
)
def test_solves_place_each_pod_once_and_keep_to_limits(
    requests: list[int], limit: int, nodes: int
) -> None:
    pods = [make_pod(f"p{n}", f"{cpu}m") for n, cpu in enumerate(requests)]
    pool = make_pool(limits={"cpu": str(limit)})
    existing = [zoned_node(f"n{n}") for n in range(nodes)]
    state = ClusterState.from_objects([pool, *existing, *pods], TYPES, now=0.0)
    result = solve(state, pods_to_schedule(state, OPTIONS).all_pods, OPTIONS)
    placed = [pod for claim in result.new_claims for pod in claim.pods]
    placed += [pod for group in result.existing.values() for pod in group]
    keys = [pod.key for pod in placed]
    assert sorted([*keys, *result.errors]) == sorted(pod.key for pod in pods)
    largest = [
        max(t.capacity["cpu"] for t in c.instance_types) for c in result.new_claims
    ]
    assert sum(largest) <= limit * 10**9
    for claim in result.new_claims:
        for each in claim.instance_types:
            assert claim.requests["cpu"].nanos <= each.allocatable["cpu"]


@given(st.lists(st.sampled_from(["bind", "delete node", "add node"]), max_size=5))
def test_a_state_after_another_one_gives_the_same_answers(changes: list[str]) -> None:
    pool, types = make_pool(), {"pool": TYPES}
    objects = {name: zoned_node(name) for name in ("n0", "n1")}
    pods: list[Pod] = []
    previous: ClusterState | None = None
    for number, change in enumerate(changes):
        if change == "bind":
            pods.append(running(f"old{number}", "n0"))
        elif change == "add node":
            objects[f"m{number}"] = zoned_node(f"m{number}")
        else:
            objects.pop(min(objects, default=""), None)
        everything = [pool, *objects.values(), *pods, make_pod("p", "3")]
        state = ClusterState.from_objects(
            everything, types, now=float(number), previous=previous
        )
        fresh = ClusterState.from_objects(everything, types, now=float(number))
        answers = [
            solve(each, pods_to_schedule(each, OPTIONS).all_pods, OPTIONS)
            for each in (state, fresh)
        ]
        assert answers[0].existing == answers[1].existing
        assert claimed_pods(answers[0]) == claimed_pods(answers[1])
        previous = state
