"""Victims of a group are the same whether all its pods are checked, or the nearest."""

from collections.abc import Mapping, Sequence
from random import Random

import pytest

from quaymaster import ApiObject, Handle, NodeInfo, Pod, Scope, Status, hookimpl
from quaymaster.testing import make_pod, make_pod_disruption_budget
from tests.kit.group_cluster import (
    cpu_nodes,
    gang_objects,
    harness_with_groups,
    nodes_by_pod,
)

NODES = tuple("abcd")
CONFIG = {
    "apiVersion": "kubescheduler.config.k8s.io/v1",
    "kind": "KubeSchedulerConfiguration",
    "profiles": [
        {"plugins": {"multiPoint": {"enabled": [{"name": "Faraway"}]}}},
    ],
}


class Faraway:
    """A filter that may look at all nodes, so that every pod has to be checked."""

    reads = ()
    writes = ()
    scope = Scope.CLUSTER

    def __init__(self, _args: None, _handle: Handle) -> None:
        pass

    @hookimpl
    def filter(self, pod: Pod, node: NodeInfo) -> Status | None:
        return None


@pytest.mark.long
@pytest.mark.parametrize("seed", range(6))
def test_victims_are_the_same_as_with_a_check_of_every_pod(seed: int) -> None:
    random = Random(seed)
    victims = [
        (random.choice(NODES), random.choice("12"), random.random() < 0.4)
        for _ in range(random.randint(1, 8))
    ]
    count, together = random.randint(1, 5), random.random() < 0.5
    objects = cluster_with(victims, count, together=together)
    assert outcome(objects) == outcome(objects, {"Faraway": Faraway})


def cluster_with(
    victims: Sequence[tuple[str, str, bool]], count: int, *, together: bool
) -> Sequence[ApiObject]:
    """Return nodes with victims, some in a group or a budget, and a gang."""
    low, *_ = gang_objects(0, min_count=1, name="low", together=together)
    pods = [
        make_pod(
            name=f"victim-{index}",
            node=node,
            requests={"cpu": cpu},
            labels={"app": cpu},
            start_time=float(index % 3),
            scheduling_group="low" if is_member else None,
        )
        for index, (node, cpu, is_member) in enumerate(victims)
    ]
    budget = make_pod_disruption_budget(selector={"app": "2"}, min_available=2)
    gang = gang_objects(count, priority=100)
    return [*cpu_nodes(*NODES, cpu="2"), low, budget, *pods, *gang]


def outcome(
    objects: Sequence[ApiObject], plugins: Mapping[str, type] | None = None
) -> Mapping[str, str]:
    """Return pod -> node at the end."""
    config = None if plugins is None else CONFIG
    harness = harness_with_groups(objects, plugins=plugins, config=config)
    harness.settle()
    return nodes_by_pod(harness)


def test_only_the_victim_on_the_node_of_the_gang_is_evicted() -> None:
    victims = [(node, "2", False) for node in NODES]
    nodes = outcome(cluster_with(victims, 1, together=False))
    assert "gang-0" in nodes
    assert sorted(nodes.values()) == sorted(NODES)
