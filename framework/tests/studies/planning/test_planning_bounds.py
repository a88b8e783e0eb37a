"""Bounds of plans where zones, volumes, DaemonSets, updates and losses matter."""

import random
from collections.abc import Iterator
from fractions import Fraction

import pytest
from msgspec.structs import replace

from quaymaster import ApiObject, Pod
from quaymaster.objects import TopologySpreadConstraint
from quaymaster.planning import Loss, NodeGroup, parse_node_group
from quaymaster.testing import (
    make_affinity_term,
    make_daemon_set,
    make_deployment,
    make_node,
    make_persistent_volume,
    make_persistent_volume_claim,
    make_pod,
    make_replica_set,
    make_spread_constraint,
    make_stateful_set,
    make_storage_class,
)
from tests.kit.nightly import sampled
from tests.kit.plan_problems import PlanProblem

ZONE, HOST = "topology.kubernetes.io/zone", "kubernetes.io/hostname"
ZONES = ("zone-a", "zone-b", "zone-c")
CPU = ("200m", "500m", "900m", "1400m", "2100m")


def drawn_spread(draw: random.Random, app: str) -> TopologySpreadConstraint:
    return make_spread_constraint(
        topology_key=draw.choice([ZONE, ZONE, HOST, "rack"]),
        selector={"app": app},
        max_skew=draw.choice([1, 1, 2, 3]),
        min_domains=draw.choice([None, None, 2, 3]),
    )


def drawn_pods(draw: random.Random, app: str) -> Iterator[Pod]:
    """Draw pods of one app with constraints between them."""
    away = make_affinity_term(
        topology_key=draw.choice([ZONE, ZONE, HOST, "rack"]), selector={"app": app}
    )
    kind = draw.choice(["away", "even", "even", "even", "near", "plain"])
    even = drawn_spread(draw, app)
    cpu = [draw.choice(CPU) for _ in range(1 + draw.randrange(2))]
    for number in range(draw.randint(1, 5)):
        yield make_pod(
            name=f"{app}-{number}",
            labels={"app": app},
            requests={"cpu": draw.choice(cpu), "memory": "200Mi"},
            pod_anti_affinity=[away] if kind == "away" else [],
            pod_affinity=[away] if kind == "near" else [],
            spread=[even] if kind == "even" else [],
            priority=draw.choice([0] * 9 + [5]),
            node=draw.choice([None] * 12 + ["old-0"]),
        )


def drawn_volumes(draw: random.Random) -> Iterator[ApiObject]:
    """Draw pods with volumes, some of which already have a zone."""
    yield make_storage_class()
    for number in range(draw.randint(1, 2)):
        claim = make_persistent_volume_claim(name=f"data-{number}")
        if draw.randrange(2):
            name = f"volume-{number}"
            claim = make_persistent_volume_claim(name=f"data-{number}", volume=name)
            zone = draw.choice(ZONES)
            yield make_persistent_volume(
                name=name, claim=claim, node_labels={ZONE: zone}
            )
        yield claim
        yield make_pod(
            name=f"db-{number}",
            requests={"cpu": draw.choice(CPU), "memory": "200Mi"},
            claims=[claim.name],
        )


def drawn_agent(draw: random.Random) -> ApiObject:
    """Draw a DaemonSet whose pods may count for constraints of other pods."""
    cpu = {"cpu": draw.choice(["100m", "300m"])}
    labels = {"app": draw.choice(["agent", "agent", "app0"]), "part": "agent"}
    pod = make_pod(labels=labels, requests=cpu, priority=draw.choice([0, 0, 9]))
    return make_daemon_set(selector={"part": "agent"}, pod=pod)


def updating(count: int, before: Pod, after: Pod) -> tuple[ApiObject, ApiObject]:
    """Return a Deployment with a changed template, and its old ReplicaSet."""
    deployment = make_deployment(name="web", replicas=count, pod=after)
    former = make_replica_set(name="web-0", selector=before.labels, replicas=count)
    owners = make_pod(owner=deployment).metadata.owner_references
    template = make_deployment(name="web", pod=before).spec.template
    former = replace(
        former,
        metadata=replace(former.metadata, owner_references=owners),
        spec=replace(former.spec, template=template),
    )
    return deployment, former


def running(count: int, like: Pod, owner: ApiObject) -> Iterator[Pod]:
    """Return pods of a workload that already have a node."""
    for number in range(count):
        pod = make_pod(name=f"web-{number}", owner=owner, node="old-0")
        metadata = replace(pod.metadata, labels=like.labels)
        yield replace(pod, metadata=metadata, spec=like.spec)


