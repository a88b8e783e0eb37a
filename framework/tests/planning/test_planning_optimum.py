"""Plans of small problems, held against a search of all plans by hand."""

import itertools
import random
from collections.abc import Iterator, Mapping, Sequence
from decimal import Decimal
from fractions import Fraction

import attrs
import pytest

from quaymaster import ApiObject, Node, Pod
from quaymaster.config import default_config
from quaymaster.inmemory import RUN_SECONDS_ANNOTATION, make_nodes
from quaymaster.planning import NodeGroup, Plan, parse_node_group, plan
from quaymaster.scheduler import PluginRegistry
from quaymaster.simulation import SimulationResult, simulate
from quaymaster.testing import (
    make_affinity_term,
    make_node,
    make_pod,
    make_spread_constraint,
)
from tests.kit.workloads import make_daemon_set, make_template

REGISTRY = PluginRegistry.discover()
CONFIG = default_config(REGISTRY)
MOST = 4


@attrs.frozen(kw_only=True)
class Problem:
    """A small problem: one or two groups of up to four nodes each."""

    objects: Sequence[ApiObject]
    groups: Sequence[NodeGroup]
    max_cpu: Fraction | None

    def plan(self, max_trials: int) -> Plan:
        return plan(
            self.objects,
            groups=self.groups,
            config=CONFIG,
            registry=REGISTRY,
            max_utilization=self.limits,
            max_trials=max_trials,
        )

    @property
    def limits(self) -> Mapping[str, Fraction]:
        return {} if self.max_cpu is None else {"cpu": self.max_cpu}

    def weight(self, counts: Sequence[int]) -> tuple[Decimal, int]:
        prices = [group.price or Decimal(0) for group in self.groups]
        cost = sum(n * each for n, each in zip(counts, prices, strict=True))
        return Decimal(cost), sum(counts)

    def optimum(self) -> tuple[Decimal, int] | None:
        """What the best of all plans weighs, by simulating every one."""
        ranges = [range(group.min_nodes, group.max_nodes + 1) for group in self.groups]
        plans = sorted(itertools.product(*ranges), key=self.weight)
        return next((self.weight(one) for one in plans if self.does(one)), None)

    def does(self, counts: Sequence[int]) -> bool:
        pairs = zip(self.groups, counts, strict=True)
        nodes = make_nodes([group.spec(n) for group, n in pairs])
        objects = [*nodes, *self.objects]
        result = simulate(objects, config=CONFIG, registry=REGISTRY)
        if result.unscheduled or result.preempted:
            return False
        return self.max_cpu is None or self.is_cool(objects, result)

    def is_cool(self, objects: Sequence[ApiObject], result: SimulationResult) -> bool:
        assert self.max_cpu is not None
        there = sum(
            (
                obj.status.allocatable["cpu"].milli_value
                for obj in objects
                if isinstance(obj, Node)
            ),
            0,
        )
        taken = sum(cpu_of(obj) for obj in objects if isinstance(obj, Pod))
        daemons = sum(one.pod.startswith("default/agent-") for one in result.placements)
        return taken + 100 * daemons <= self.max_cpu * there


def cpu_of(pod: Pod) -> int:
    if RUN_SECONDS_ANNOTATION in pod.metadata.annotations:
        return 0
    return pod.spec.containers[0].resources.requests["cpu"].milli_value


