"""The dump of a scheduler with pods of groups."""

from quaymaster.config import default_config
from quaymaster.inmemory import InMemoryCluster
from quaymaster.scheduler import VirtualClock
from quaymaster.simulation import Simulation
from quaymaster.testing import make_pod, make_pod_group
from tests.kit.internals.groups import kubernetes_with_groups
from tests.kit.internals.operation import holdings


def test_dump_lists_pods_that_wait_for_their_group_and_why() -> None:
    kubernetes = kubernetes_with_groups()
    cluster = InMemoryCluster(VirtualClock(), kubernetes=kubernetes)
    simulation = Simulation(cluster, config=default_config(kubernetes=kubernetes))
    cluster.create(make_pod_group(name="gang", min_count=2))
    cluster.create(make_pod(name="gated", scheduling_group="gang"))
    cluster.create(make_pod(name="early", scheduling_group="missing"))
    simulation.settle()
    queues = holdings(simulation.scheduler, cluster.clock.now())["queues"]
    pods = {name: [pod["pod"] for pod in listed] for name, listed in queues.items()}
    assert pods["unschedulable"] == ["default/gated"]
    assert pods["incomplete"] == ["default/early"]
    (pod,) = queues["incomplete"]
    assert pod["message"] == "waits for PodGroup default/missing, which does not exist"


def test_dump_without_groups_has_no_list_of_incomplete_pods() -> None:
    simulation = Simulation(InMemoryCluster(VirtualClock()), config=default_config())
    simulation.settle()
    assert "incomplete" not in holdings(simulation.scheduler, 0.0)["queues"]
