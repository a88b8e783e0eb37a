"""Plans whose nodes are bought in rounds, while placed pods stay."""

import random
from collections.abc import Iterator, Sequence
from itertools import islice

import pytest

from quaymaster import ApiObject, Node, Pod
from quaymaster.config import default_config
from quaymaster.planning import Plan, parse_node_group, plan
from quaymaster.scheduler import PluginRegistry
from quaymaster.simulation import Simulation
from quaymaster.testing import make_pod, make_spread_constraint
from tests.kit.nightly import sampled

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
    objects: Sequence[ApiObject],
    *,
    in_rounds: bool = True,
    seconds: float = 1e9,
    trials: int = 40,
) -> Plan:
    times = iter(range(1000))
    return plan(
        objects,
        groups=[parse_node_group(SMALL), parse_node_group(LARGE)],
        config=CONFIG,
        registry=REGISTRY,
        max_trials=trials,
        in_rounds=in_rounds,
        time_limit=seconds,
        clock=lambda: next(times),
    )


def pending_after_replay(found: Plan, objects: Sequence[ApiObject]) -> list[int]:
    """Add the nodes round by round, as ``what-if --add-nodes`` does."""
    pending = []
    by_group = nodes_by_group(found)
    rounds = [planned_round.nodes for planned_round in found.rounds]
    with Simulation(objects, config=CONFIG, registry=REGISTRY) as simulation:
        cluster = simulation.cluster
        for counts in rounds or [tuple(group.nodes for group in found.groups)]:
            for nodes, count in zip(by_group, counts, strict=True):
                for node in islice(nodes, count):
                    cluster.create(node)
            simulation.settle()
            pods = cluster.list(Pod).items
            pending.append(sum(not pod.node_name for pod in pods))
    assert not any(True for nodes in by_group for _ in nodes)
    return pending


def nodes_by_group(found: Plan) -> list[Iterator[Node]]:
    nodes = iter(found.nodes)
    return [iter([*islice(nodes, group.nodes)]) for group in found.groups]


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


@pytest.mark.long
def test_nodes_are_bought_at_once_if_that_costs_the_least() -> None:
    found = planned(pods(small=4, large=0))
    assert (str(found.cost), found.rounds, found.tried) == ("4", (), 1)


@pytest.mark.long
def test_search_that_is_late_ends_with_the_best_plan_so_far() -> None:
    found = planned(pods(small=4, large=1), seconds=6)
    assert found.tried < planned(pods(small=4, large=1)).tried


def tight(most: int, max_trials: int) -> Plan:
    """Two small pods, which a scheduler spreads, and one that fills a node."""
    return plan(
        [
            *(make_pod(name=f"a-{n}", requests={"cpu": "1"}) for n in range(2)),
            make_pod(name="b", requests={"cpu": "2"}),
        ],
        groups=[parse_node_group(f"cpu=2,memory=8Gi,max={most}")],
        config=CONFIG,
        registry=REGISTRY,
        max_trials=max_trials,
    )


@pytest.mark.long
def test_failed_plans_at_once_do_not_prove_that_there_is_no_plan() -> None:
    assert len(tight(most=2, max_trials=6).nodes) == 2
    few = tight(most=2, max_trials=1)
    assert (few.is_found, few.is_final, few.is_final_at_once) == (False, False, True)


@pytest.mark.long
def test_best_plan_at_once_is_not_proven_while_fewer_nodes_may_do_in_rounds() -> None:
    best = tight(most=3, max_trials=6)
    assert (len(best.nodes), len(best.rounds), best.is_final) == (2, 3, True)
    at_once = tight(most=3, max_trials=2)
    assert (len(at_once.nodes), at_once.rounds) == (3, ())
    assert (at_once.is_final, at_once.is_final_at_once) == (False, True)
    assert at_once.lower_bound == 3
    assert at_once.lower_bound_in_rounds == 2
    assert at_once.gap == 0.5


@pytest.mark.long
def test_plan_of_required_nodes_that_fails_is_refuted_for_rounds_as_well() -> None:
    found = plan(
        [
            *(make_pod(name=f"a-{n}", requests={"cpu": "1"}) for n in range(2)),
            make_pod(name="b", requests={"cpu": "2"}),
        ],
        groups=[parse_node_group("cpu=2,memory=8Gi,min=2,max=2")],
        config=CONFIG,
        registry=REGISTRY,
    )
    assert (found.is_found, found.is_final) == (False, True)


@pytest.mark.long
def test_zone_that_is_added_later_does_not_need_its_share_of_spread_pods() -> None:
    zone = "topology.kubernetes.io/zone"
    spread = make_spread_constraint(topology_key=zone, selector={"app": "web"})
    objects = [
        make_pod(
            name=f"web-{n}",
            labels={"app": "web"},
            requests={"cpu": "1"},
            spread=[spread],
        )
        for n in range(4)
    ]
    found = plan(
        objects,
        groups=[
            parse_node_group(f"name=large,cpu=3,memory=8Gi,max=1,label:{zone}=a"),
            parse_node_group(f"name=small,cpu=1,memory=8Gi,max=1,label:{zone}=b"),
        ],
        config=CONFIG,
        registry=REGISTRY,
        max_trials=6,
    )
    assert (len(found.nodes), len(found.rounds), found.is_final) == (2, 3, True)
    assert pending_after_replay(found, objects)[-1] == 0


def assert_rounds_are_sound(seed: int, trials: int = 40) -> None:
    draw = random.Random(seed)
    objects = [
        make_pod(name=f"p-{n}", requests={"cpu": str(draw.choice([1, 1, 2, 4]))})
        for n in range(draw.randint(3, 6))
    ]
    found = planned(objects, trials=trials)
    assert found.is_found
    assert found.cost is not None
    replayed = pending_after_replay(found, objects)
    assert replayed[-1] == 0
    assert not found.rounds or replayed == [part.pending for part in found.rounds]
    assert found.cost >= found.lower_bound_in_rounds
    at_once = planned(objects, in_rounds=False, trials=trials)
    assert at_once.cost is None or not at_once.is_found or found.cost <= at_once.cost


@pytest.mark.long
def test_rounds_place_all_pods_and_cost_no_more_than_at_once() -> None:
    assert_rounds_are_sound(1, trials=4)


@pytest.mark.parametrize("seed", sampled(range(60), step=8))
def test_rounds_place_all_pods_of_more_problems(seed: int) -> None:
    assert_rounds_are_sound(seed)
