"""If not all pods can be placed, the answer has a plan for the others."""

from collections.abc import Iterator

import pytest

from quaymaster import ApiObject
from quaymaster.config import default_config
from quaymaster.planning import Plan, parse_node_group, plan
from quaymaster.scheduler import PluginRegistry
from quaymaster.testing import make_deployment, make_node, make_pod

REGISTRY = PluginRegistry.discover()
CONFIG = default_config(REGISTRY)


def planned(*objects: ApiObject, group: str = "cpu=4,memory=8Gi") -> Plan:
    return plan(
        objects, groups=[parse_node_group(group)], config=CONFIG, registry=REGISTRY
    )


def web(replicas: int, cpu: str = "2", name: str = "web") -> ApiObject:
    return make_deployment(
        name=name, replicas=replicas, pod=make_pod(requests={"cpu": cpu})
    )


@pytest.mark.long
def test_pods_that_fit_no_group_do_not_prevent_a_plan_for_the_others() -> None:
    found = planned(web(2, cpu="6", name="huge"), web(4))
    assert (found.is_found, found.is_final) == (False, True)
    [kind] = found.unplaced_kinds
    assert (kind.workload, kind.pods) == ("deployment.apps/default/huge", 2)
    assert kind.lacks["cpu"].requested == 6000
    assert kind.lacks["cpu"].largest == 4000
    assert found.partial is not None
    assert (len(found.partial.nodes), found.partial.is_final) == (2, True)
    assert {pod.pod for pod in found.partial.unplaced} == {
        pod.pod for pod in found.unplaced
    }


@pytest.mark.long
def test_pods_that_only_full_nodes_of_the_input_can_take_are_left_out() -> None:
    old = make_node(name="old", capacity={"cpu": "6", "memory": "8Gi", "pods": "9"})
    found = planned(old, web(2, cpu="6", name="huge"), web(2))
    assert not found.is_found
    assert found.partial is not None
    assert [len(found.partial.unplaced), len(found.partial.nodes)] == [1, 1]


@pytest.mark.long
def test_plan_with_the_most_nodes_says_how_many_pods_it_places() -> None:
    found = planned(web(7), group="cpu=4,memory=8Gi,max=2")
    assert (found.is_found, found.is_final) == (False, True)
    assert found.partial is not None
    assert (len(found.partial.nodes), len(found.partial.unplaced)) == (2, 3)
    assert not found.partial.has_bound


def test_nothing_is_bought_if_no_pod_can_be_placed() -> None:
    found = planned(web(3, cpu="5"))
    assert found.partial is None
    assert found.unplaced_kinds[0].pods == 3


def test_single_pods_that_are_alike_are_one_kind() -> None:
    pods = [make_pod(name=f"p-{n}", requests={"cpu": "5"}) for n in range(3)]
    [kind] = planned(*pods).unplaced_kinds
    assert (kind.workload, kind.pods) == ("pod/default/p-0", 3)


def ticks() -> Iterator[float]:
    yield from map(float, range(100_000))


@pytest.mark.long
def test_time_limit_ends_the_plan_that_is_being_tried() -> None:
    times = ticks()
    found = plan(
        [web(200, cpu="1")],
        groups=[parse_node_group("cpu=4,memory=8Gi")],
        config=CONFIG,
        registry=REGISTRY,
        time_limit=1.5,
        clock=lambda: next(times),
    )
    assert (found.is_found, found.is_final) == (False, False)
    assert found.obstacle == "the time was over before any plan was found"
    assert found.tried == 1
