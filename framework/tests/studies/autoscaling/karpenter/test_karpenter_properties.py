"""Laws of clusters with Karpenter, with random pools and workloads."""

import random

import pytest
from msgspec.structs import replace

from quaymaster import Node, Pod
from quaymaster.objects import Deployment, Quantity, from_wire
from quaymaster.simulation import Simulation
from quaymaster.testing import make_deployment, make_pod
from tests.kit.internals.karpenter import (
    KWOK_WELL_KNOWN_LABELS,
    KarpenterOptions,
    NodeClaim,
    NodePool,
    kwok_offering,
    kwok_type,
)
from tests.kit.internals.karpenter_control import Failure, KarpenterSetup

pytestmark = pytest.mark.long

OPTIONS = KarpenterOptions(well_known_labels=KWOK_WELL_KNOWN_LABELS)
MEMORY = {"memory": Quantity("64Gi"), "pods": Quantity(40)}
TYPES = [
    kwok_type(
        name=f"t-{cpu}x-amd64-linux",
        arch="amd64",
        systems=["linux"],
        capacity={"cpu": Quantity(cpu), **MEMORY},
        offerings=[kwok_offering("zone-a", "on-demand", 0.05 * cpu)],
    )
    for cpu in (2, 4, 8, 16)
]
ON_DEMAND = {
    "key": "karpenter.sh/capacity-type",
    "operator": "In",
    "values": ["on-demand"],
}
STEP = 20
STEPS = 20


def random_pool(chance: random.Random) -> NodePool:
    tree = {
        "metadata": {"name": "a"},
        "spec": {
            "template": {"spec": {"requirements": [ON_DEMAND]}},
            "limits": {"cpu": chance.randint(4, 40)},
            "disruption": {
                "consolidateAfter": chance.choice(("0s", "40s")),
                "budgets": [{"nodes": str(chance.randint(1, 2))}],
            },
        },
    }
    return from_wire(tree, NodePool)


def random_workloads(chance: random.Random) -> list[Deployment]:
    return [
        make_deployment(
            name=f"w{number}",
            replicas=chance.randint(1, 6),
            pod=make_pod(requests={"cpu": f"{chance.randint(3, 30)}00m"}),
        )
        for number in range(chance.randint(1, 3))
    ]


def going(simulation: Simulation) -> set[str]:
    """Return the nodes that are being disrupted."""
    return {
        claim.name
        for claim in simulation.cluster.list(NodeClaim).items
        if claim.metadata.deletion_timestamp is not None
        or any(c.type == "DisruptionReason" for c in claim.status.conditions)
    }


def cores(simulation: Simulation) -> int:
    """Return the cores of the nodes that stay."""
    leaving = going(simulation)
    nodes = simulation.cluster.list(Node).items
    return sum(
        node.status.capacity["cpu"].value for node in nodes if node.name not in leaving
    )


def shrink(simulation: Simulation) -> None:
    for each in simulation.cluster.list(Deployment).items:
        spec = replace(each.spec, replicas=(each.spec.replicas or 0) // 2)
        simulation.cluster.update(replace(each, spec=spec))


def bound(simulation: Simulation) -> int:
    return sum(bool(pod.node_name) for pod in simulation.cluster.list(Pod).items)


@pytest.mark.parametrize("seed", range(8))
def test_limits_budgets_and_costs_hold(seed: int) -> None:
    chance = random.Random(seed)
    pool = random_pool(chance)
    limit = pool.spec.limits["cpu"].value
    budget = int(pool.spec.disruption.budgets[0].nodes)
    setup = KarpenterSetup(types=TYPES, pools=[pool], options=OPTIONS)
    with Simulation(random_workloads(chance), autoscaler=setup) as simulation:
        for step in range(STEPS):
            if step == STEPS // 2:
                shrink(simulation)
            simulation.run_until(simulation.now + STEP)
            assert cores(simulation) <= limit
            assert len(going(simulation)) <= budget
        placed = bound(simulation)
        simulation.settle()
        # A pod whose node goes has a place elsewhere.
        assert bound(simulation) >= placed
        assert simulation.autoscaler is not None
        lives = simulation.autoscaler.nodes()
    assert all(each.cost == each.hours * (each.price or 0.0) for each in lives)


@pytest.mark.parametrize("seed", range(4))
def test_missing_capacity_keeps_limits_and_costs_nothing(seed: int) -> None:
    chance = random.Random(seed)
    pool = random_pool(chance)
    limit = pool.spec.limits["cpu"].value
    # No machine of any type can be had for some minutes.
    failures = [Failure(until=float(chance.randint(60, 300)))]
    setup = KarpenterSetup(
        types=TYPES, pools=[pool], options=OPTIONS, failures=failures
    )
    with Simulation(random_workloads(chance), autoscaler=setup) as simulation:
        for _ in range(STEPS):
            simulation.run_until(simulation.now + STEP)
            assert cores(simulation) <= limit
        simulation.settle()
        assert bound(simulation) > 0
        assert simulation.autoscaler is not None
        refused = [
            each
            for each in simulation.autoscaler.nodes()
            if each.removed_for == "insufficient capacity"
        ]
    assert refused
    assert all(each.cost == 0 for each in refused)
