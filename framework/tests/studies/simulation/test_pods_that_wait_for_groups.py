"""Simulations with pods that wait for their group: they settle, and say why."""

from quaymaster import Pod
from quaymaster.config import default_config
from quaymaster.simulation import SimulationResult, simulate
from quaymaster.testing import make_node, make_pod
from tests.kit.internals.groups import kubernetes_with_groups


def simulated(*pods: Pod) -> SimulationResult:
    config = default_config(kubernetes=kubernetes_with_groups())
    nodes = [make_node(name="n1", allocatable={"cpu": "4", "pods": "10"})]
    return simulate([*nodes, *pods], config=config)


def test_pods_outside_groups_are_scheduled_as_before() -> None:
    result = simulated(make_pod(name="a"), make_pod(name="b"))
    assert result.pods == 2
    assert result.unscheduled == ()


def test_pod_without_the_object_of_its_group_says_what_it_waits_for() -> None:
    result = simulated(make_pod(name="a", scheduling_group="gang"))
    (pod,) = result.unscheduled
    message = "waits for PodGroup default/gang, which does not exist"
    assert (pod.reason, pod.message) == ("SchedulingGated", message)