def drawn_change(draw: random.Random) -> Iterator[ApiObject]:
    """Draw a Deployment during an update, or a StatefulSet with too many pods."""
    before, after = (
        make_pod(labels={"app": "web"}, requests={"cpu": draw.choice(CPU)})
        for _ in range(2)
    )
    if draw.randrange(2):
        spread = (drawn_spread(draw, "web"),)
        spec = replace(after.spec, topology_spread_constraints=spread)
        after = replace(after, spec=spec)
    count = draw.randint(1, 3)
    if draw.randrange(2):
        owner: ApiObject = make_stateful_set(name="web", replicas=count, pod=after)
    else:
        deployment, owner = updating(count, before, after)
        yield deployment
    yield owner
    yield from running(draw.randint(0, 4), before, owner)


def drawn_group(
    draw: random.Random, name: str, price: str | None, zones: int = 0
) -> NodeGroup:
    low = draw.choice([0, 0, 0, 1])
    most = max(1, low, draw.randint(2, 4))
    parts = [
        f"name={name},cpu={draw.choice(['1', '2', '2500m', '4', '8'])},memory=8Gi",
        f"min={low},max={most}",
        *([] if price is None else [f"price={price}"]),
    ]
    zone = draw.choice(["zones=2", "zones=3", f"label:{ZONE}={draw.choice(ZONES)}", ""])
    parts += [f"zones={zones}"] if zones else [zone] if zone else []
    parts += draw.choice([[], [f"label:rack={draw.choice('xy')}"]])
    return parse_node_group(",".join(parts))


def drawn_problem(seed: int) -> PlanProblem:
    draw = random.Random(seed)
    loss = draw.choice([None, None, Loss.NODE, Loss.ZONE])
    objects: list[ApiObject] = []
    for app in ("app0", "app1")[: draw.randint(1, 2)]:
        objects += drawn_pods(draw, app)
    if draw.randrange(3) == 0:
        objects += drawn_volumes(draw)
    if draw.randrange(3) == 0:
        objects.append(drawn_agent(draw))
    if loss is None and draw.randrange(2) == 0:
        objects += drawn_change(draw)
    for number in range(1 + draw.randrange(2)):
        labels = {ZONE: draw.choice(ZONES)} if draw.randrange(4) else {}
        capacity = {"cpu": draw.choice(["0", "1", "3"]), "memory": "8Gi", "pods": "9"}
        objects.append(
            make_node(name=f"old-{number}", labels=labels, capacity=capacity)
        )
    prices = draw.choice([(None, None), ("1", "2"), ("0.3", "0.5")])
    names = ["big", "small"][: draw.randint(1, 2)]
    groups = [
        drawn_group(draw, name, price)
        for name, price in zip(names, prices, strict=False)
    ]
    if loss is Loss.ZONE:
        groups.append(drawn_group(draw, "spare", prices[0], zones=3))
    max_cpu = draw.choice([None, None, None, Fraction(7, 10)])
    return PlanProblem(objects=objects, groups=groups, max_cpu=max_cpu, loss=loss)


def cool(*objects: ApiObject) -> PlanProblem:
    """Plan with an existing node of 8 CPUs and a limit of half of all CPUs."""
    node = make_node(name="old-0", capacity={"cpu": "8", "memory": "8Gi", "pods": "9"})
    group = parse_node_group("cpu=2,memory=8Gi,max=4")
    return PlanProblem(objects=[node, *objects], groups=[group], max_cpu=Fraction(1, 2))


@pytest.mark.long
def test_pods_that_an_update_replaces_need_no_room_in_the_end() -> None:
    large, small = (
        make_pod(labels={"app": "web"}, requests={"cpu": cpu}) for cpu in ("5", "1")
    )
    deployment, former = updating(1, large, small)
    problem = cool(deployment, former, *running(1, large, former))
    assert problem.is_proven(max_trials=1)
    assert problem.plan(max_trials=1).lower_bound == 0


@pytest.mark.long
def test_pods_beyond_the_replicas_of_a_stateful_set_need_no_room_in_the_end() -> None:
    pod = make_pod(labels={"app": "web"}, requests={"cpu": "3"})
    owner = make_stateful_set(name="web", replicas=1, pod=pod)
    problem = cool(owner, *running(2, pod, owner))
    assert problem.is_proven(max_trials=1)
    assert problem.plan(max_trials=1).lower_bound == 0


@pytest.mark.long
@pytest.mark.parametrize("seed", range(2, 6))
def test_lower_bound_of_a_plan_is_true(seed: int) -> None:
    drawn_problem(seed).is_proven(max_trials=40)


@pytest.mark.parametrize("seed", sampled([0, 1, *range(6, 150)], step=8))
def test_lower_bounds_of_plans_are_true(seed: int) -> None:
    drawn_problem(seed).is_proven(max_trials=40)


@pytest.mark.parametrize("seed", sampled(range(150, 200), step=8))
def test_bounds_are_true_after_few_trials(seed: int) -> None:
    drawn_problem(seed).is_proven(max_trials=1)
