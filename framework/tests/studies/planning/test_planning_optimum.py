"""Plans of small problems are compared with a search through all plans."""

import random
from collections.abc import Iterator
from fractions import Fraction

import pytest

from quaymaster import ApiObject, Pod
from quaymaster.inmemory import RUN_SECONDS_ANNOTATION
from quaymaster.planning import NodeGroup, parse_node_group
from quaymaster.testing import (
    make_affinity_term,
    make_node,
    make_pod,
    make_spread_constraint,
)
from tests.kit.nightly import sampled
from tests.kit.plan_problems import PlanProblem
from tests.kit.workloads import make_daemon_set, make_template

MOST = 4


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


def drawn_problem(seed: int) -> PlanProblem:
    draw = random.Random(seed)
    objects: list[ApiObject] = list(drawn_pods(draw))
    if draw.randrange(3) == 0:
        objects.append(make_daemon_set(make_template(labels={"app": "agent"})))
    if draw.randrange(3) == 0:
        capacity = {"cpu": "2", "memory": "2Gi", "pods": "10"}
        objects.append(make_node(name="old", capacity=capacity))
        objects.append(make_pod(name="there", node="old", requests={"cpu": "1200m"}))
    names = ["big", "small"][: draw.randint(1, 2)]
    return PlanProblem(
        objects=objects,
        groups=[drawn_group(draw, name) for name in names],
        max_cpu=draw.choice([None, None, Fraction(7, 10)]),
    )


@pytest.mark.long
@pytest.mark.parametrize("seed", range(8))
def test_the_best_of_all_plans_is_found(seed: int) -> None:
    assert drawn_problem(seed).is_proven(max_trials=100)


@pytest.mark.parametrize("seed", sampled(range(8, 200), step=8))
def test_the_best_of_all_plans_is_found_for_more_problems(seed: int) -> None:
    assert drawn_problem(seed).is_proven(max_trials=100)


@pytest.mark.parametrize("seed", sampled(range(200, 260), step=8))
def test_the_bound_is_true_where_few_plans_may_be_tried(seed: int) -> None:
    drawn_problem(seed).is_proven(max_trials=1)
