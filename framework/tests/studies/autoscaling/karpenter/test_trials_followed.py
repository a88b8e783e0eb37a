"""Trials of plain pods that are followed without a solve fail as they do with one."""

import random
from collections.abc import Mapping, Sequence
from typing import Final

import pytest
from msgspec.structs import replace

from quaymaster import Pod
from quaymaster.objects import ContainerPort, Deployment, Toleration, from_wire
from quaymaster.simulation import Simulation
from quaymaster.testing import make_deployment, make_pod
from tests.kit.internals.karpenter import (
    ClusterState,
    FirstFit,
    NodePool,
    PodKinds,
    nodes_of_solve,
    pods_to_schedule,
    solve,
    supply_of,
)
from tests.kit.internals.karpenter_control import KarpenterSetup
from tests.kit.internals.karpenter_disruption import (
    Candidate,
    Consolidation,
    Survey,
    ignore,
)
from tests.kit.karpenter import CAPACITY_TYPE, OPTIONS, ZONE, make_type

_TOLERATION: Final = Toleration(
    key="team", operator="Equal", value="a", effect="NoSchedule"
)
STEP: Final = 150.0
STEPS: Final = 5
SIZES: Final = (("s", 2), ("m", 4), ("l", 8))


def pool(chance: random.Random, name: str) -> NodePool:
    taint = {"key": "team", "value": "a", "effect": "NoSchedule"}
    tree = {
        "metadata": {"name": name},
        "spec": {
            "limits": chance.choice(({}, {"cpu": 40})),
            "disruption": {
                "consolidateAfter": chance.choice(("0s", "30s")),
                "budgets": [{"nodes": "5"}],
            },
            "template": {
                "spec": {
                    "expireAfter": "Never",
                    "taints": [taint] * (chance.random() < 0.3),
                }
            },
        },
    }
    return from_wire(tree, NodePool)


def workload(chance: random.Random, number: int) -> Deployment:
    selectors: Sequence[dict[str, str]] = (
        {},
        {},
        {CAPACITY_TYPE: "on-demand"},
        {ZONE: "zone-a"},
    )
    pod = make_pod(
        requests={"cpu": f"{chance.randint(2, 25)}00m"},
        labels={"app": f"w{number}"},
        node_selector=chance.choice(selectors),
        tolerations=[_TOLERATION] * (chance.random() < 0.5),
    )
    if chance.random() < 0.03:
        [container] = pod.spec.containers
        ports = (ContainerPort(container_port=80, host_port=80),)
        spec = replace(pod.spec, containers=(replace(container, ports=ports),))
        pod = replace(pod, spec=spec)
    return make_deployment(name=f"w{number}", replicas=chance.randint(1, 8), pod=pod)


def play(seed: int) -> None:
    """Play a while in which workloads shrink and grow."""
    chance = random.Random(seed)
    types = [make_type(name, cpu, cpu / 10 + 0.05) for name, cpu in SIZES]
    pools = [pool(chance, name) for name in "ab"[: chance.randint(1, 2)]]
    setup = KarpenterSetup(types=types, pools=pools, options=OPTIONS)
    workloads = [workload(chance, number) for number in range(chance.randint(3, 6))]
    with Simulation(workloads, autoscaler=setup) as simulation:
        for _ in range(STEPS):
            simulation.run_until(simulation.now + chance.random() * 2 * STEP)
            for owner in simulation.cluster.list(Deployment).items:
                spec = replace(owner.spec, replicas=chance.randint(0, 8))
                simulation.cluster.update(replace(owner, spec=spec))


@pytest.mark.long
@pytest.mark.parametrize("seed", range(10))
def test_what_fails_without_a_solve_fails_with_one(
    seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    failed = 0
    surely_fails = Survey.surely_fails

    def checked(survey: Survey, candidates: Sequence[Candidate]) -> bool:
        nonlocal failed
        fails = surely_fails(survey, candidates)
        if fails:
            failed += 1
            assert Consolidation(survey, ignore).tried(candidates) is None
        return fails

    monkeypatch.setattr(Survey, "surely_fails", checked)
    monkeypatch.setattr(Survey, "surely_stay", lambda *_: False)
    monkeypatch.setattr(Survey, "surely_staying", lambda *_: [])
    play(seed)
    assert failed


def followed(
    state: ClusterState, kinds: PodKinds, pods: Sequence[Pod], excluded: Sequence[str]
) -> Mapping[str, str] | None:
    """Return the node of each pod, by uid; None if some pod is not plain."""
    plain = [(kinds.plain(pod), pod) for pod in pods]
    if any(each is None for each, _ in plain):
        return None
    ordered = [(each, pod.uid) for each, pod in plain if each is not None]
    ordered.sort(key=lambda pair: pair[0].order)
    nodes = nodes_of_solve(state, OPTIONS, supply_of(state, OPTIONS), ())
    places = FirstFit(state, nodes).places(
        [(each, False) for each, _ in ordered], nodes.places_of(excluded)
    )
    return {
        uid: nodes.facts[place].node.name
        for (_, uid), place in zip(ordered, places, strict=True)
        if place is not None
    }


@pytest.mark.long
@pytest.mark.parametrize("seed", range(2, 10))
def test_plain_pods_get_the_nodes_that_a_solve_gives_them(
    seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    placed = 0
    kinds = PodKinds()

    def compared(survey: Survey, candidates: Sequence[Candidate]) -> bool:
        nonlocal placed
        names = [each.name for each in candidates]
        waiting = pods_to_schedule(survey.state, OPTIONS)
        moving = [pod for each in candidates for pod in each.moving_pods]
        pods = [*moving, *waiting.pending, *waiting.leaving]
        ours = followed(survey.state, kinds, pods, names)
        if ours is not None:
            theirs = solve(survey.state, pods, OPTIONS, exclude_nodes=names).existing
            assert ours == {
                pod.uid: node for node, own in theirs.items() for pod in own
            }
            placed += len(ours)
        return False

    monkeypatch.setattr(Survey, "surely_fails", compared)
    monkeypatch.setattr(Survey, "surely_stay", lambda *_: False)
    monkeypatch.setattr(Survey, "surely_staying", lambda *_: [])
    play(seed)
    assert placed
