"""Plans whose nodes are bought in rounds, while placed pods stay."""

from collections.abc import Sequence

import pytest

from quaymaster import ApiObject, Node, Pod
from quaymaster.config import default_config
from quaymaster.inmemory import make_nodes
from quaymaster.planning import Plan, parse_node_group, plan
from quaymaster.scheduler import PluginRegistry
from quaymaster.simulation import Simulation
from quaymaster.testing import make_pod

REGISTRY = PluginRegistry.discover()
CONFIG = default_config(REGISTRY)
SMALL = "name=small,cpu=2,memory=8Gi,price=2"
LARGE = "name=large,cpu=8,memory=32Gi,price=8"


def pods(small: int, large: int) -> list[ApiObject]:
    """Pods of one CPU, which come first, and pods that fill a large node."""
    return [
        *(make_pod(name=f"a-{n}", requests={"cpu": "1"}) for n in range(small)),
        *(make_pod(name=f"b-{n}", requests={"cpu": "8"}) for n in range(large)),
    ]


def planned(
    objects: Sequence[ApiObject], *, in_rounds: bool = True, seconds: float = 1e9
) -> Plan:
    times = iter(range(1000))
    return plan(
        objects,
        groups=[parse_node_group(SMALL), parse_node_group(LARGE)],
        config=CONFIG,
        registry=REGISTRY,
        max_trials=40,
        in_rounds=in_rounds,
        time_limit=seconds,
        clock=lambda: next(times),
    )


def pending_after_replay(found: Plan, objects: Sequence[ApiObject]) -> list[int]:
    """Add the nodes round by round, as ``what-if --add-nodes`` does."""
    pending = []
    with Simulation(objects, config=CONFIG, registry=REGISTRY) as simulation:
        cluster = simulation.cluster
        for planned_round in found.rounds:
            pairs = zip(found.groups, planned_round.nodes, strict=True)
            taken = [node.name for node in cluster.list(Node).items]
            for node in make_nodes([group.group.spec(n) for group, n in pairs]):
                if node.name not in taken:
                    cluster.create(node)
            simulation.settle()
            pods = cluster.list(Pod).items
            pending.append(sum(not pod.node_name for pod in pods))
    return pending


@pytest.mark.long
def test_small_pods_settle_before_nodes_for_large_pods_are_bought() -> None:
    objects = pods(small=8, large=2)
    found = planned(objects)
    assert found.rounds
    assert str(found.cost) == "24"
    assert found.lower_bound == found.lower_bound_in_rounds == 24
    pending = [planned_round.pending for planned_round in found.rounds]
    assert pending[0] == 10
    assert pending[-1] == 0
    assert pending_after_replay(found, objects) == pending


@pytest.mark.long
def test_plan_in_rounds_is_not_dearer_than_a_plan_at_once() -> None:
    objects = pods(small=8, large=2)
    at_once = planned(objects, in_rounds=False)
    assert not at_once.rounds
    cost = planned(objects).cost
    assert cost is not None
    assert not at_once.is_found or (at_once.cost is not None and cost <= at_once.cost)


def test_nodes_are_bought_at_once_if_that_costs_the_least() -> None:
    found = planned(pods(small=4, large=0))
    assert (str(found.cost), found.rounds, found.tried) == ("4", (), 1)


def test_search_that_is_late_ends_with_the_best_plan_so_far() -> None:
    found = planned(pods(small=4, large=1), seconds=6)
    assert found.tried < planned(pods(small=4, large=1)).tried
