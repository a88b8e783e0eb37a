"""Trials of plain pods that are followed without a solve fail as they do with one."""

import random
from collections.abc import Callable, Sequence
from typing import Any, Final

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
    SolveResult,
    pods_to_schedule,
    scheduler,
    solve,
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


def solved_in_both_ways(
    state: ClusterState, pods: Sequence[Pod], names: Sequence[str], *, moves: bool
) -> tuple[SolveResult, SolveResult, bool]:
    """Return two solves, the first of plain pods if they are, and whether they are."""
    results: list[SolveResult] = []
    plain: list[None] = []
    for are_plain in (True, False):
        with pytest.MonkeyPatch.context() as patch:
            if not are_plain:
                patch.setattr(scheduler, "pod_kinds", lambda *_: None)
            patch.setattr(FirstFit, "place", counted(FirstFit.place, plain))
            results.append(
                solve(
                    state,
                    pods,
                    OPTIONS,
                    exclude_nodes=names,
                    consolidates=moves,
                    needing_started={pod.key for pod in pods} if moves else (),
                )
            )
    return results[0], results[1], bool(plain)


def counted(
    place: Callable[..., int | None], calls: list[None]
) -> Callable[..., int | None]:
    def wrapped(*args: Any, **named: Any) -> int | None:
        calls.append(None)
        return place(*args, **named)

    return wrapped


def shown(result: SolveResult) -> object:
    claims = [
        (
            claim.pool.name,
            [pod.key for pod in claim.pods],
            [each.name for each in claim.instance_types],
            str(claim.requirements),
        )
        for claim in result.new_claims
    ]
    existing = {
        name: [pod.key for pod in pods] for name, pods in result.existing.items()
    }
    others = result.errors, result.remaining, result.draws, result.is_given_up
    return claims, [*existing.items()], *others


@pytest.mark.long
@pytest.mark.parametrize("seed", range(10))
def test_plain_pods_go_where_others_go(
    seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    plain = 0

    def compared(survey: Survey, candidates: Sequence[Candidate]) -> bool:
        nonlocal plain
        names = [each.name for each in candidates]
        waiting = pods_to_schedule(survey.state, OPTIONS)
        moving = [pod for each in candidates for pod in each.moving_pods]
        pods = [*moving, *waiting.pending, *waiting.leaving]
        for moves in (True, False):
            first, second, were_plain = solved_in_both_ways(
                survey.state, pods, names, moves=moves
            )
            assert shown(first) == shown(second)
            plain += were_plain
        return False

    monkeypatch.setattr(Survey, "surely_fails", compared)
    monkeypatch.setattr(Survey, "surely_stay", lambda *_: False)
    monkeypatch.setattr(Survey, "surely_staying", lambda *_: [])
    play(seed)
    assert plain
