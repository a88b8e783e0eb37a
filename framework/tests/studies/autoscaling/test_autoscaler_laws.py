"""Laws that hold for every autoscaler behind the port, on random clusters.

Clusters have capacity failures, and nodes that come too late.
"""

import random
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from datetime import timedelta
from typing import Final

import attrs
import pytest
from msgspec.structs import replace

from quaymaster import Node, Pod
from quaymaster.autoscaling import (
    AutoscaledNode,
    AutoscalerFactory,
    ClusterAutoscalerOptions,
    ClusterAutoscalerSetup,
    GroupSettings,
)
from quaymaster.objects import Deployment, PodDisruptionBudget, Quantity, from_wire
from quaymaster.simulation import Simulation
from quaymaster.testing import make_deployment, make_pod, make_pod_disruption_budget
from tests.kit.internals.karpenter import NodeClaim, NodePool
from tests.kit.internals.karpenter_control import Failure, KarpenterSetup
from tests.kit.karpenter import OPTIONS, make_type
from tests.kit.nightly import sampled

STEP: Final = 45.0
STEPS: Final = 24


@attrs.frozen(kw_only=True)
class Scaled:
    """An autoscaler with the limits that it must keep.

    Attributes:
        factory: Makes it.
        most: The most that the nodes of each group may use of its limit.
        used: Returns what they use of it.
        sizes: Of groups whose nodes come, the millicores that a pod can have on
            each size of node, and what one such node uses of the limit.
    """

    factory: AutoscalerFactory
    most: dict[str, int]
    used: Callable[[Simulation], Mapping[str, int]]
    sizes: dict[str, dict[int, int]]


def nodes_of_groups(simulation: Simulation) -> Mapping[str, int]:
    return Counter(life.group for life in lives_of(simulation) if life.removed is None)


def cores_of_pools(simulation: Simulation) -> Mapping[str, int]:
    """Return the cores of the nodes that Karpenter counts for limits.

    As upstream, a node that is being replaced counts no longer.
    """
    cores: Counter[str] = Counter()
    for claim in simulation.cluster.list(NodeClaim).items:
        leaves = claim.metadata.deletion_timestamp is not None or any(
            each.type == "DisruptionReason" for each in claim.status.conditions
        )
        if not leaves and "cpu" in claim.status.capacity:
            pool = claim.labels["karpenter.sh/nodepool"]
            cores[pool] += claim.status.capacity["cpu"].milli_value // 1000
    return cores


def cluster_autoscaler(chance: random.Random) -> Scaled:
    """Make groups of which the last one never gets its nodes in time."""
    groups = [
        GroupSettings(
            name=f"g{number}",
            max=chance.randint(1, 4),
            price=chance.choice((0.1, 0.5, 2.0)),
            resources={"cpu": Quantity(cores), "memory": Quantity("64Gi")},
        )
        for number, cores in enumerate(chance.sample((1, 2, 4, 8), 2))
    ]
    late = attrs.evolve(groups[0], name="late", registration=timedelta(hours=5))
    options = ClusterAutoscalerOptions(max_node_provision_time=120)
    return Scaled(
        factory=ClusterAutoscalerSetup(groups=[*groups, late], options=options),
        most={group.name: group.max for group in (*groups, late)},
        used=nodes_of_groups,
        sizes={group.name: {group.resources["cpu"].milli_value: 1} for group in groups},
    )


def karpenter(chance: random.Random) -> Scaled:
    """Make a pool whose small type lacks capacity, or never registers, for a time."""
    # A limit of nodes holds only between rounds, as upstream: its scheduler does not
    # subtract the new nodes of a round from it. A limit of cores always holds.
    most = 8 * chance.randint(2, 5)
    tree = {
        "metadata": {"name": "general"},
        "spec": {
            "limits": {"cpu": str(most)},
            "disruption": {
                "consolidateAfter": chance.choice(("0s", "60s")),
                "budgets": [{"nodes": str(chance.randint(0, 2))}],
            },
            "template": {"spec": {}},
        },
    }
    types = [
        make_type(name, cpu, 0.1 * cpu) for name, cpu in (("small", 2), ("large", 8))
    ]
    failure = Failure(
        type="small", since=0.0, until=400.0, registers=chance.random() < 0.5
    )
    setup = KarpenterSetup(
        types=types,
        pools=[from_wire(tree, NodePool)],
        options=OPTIONS,
        failures=[failure],
    )
    return Scaled(
        factory=setup,
        most={"general": most},
        used=cores_of_pools,
        sizes={"general": {1900: 2, 7900: 8}},
    )


