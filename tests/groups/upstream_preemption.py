"""Plays upstream's integration tests of preemption by and of groups.

The tests are those of Kubernetes v1.37,
``test/integration/scheduler/preemption/podgroup``. Cases with a plugin of their own are
left out.
"""

from collections.abc import Iterator, Sequence
from typing import Final

from msgspec.structs import replace

from quaymaster import ApiObject, Node, Pod
from quaymaster.objects import CompositePodGroup, PodDisruptionBudget, PodGroup
from quaymaster.simulation import Simulation
from tests.groups.cases import Tree, kubernetes_of
from tests.groups.configuration import config_for, registry
from tests.groups.recorded_cluster import RecordedCluster
from tests.kit.internals.groups import without_protection
from tests.kit.internals.testing import object_from

__all__ = ["failed_expectations", "is_played"]

_SECONDS: Final = 30.0


def is_played(case: Tree) -> bool:
    """Whether a case needs no plugin of its own."""
    return not case["case"].get("customPluginName")


def failed_expectations(case: Tree) -> Iterator[str]:
    """Play a case, and yield the expectations that do not hold."""
    tree = case["case"]
    gate = {"PodGroupPreemptionPolicy": tree["enablePodGroupPreemptionPolicy"]}
    kubernetes = kubernetes_of({"gates": {**case["gates"], **gate}})
    cluster = RecordedCluster(kubernetes)
    simulation = Simulation(cluster, config=config_for(kubernetes), registry=registry())
    simulation.start()
    _create(cluster, tree["nodes"], Node)
    _create_groups(cluster, tree)
    if tree.get("pdb"):
        _create(cluster, [tree["pdb"]], PodDisruptionBudget)
    _create(cluster, tree["initialPods"], Pod)
    simulation.run_until(simulation.now + _SECONDS)
    is_removed = tree.get("tempRemovePG") or tree.get("tempRemoveCPG")
    if is_removed:
        _delete_groups(cluster)
    name = tree.get("removeCPGNameBeforePreemption")
    if name:
        cluster.delete(CompositePodGroup, f"default/{name}")
    simulation.run_until(simulation.now + _SECONDS)
    _create(cluster, tree["preemptorPods"], Pod)
    if is_removed:
        simulation.run_until(simulation.now + _SECONDS)
        _create_groups(cluster, tree)
    simulation.run_until(simulation.now + _SECONDS)
    yield from _unmet(case["id"], tree, cluster)


def _unmet(case_id: str, tree: Tree, cluster: RecordedCluster) -> Iterator[str]:
    """Yield the expectations that do not hold at the end."""
    pods = {pod.name: pod for pod in cluster.list(Pod).items}
    for pod in tree.get("expectedScheduled") or ():
        if pod not in pods or not pods[pod].node_name:
            yield f"{case_id}: {pod} is not scheduled"
    for pod in tree.get("expectedPreempted") or ():
        if pod in pods:
            yield f"{case_id}: {pod} is not preempted"
    for pod in tree.get("expectedUnschedulable") or ():
        if pod not in pods or pods[pod].node_name:
            yield f"{case_id}: {pod} is not pending"


def _create_groups(cluster: RecordedCluster, tree: Tree) -> None:
    _create(cluster, tree.get("compositePodGroups") or (), CompositePodGroup)
    _create(cluster, tree["podGroups"], PodGroup)


def _delete_groups(cluster: RecordedCluster) -> None:
    for composite in cluster.list(CompositePodGroup).items:
        cluster.delete(CompositePodGroup, composite.key)
    for group in cluster.list(PodGroup).items:
        cluster.update(without_protection(group))
        cluster.delete(PodGroup, group.key)


def _create(
    cluster: RecordedCluster, trees: Sequence[Tree], kind: type[ApiObject]
) -> None:
    """Create objects; the tests set priorities directly, without classes."""
    for tree in trees:
        obj = object_from(tree, kind)
        if kind.namespaced:
            metadata = replace(obj.metadata, namespace="default")
            obj = replace(obj, metadata=metadata)
        cluster.create(obj)
