"""Plans are compared with perfect packing, which no scheduler can beat."""

import random
from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import product

import attrs
import pytest

from quaymaster import ApiObject
from quaymaster.config import default_config
from quaymaster.inmemory import make_nodes
from quaymaster.planning import NodeGroup, Plan, parse_node_group, plan
from quaymaster.scheduler import PluginRegistry, SchedulerOptions
from quaymaster.simulation import simulate
from quaymaster.testing import (
    make_affinity_term,
    make_daemon_set,
    make_deployment,
    make_pod,
    make_spread_constraint,
)
from tests.kit.nightly import sampled
from tests.kit.packing import PackedGroup, PackedKind, cheapest_packing

REGISTRY = PluginRegistry.discover()
CONFIG = default_config(REGISTRY)
SHAPES = [(2000, 8192, 100), (4000, 8192, 160), (8000, 32768, 370), (4000, 16384, 190)]
DAEMON_CPU = 200
MOST = 10


@attrs.frozen(kw_only=True)
class Problem:
    """Pods of a few sizes, and two or three shapes of nodes."""

    kinds: Sequence[PackedKind]
    shapes: Sequence[tuple[int, int, int]]
    spread: frozenset[int]
    has_daemons: bool
    max_cpu: Fraction

    @classmethod
    def drawn(cls, seed: int) -> "Problem":
        draw = random.Random(seed)
        kinds = [
            PackedKind(
                count=draw.randint(2, 5),
                cpu=draw.choice([300, 700, 1000, 1300, 1700]),
                memory=draw.choice([512, 1500, 3000, 5000]),
                is_apart=draw.randrange(4) == 0,
            )
            for _ in range(draw.randint(2, 4))
        ]
        return cls(
            kinds=kinds,
            shapes=draw.sample(SHAPES, draw.choice([2, 3])),
            spread=frozenset(i for i in range(len(kinds)) if draw.randrange(4) == 0),
            has_daemons=draw.randrange(2) == 0,
            max_cpu=draw.choice([Fraction(1), Fraction(1), Fraction(4, 5)]),
        )

    def objects(self) -> Iterator[ApiObject]:
        for index, kind in enumerate(self.kinds):
            own = {"app": f"w{index}"}
            apart = make_affinity_term(
                topology_key="kubernetes.io/hostname", selector=own
            )
            even = make_spread_constraint(
                topology_key="topology.kubernetes.io/zone", selector=own
            )
            pod = make_pod(
                labels=own,
                requests={"cpu": f"{kind.cpu}m", "memory": f"{kind.memory}Mi"},
                pod_anti_affinity=[apart] if kind.is_apart else [],
                spread=[even] if index in self.spread else [],
            )
            yield make_deployment(name=f"w{index}", replicas=kind.count, pod=pod)
        if self.has_daemons:
            daemon = make_pod(requests={"cpu": f"{DAEMON_CPU}m"})
            yield make_daemon_set(name="agent", pod=daemon)

    def groups(self) -> list[NodeGroup]:
        return [
            parse_node_group(
                f"name=g{index},cpu={cpu}m,memory={memory}Mi,zones=3,"
                f"price={price},max={MOST}"
            )
            for index, (cpu, memory, price) in enumerate(self.shapes)
        ]

    def plan(self) -> Plan:
        return plan(
            self.objects(),
            groups=self.groups(),
            config=CONFIG,
            registry=REGISTRY,
            max_utilization={"cpu": self.max_cpu},
            max_trials=100,
        )

    def perfect_cost(self) -> int:
        daemon = DAEMON_CPU if self.has_daemons else 0
        groups = [
            PackedGroup(
                price=price,
                most=MOST,
                cpu=cpu - daemon,
                memory=memory,
                daemon_cpu=daemon,
            )
            for cpu, memory, price in self.shapes
        ]
        return cheapest_packing(self.kinds, groups, self.max_cpu)

    def works(self, counts: Sequence[int]) -> bool:
        """Whether all pods get a node, below the limit, if the nodes are there."""
        groups = self.groups()
        pairs = list(zip(groups, counts, strict=True))
        result = simulate(
            [*make_nodes([group.spec(n) for group, n in pairs if n]), *self.objects()],
            config=CONFIG,
            registry=REGISTRY,
            options=SchedulerOptions(daemon_sets_first=True),
        )
        offer = sum(n * cpu for n, (cpu, _, _) in zip(counts, self.shapes, strict=True))
        wanted = sum(kind.count * kind.cpu for kind in self.kinds)
        wanted += sum(counts) * DAEMON_CPU if self.has_daemons else 0
        return not result.unscheduled and wanted <= self.max_cpu * offer

    def cheaper_plans(self, low: int, high: int) -> Iterator[tuple[int, ...]]:
        """Yield the plans that cost less, and not less than perfect packing."""
        prices = [price for _, _, price in self.shapes]
        for counts in product(range(MOST + 1), repeat=len(prices)):
            cost = sum(n * price for n, price in zip(counts, prices, strict=True))
            if low <= cost < high:
                yield counts


def excess(seed: int) -> float:
    """Plan a problem, check what is claimed, and compare it with perfect packing."""
    problem = Problem.drawn(seed)
    perfect, found = problem.perfect_cost(), problem.plan()
    assert found.is_found
    assert found.cost is not None
    assert perfect <= found.cost
    if found.is_final_at_once:
        cheaper = problem.cheaper_plans(perfect, int(found.cost))
        assert not any(map(problem.works, cheaper))
    return float(found.cost) / perfect - 1


@pytest.mark.long
def test_plan_costs_at_least_as_much_as_perfect_packing() -> None:
    problem = Problem(
        kinds=[PackedKind(count=3, cpu=1500, memory=512)],
        shapes=SHAPES[:2],
        spread=frozenset(),
        has_daemons=False,
        max_cpu=Fraction(1),
    )
    assert problem.plan().cost == problem.perfect_cost() == 260


@pytest.mark.parametrize("seeds", sampled([range(12), range(12, 36)], step=2))
def test_plans_are_within_a_tenth_of_perfect_packing_on_average(seeds: range) -> None:
    excesses = [excess(seed) for seed in seeds]
    assert sum(excesses) / len(excesses) <= 0.10
