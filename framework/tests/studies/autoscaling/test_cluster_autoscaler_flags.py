"""Flags of the cluster autoscaler that few clusters set."""

import attrs
import pytest
from msgspec.structs import replace

from quaymaster import Node, Pod
from quaymaster.autoscaling import (
    ClusterAutoscalerController,
    ClusterAutoscalerOptions,
    ClusterAutoscalerSetup,
    GroupSettings,
)
from quaymaster.objects import DaemonSet, Quantity, Taint, from_wire
from quaymaster.simulation import Simulation
from quaymaster.testing import make_node, make_pod
from tests.kit.internals.autoscaling import is_expendable

SIZE = {"cpu": "2", "memory": "8Gi"}
QUICK = ClusterAutoscalerOptions(
    scale_down_unneeded_time=30, scale_down_delay_after_add=300
)


def group(name: str) -> GroupSettings:
    return GroupSettings(
        name=name,
        max=10,
        nodes={"pool": name},
        resources={key: Quantity(value) for key, value in SIZE.items()},
        labels={"pool": name},
    )


def simulation_of(
    *nodes: Node, pods: int = 0, options: ClusterAutoscalerOptions = QUICK
) -> Simulation:
    """Return a simulation with two groups; pods fit on nodes of the group "a"."""
    pending = [
        make_pod(
            name=f"web-{number}",
            requests={"cpu": "1500m"},
            node_selector={"pool": "a"},
        )
        for number in range(pods)
    ]
    setup = ClusterAutoscalerSetup(groups=(group("a"), group("b")), options=options)
    return Simulation([*nodes, *pending], autoscaler=setup)


def node_of(name: str, pool: str, *taints: Taint) -> Node:
    return make_node(name=name, labels={"pool": pool}, capacity=SIZE, taints=taints)


def end_of(simulation: Simulation, node: str) -> float:
    assert isinstance(simulation.autoscaler, ClusterAutoscalerController)
    [life] = [each for each in simulation.autoscaler.nodes() if each.node == node]
    assert life.removed is not None
    return life.removed


@pytest.mark.parametrize(("is_local", "least"), [(False, 300), (True, 30)])
def test_delays_after_growth_are_of_all_groups_or_of_one(
    is_local: bool, least: float
) -> None:
    options = attrs.evolve(QUICK, scale_down_delay_type_local=is_local)
    with simulation_of(node_of("old", "b"), pods=1, options=options) as simulation:
        simulation.run_until(400)
        assert least < end_of(simulation, "old") < least + 60


def test_nodes_of_a_group_that_has_grown_become_unneeded_after_the_delay() -> None:
    options = attrs.evolve(QUICK, scale_down_delay_type_local=True)
    old = node_of("old", "a")
    with simulation_of(old, pods=2, options=options) as simulation:
        simulation.run_until(100)
        [pod] = [p for p in simulation.cluster.list(Pod).items if p.node_name == "old"]
        simulation.cluster.delete(Pod, pod.key)
        assert isinstance(simulation.autoscaler, ClusterAutoscalerController)
        why = simulation.autoscaler.reasons_to_stay()["old"]
        simulation.run_until(500)
        # The delay, and then the time for which a node must be unneeded.
        assert 330 < end_of(simulation, "old") < 400
    assert why == "nodes were added to or removed from a lately"


@pytest.mark.parametrize(("works", "pods"), [(True, 0), (False, 1)])
def test_cluster_without_nodes_grows_unless_a_flag_forbids_it(
    works: bool, pods: int
) -> None:
    options = attrs.evolve(QUICK, scale_up_from_zero=works)
    with simulation_of(pods=1, options=options) as simulation:
        simulation.settle()
        left = [pod for pod in simulation.cluster.list(Pod).items if not pod.node_name]
        assert isinstance(simulation.autoscaler, ClusterAutoscalerController)
        events = [str(event) for event in simulation.autoscaler.events]
    text = "ClusterUnhealthy: Cluster has no nodes."
    assert any(text in event for event in events) is not works
    assert len(left) == pods


@pytest.mark.parametrize(("seconds", "count"), [(590, 0), (700, 1)])
def test_nodes_that_are_not_ready_are_reported_after_ten_minutes(
    seconds: float, count: int
) -> None:
    options = attrs.evolve(QUICK, scale_up_from_zero=False, startup_taints=("boot",))
    old = node_of("old", "a", Taint(key="boot", effect="NoSchedule"))
    with simulation_of(old, options=options) as simulation:
        simulation.run_until(seconds)
        assert isinstance(simulation.autoscaler, ClusterAutoscalerController)
        texts = {event.message for event in simulation.autoscaler.events}
    assert len(texts) == count


@pytest.mark.parametrize(("seconds", "grows"), [(40.0, False), (400.0, True)])
def test_node_that_is_gone_is_an_example_only_for_some_time(
    seconds: float, grows: bool
) -> None:
    """The last node had more than the cloud promises."""
    options = attrs.evolve(QUICK, node_info_cache_expire_time=seconds)
    large = make_node(
        name="old", labels={"pool": "a"}, capacity={"cpu": "8", "memory": "8Gi"}
    )
    with simulation_of(large, options=options) as simulation:
        simulation.run_until(20)
        simulation.cluster.delete(Node, "old")
        simulation.run_until(100)
        simulation.cluster.create(make_pod(name="web", requests={"cpu": "4"}))
        simulation.run_until(200)
        assert bool(simulation.cluster.list(Node).items) is grows


@pytest.mark.parametrize(("priority", "expected"), [(None, False), (0, True)])
def test_pod_without_a_priority_is_not_expendable(
    priority: int | None, expected: bool
) -> None:
    pod = make_pod(name="virtual")
    pod = replace(pod, spec=replace(pod.spec, priority=priority))
    assert is_expendable(pod, 10) is expected


@pytest.mark.parametrize(
    ("by_default", "annotation", "is_evicted"),
    [
        (False, None, False),
        (True, None, True),
        (False, "true", True),
        (True, "false", False),
    ],
)
def test_annotation_or_flag_evicts_pods_of_daemon_sets_from_empty_nodes(
    by_default: bool, annotation: str | None, is_evicted: bool
) -> None:
    key = "cluster-autoscaler.kubernetes.io/enable-ds-eviction"
    template: dict[str, object] = {
        "metadata": {
            "labels": {"app": "agent"},
            "annotations": {} if annotation is None else {key: annotation},
        },
        "spec": {"containers": [{"name": "main", "image": "x"}]},
    }
    tree = {
        "metadata": {"name": "agent", "namespace": "default"},
        "spec": {
            "selector": {"matchLabels": {"app": "agent"}},
            "template": template,
        },
    }
    agent = from_wire(tree, DaemonSet)
    options = attrs.evolve(QUICK, daemonset_eviction_for_empty_nodes=by_default)
    setup = ClusterAutoscalerSetup(groups=(group("a"),), options=options)
    with Simulation([node_of("old", "a"), agent], autoscaler=setup) as simulation:
        simulation.run_until(100)
        assert end_of(simulation, "old") < 100
        assert isinstance(simulation.autoscaler, ClusterAutoscalerController)
        events = [str(event) for event in simulation.autoscaler.events]
    text = "ScaleDown: deleting pod for node scale down"
    assert any(text in event for event in events) is is_evicted