def drawn_pods(draw: random.Random) -> Iterator[Pod]:
    for kind in range(draw.randint(1, 3)):
        app = f"app{kind}"
        requests = {
            "cpu": f"{draw.choice([300, 600, 1100, 1900])}m",
            "memory": f"{draw.choice([200, 700, 1500])}Mi",
        }
        odd = draw.randrange(13)
        shun = make_affinity_term(
            topology_key="kubernetes.io/hostname", selector={"app": app}
        )
        away = make_affinity_term(
            topology_key="topology.kubernetes.io/zone", selector={"app": app}
        )
        even = make_spread_constraint(
            topology_key=draw.choice(
                ["topology.kubernetes.io/zone", "kubernetes.io/hostname"]
            ),
            selector={"app": app},
            max_skew=draw.choice([1, 2]),
            min_domains=draw.choice([None, 2, 3]),
        )
        near = make_affinity_term(
            topology_key="topology.kubernetes.io/zone", selector={"app": app}
        )
        spread = make_spread_constraint(
            topology_key="topology.kubernetes.io/zone", selector={"app": app}
        )
        for number in range(draw.randint(1, 4)):
            yield make_pod(
                name=f"{app}-{number}",
                labels={"app": app},
                requests=requests,
                pod_anti_affinity={0: [shun], 9: [away]}.get(odd, []),
                pod_affinity=[near] if odd == 1 else [],
                spread={2: [spread], 10: [even], 11: [even]}.get(odd, []),
                priority=draw.choice([0, 0, 5]) if odd == 12 else 0,
                tolerations=["odd"] if odd in (3, 4) else [],
                node_selector={"disk": "ssd"} if odd == 4 else {},
                host_ports=[8080] if odd == 5 else [],
                annotations={RUN_SECONDS_ANNOTATION: "60"} if odd == 6 else {},
            )


def drawn_group(draw: random.Random, name: str) -> NodeGroup:
    low = draw.choice([0, 0, 0, 1])
    parts = [
        f"name={name},cpu={draw.choice(['1', '2', '2500m', '4'])}",
        f"memory={draw.choice(['1Gi', '3Gi', '8Gi'])}",
        f"price={draw.choice(['0.10', '0.15', '0.2', '0.35'])}",
        f"min={low},max={draw.randint(max(1, low), MOST)}",
    ]
    parts += draw.choice([[], ["zones=2"], ["pods=3"]])
    parts += draw.choice([[], [], ["taint:odd:NoSchedule"]])
    parts += draw.choice([[], ["label:disk=ssd"]])
    return parse_node_group(",".join(parts))


def drawn_problem(seed: int) -> Problem:
    draw = random.Random(seed)
    objects: list[ApiObject] = list(drawn_pods(draw))
    if draw.randrange(3) == 0:
        objects.append(make_daemon_set(make_template(labels={"app": "agent"})))
    if draw.randrange(3) == 0:
        capacity = {"cpu": "2", "memory": "2Gi", "pods": "10"}
        objects.append(make_node(name="old", capacity=capacity))
        objects.append(make_pod(name="there", node="old", requests={"cpu": "1200m"}))
    names = ["big", "small"][: draw.randint(1, 2)]
    return Problem(
        objects=objects,
        groups=[drawn_group(draw, name) for name in names],
        max_cpu=draw.choice([None, None, Fraction(7, 10)]),
    )


def check(seed: int, max_trials: int) -> bool:
    """Whether the plan was proven to be the best; what it says must be true anyway."""
    problem = drawn_problem(seed)
    found, best = problem.plan(max_trials), problem.optimum()
    if best is None:
        assert not found.is_found
        return found.is_final
    assert found.lower_bound <= best[0]
    if not found.is_found:
        assert not found.is_final
        return False
    counts = [group.nodes for group in found.groups]
    assert problem.does(counts)
    assert found.cost == problem.weight(counts)[0]
    assert problem.weight(counts) >= best
    if found.is_final:
        assert problem.weight(counts) == best
    return found.is_final


@pytest.mark.parametrize("seed", range(8))
def test_the_best_of_all_plans_is_found(seed: int) -> None:
    assert check(seed, max_trials=100)


@pytest.mark.long
@pytest.mark.parametrize("seed", range(8, 200))
def test_the_best_of_all_plans_is_found_for_more_problems(seed: int) -> None:
    assert check(seed, max_trials=100)


@pytest.mark.long
@pytest.mark.parametrize("seed", range(200, 260))
def test_the_bound_is_true_where_few_plans_may_be_tried(seed: int) -> None:
    check(seed, max_trials=1)
