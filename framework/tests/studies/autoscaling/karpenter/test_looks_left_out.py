"""Looks at a cluster that rests are left out, and nothing differs."""

import random
from collections.abc import Sequence
from typing import Final

import pytest
from msgspec.structs import replace

from quaymaster.autoscaling import AutoscaledNode
from quaymaster.objects import Deployment, from_wire
from quaymaster.simulation import Simulation
from quaymaster.testing import make_deployment, make_pod
from tests.kit.internals.karpenter import ClusterState, NodePool
from tests.kit.internals.karpenter_control import (
    ClaimConditions,
    KarpenterSetup,
    LaunchTimes,
    Lifecycle,
)
from tests.kit.internals.karpenter_disruption import Survey
from tests.kit.karpenter import OPTIONS, make_type

HOUR: Final = 3600.0
SOON: Final = LaunchTimes()
LATER: Final = LaunchTimes(launch=25.0)
SEEDS: Final = (3, 5, 14, 35, 36)
"""Each differs if time is left out of account; 13 of the first 40 do."""


def pool(chance: random.Random) -> NodePool:
    """Draw a pool whose rules depend on time."""
    scheduled = {
        "nodes": "0",
        "schedule": chance.choice(("0 * * * *", "*/20 * * * *")),
        "duration": chance.choice(("10m", "90s", "45m")),
    }
    tree = {
        "metadata": {"name": "general"},
        "spec": {
            "disruption": {
                "consolidateAfter": chance.choice(("0s", "45s", "20m")),
                "budgets": [{"nodes": "2"}, *([scheduled] * chance.randint(0, 1))],
            },
            "template": {
                "spec": {"expireAfter": chance.choice(("Never", "50m", "35m"))}
            },
        },
    }
    return from_wire(tree, NodePool)


def workloads(chance: random.Random) -> list[Deployment]:
    return [
        make_deployment(
            name=f"w{number}",
            replicas=chance.randint(1, 6),
            pod=make_pod(
                requests={"cpu": f"{chance.randint(2, 30)}00m"},
                labels={"app": f"w{number}"},
                annotations=chance.choice(({}, {"karpenter.sh/do-not-disrupt": "25m"})),
            ),
        )
        for number in range(chance.randint(1, 3))
    ]


def course(seed: int, times: LaunchTimes = SOON) -> Sequence[AutoscaledNode]:
    """Return the nodes of two hours, in which workloads shrink and grow twice."""
    chance = random.Random(seed)
    types = [make_type(name, cpu, cpu / 10) for name, cpu in (("s", 2), ("l", 8))]
    setup = KarpenterSetup(
        types=types, pools=[pool(chance)], options=OPTIONS, times=times
    )
    with Simulation(workloads(chance), autoscaler=setup) as simulation:
        for at in (0.4, 0.7, 0.9):
            simulation.run_until(simulation.now + at * HOUR)
            for owner in simulation.cluster.list(Deployment).items:
                spec = replace(owner.spec, replicas=chance.randint(0, 6))
                simulation.cluster.update(replace(owner, spec=spec))
        assert simulation.autoscaler is not None
        return [*simulation.autoscaler.nodes()]


@pytest.mark.long
@pytest.mark.parametrize("seed", SEEDS)
def test_looks_wait_for_orders_as_if_they_tried_every_tenth_of_a_second(
    seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun: list[float] = []
    prepare = ClaimConditions.refresh

    def noted(conditions: ClaimConditions, state: ClusterState) -> bool:
        begun.append(state.now)
        return prepare(conditions, state)

    monkeypatch.setattr(ClaimConditions, "refresh", noted)
    nodes = course(seed, LATER)
    ours = [*begun]
    begun.clear()
    monkeypatch.setattr(Lifecycle, "launched_at", 0.0)
    assert nodes == course(seed, LATER)
    assert ours == begun
    assert ours


@pytest.mark.long
@pytest.mark.parametrize("seed", SEEDS)
def test_a_course_is_the_same_if_every_look_is_made(
    seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    ours = course(seed)
    monkeypatch.setattr(Survey, "holds_until", 0.0)
    monkeypatch.setattr(ClaimConditions, "hold_until", 0.0)
    assert ours == course(seed)
    assert ours