MAKERS: Final = [
    pytest.param(cluster_autoscaler, id="cluster-autoscaler"),
    pytest.param(karpenter, id="karpenter"),
]
Maker = Callable[[random.Random], Scaled]


def workloads(chance: random.Random) -> list[Deployment]:
    return [
        make_deployment(
            name=f"w{number}",
            replicas=chance.randint(1, 6),
            pod=make_pod(
                requests={"cpu": f"{chance.randint(2, 30)}00m"},
                labels={"app": f"w{number}"},
            ),
        )
        for number in range(chance.randint(1, 3))
    ]


@contextmanager
def running(scaled: Scaled, chance: random.Random) -> Iterator[Simulation]:
    owners = workloads(chance)
    budgets = [
        make_pod_disruption_budget(
            name=owner.name,
            selector=owner.spec.template.metadata.labels,
            max_unavailable=1,
        )
        for owner in owners
    ]
    objects = [*owners, *budgets]
    with Simulation(objects, autoscaler=scaled.factory) as simulation:
        yield simulation


def lives_of(simulation: Simulation) -> list[AutoscaledNode]:
    assert simulation.autoscaler is not None
    return [*simulation.autoscaler.nodes()]


def resize(simulation: Simulation, chance: random.Random) -> None:
    for owner in simulation.cluster.list(Deployment).items:
        spec = replace(owner.spec, replicas=chance.randint(0, 6))
        simulation.cluster.update(replace(owner, spec=spec))


def check_instant(simulation: Simulation, scaled: Scaled) -> None:
    for group, amount in scaled.used(simulation).items():
        assert amount <= scaled.most[group]
    for budget in simulation.cluster.list(PodDisruptionBudget).items:
        assert budget.status.disruptions_allowed >= 0


def check_nodes_hold_their_pods(simulation: Simulation) -> None:
    requested: dict[str, int] = defaultdict(int)
    for pod in simulation.cluster.list(Pod).items:
        amount = pod.spec.containers[0].resources.requests["cpu"].milli_value
        requested[pod.node_name] += amount if pod.node_name else 0
    nodes = {node.name: node for node in simulation.cluster.list(Node).items}
    for name, amount in requested.items():
        if name:
            assert amount <= nodes[name].status.allocatable["cpu"].milli_value


def check_end(simulation: Simulation, scaled: Scaled) -> None:
    lives = lives_of(simulation)
    used = scaled.used(simulation)
    for pod in simulation.cluster.list(Pod).items:
        if pod.node_name:
            continue
        amount = pod.spec.containers[0].resources.requests["cpu"].milli_value
        for group, sizes in scaled.sizes.items():
            for size, use in sizes.items():
                left = scaled.most[group] - used.get(group, 0)
                assert amount > size or use > left
    for life in lives:
        if life.price is not None:
            assert life.cost == pytest.approx(life.price * life.hours)
            end = simulation.now if life.removed is None else life.removed
            hours = (end - (life.ordered or 0.0)) / 3600
            assert life.hours == pytest.approx(hours, abs=1e-6)


def staying_on_nodes(simulation: Simulation) -> int:
    """Return how many pods have a node and are not being deleted."""
    return sum(
        bool(pod.node_name) and pod.metadata.deletion_timestamp is None
        for pod in simulation.cluster.list(Pod).items
    )


def check_laws(make: Maker, seed: int, steps: int) -> None:
    chance = random.Random(seed)
    scaled = make(chance)
    with running(scaled, chance) as simulation:
        for step in range(steps):
            if step and step % 8 == 0:
                resize(simulation, chance)
            simulation.run_until(simulation.now + STEP)
            check_instant(simulation, scaled)
            check_nodes_hold_their_pods(simulation)
        placed = staying_on_nodes(simulation)
        simulation.settle()
        check_instant(simulation, scaled)
        check_nodes_hold_their_pods(simulation)
        # The pods of a removed node have a place elsewhere.
        assert placed <= staying_on_nodes(simulation)
        check_end(simulation, scaled)


@pytest.mark.long
def test_laws_hold_for_one_cluster_with_karpenter() -> None:
    check_laws(karpenter, 1, 4)


@pytest.mark.long
def test_laws_hold_for_one_cluster_with_the_cluster_autoscaler() -> None:
    check_laws(cluster_autoscaler, 1, 4)


@pytest.mark.parametrize("seed", sampled(range(2, 42), step=10))
@pytest.mark.parametrize("make", MAKERS)
def test_laws_hold_for_random_clusters(make: Maker, seed: int) -> None:
    check_laws(make, seed, STEPS)
