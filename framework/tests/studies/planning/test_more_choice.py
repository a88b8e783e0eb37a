"""More groups to choose from never make a plan dearer."""

import random
from collections.abc import Iterator
from decimal import Decimal
from itertools import combinations

import pytest

from quaymaster import ApiObject
from quaymaster.config import default_config
from quaymaster.planning import NodeGroup, Plan, parse_node_group, plan
from quaymaster.scheduler import PluginRegistry
from quaymaster.testing import (
    make_daemon_set,
    make_deployment,
    make_pod,
    make_spread_constraint,
)
from tests.kit.nightly import sampled

REGISTRY = PluginRegistry.discover()
CONFIG = default_config(REGISTRY)
SHAPES = (
    (2000, 8192, 100),
    (4000, 8192, 160),
    (8000, 32768, 370),
    (4000, 16384, 190),
    (16000, 32768, 600),
)


def objects_of(draw: random.Random) -> Iterator[ApiObject]:
    for index in range(draw.randint(2, 4)):
        own = {"app": f"w{index}"}
        rule = make_spread_constraint(
            topology_key="topology.kubernetes.io/zone", selector=own
        )
        cpu = draw.choice([300, 700, 1000, 1300, 1700])
        memory = draw.choice([512, 1500, 3000, 5000])
        pod = make_pod(
            labels=own,
            requests={"cpu": f"{cpu}m", "memory": f"{memory}Mi"},
            spread=[rule] if draw.randrange(4) == 0 else [],
        )
        replicas = draw.randint(2, 5)
        yield make_deployment(name=f"w{index}", replicas=replicas, pod=pod)
    if draw.randrange(2):
        yield make_daemon_set(name="agent", pod=make_pod(requests={"cpu": "200m"}))


def groups_of(draw: random.Random) -> list[NodeGroup]:
    return [
        parse_node_group(
            f"name=g{index},cpu={cpu}m,memory={memory}Mi,zones=3,price={price},max=10"
        )
        for index, (cpu, memory, price) in enumerate(draw.sample(SHAPES, 3))
    ]


@pytest.mark.parametrize("seed", sampled(range(20), step=3))
def test_plan_of_three_groups_is_not_dearer_than_one_of_fewer(seed: int) -> None:
    draw = random.Random(seed)
    objects, groups = list(objects_of(draw)), groups_of(draw)

    def planned(some: list[NodeGroup], trials: int | None = None) -> Plan:
        return plan(
            objects, groups=some, config=CONFIG, registry=REGISTRY, max_trials=trials
        )

    whole = planned(groups)
    parts = [planned(list(each)) for n in (1, 2) for each in combinations(groups, n)]
    costs = [part.cost for part in parts if part.is_found]
    assert costs
    assert whole.is_found
    assert whole.cost is not None
    assert whole.cost <= min(cost for cost in costs if cost is not None)
    assert whole.lower_bound is not None
    assert whole.lower_bound <= whole.cost


@pytest.mark.long
@pytest.mark.parametrize("trials", [1, 3, 10])
def test_parts_take_no_more_trials_than_are_left(trials: int) -> None:
    draw = random.Random(33)
    objects, groups = list(objects_of(draw)), groups_of(draw)
    found = plan(
        objects, groups=groups, config=CONFIG, registry=REGISTRY, max_trials=trials
    )
    assert found.is_found
    assert (found.cost or Decimal(0)) >= (found.lower_bound or Decimal(0))


@pytest.mark.long
@pytest.mark.parametrize("seed", range(20))
def test_a_few_trials_are_enough_to_be_no_dearer_than_one_group(seed: int) -> None:
    draw = random.Random(seed)
    objects, groups = list(objects_of(draw)), groups_of(draw)

    def planned(some: list[NodeGroup]) -> Plan:
        return plan(
            objects, groups=some, config=CONFIG, registry=REGISTRY, max_trials=3
        )

    whole, alone = planned(groups), [planned([group]) for group in groups]
    costs = [part.cost for part in alone if part.cost is not None and part.is_found]
    assert costs
    assert whole.is_found
    assert whole.cost is not None
    assert whole.cost <= min(costs)


@pytest.mark.long
def test_one_trial_is_enough_to_find_the_one_group_that_does() -> None:
    """Growing with both groups adds small nodes, on which large pods never fit."""
    pods = [make_pod(name=f"small-{n}", requests={"cpu": "1"}) for n in range(6)]
    pods += [make_pod(name=f"large-{n}", requests={"cpu": "7"}) for n in range(2)]
    small = parse_node_group("name=s,cpu=2,memory=8Gi,price=90")
    large = parse_node_group("name=l,cpu=8,memory=8Gi,price=100")
    found = plan(
        pods, groups=[small, large], config=CONFIG, registry=REGISTRY, max_trials=1
    )
    alone = plan(pods, groups=[large], config=CONFIG, registry=REGISTRY, max_trials=1)
    assert found.is_found
    assert (found.cost or Decimal(0)) <= (alone.cost or Decimal(0))
