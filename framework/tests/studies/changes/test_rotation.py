"""Rotations: nodes are replaced by new ones of the same kind, some at a time."""

from msgspec.structs import replace

from quaymaster import ApiObject, Node
from quaymaster.config import default_config
from quaymaster.objects import CSINode, ObjectMeta, Taint
from quaymaster.planning import RotateNodes, WhatIfStep, what_if
from quaymaster.scheduler import PluginRegistry
from quaymaster.simulation import Simulation
from quaymaster.testing import (
    make_deployment,
    make_node,
    make_pod,
    make_pod_disruption_budget,
)

REGISTRY = PluginRegistry.discover()
CONFIG = default_config(REGISTRY)
NODES = [
    make_node(
        name=f"n{index}",
        capacity={"cpu": "4", "memory": "8Gi"},
        labels={"pool": "old", "kubernetes.io/hostname": f"n{index}"},
    )
    for index in range(3)
]


def web(replicas: int) -> ApiObject:
    return make_deployment(
        name="web",
        replicas=replicas,
        pod=make_pod(requests={"cpu": "1"}, labels={"app": "web"}),
    )


def rotated(*objects: ApiObject, surge: int = 1, timeout: float = 600) -> WhatIfStep:
    change = RotateNodes(
        nodes="pool=old", surge=surge, boot_seconds=90, timeout_seconds=timeout
    )
    [step] = what_if(
        [*NODES, *objects], [change], config=CONFIG, registry=REGISTRY
    ).steps
    return step


def test_every_node_is_replaced_by_a_copy_and_the_pods_move() -> None:
    step = rotated(web(3))
    assert sorted(step.objects) == [
        "Node/n0",
        "Node/n0-1",
        "Node/n1",
        "Node/n1-1",
        "Node/n2",
        "Node/n2-1",
    ]
    assert (step.after.nodes, step.after.placed, step.left) == (3, 3, ())


def test_nodes_are_replaced_one_after_the_other_with_boot_and_drain() -> None:
    step = rotated(web(3))
    # Each takes 90 seconds to boot and 30 for the pods' grace period.
    assert step.ended - step.at >= 3 * 90 + 30
    assert step.notes[0].startswith("3 of 3 nodes replaced in ")


def test_a_larger_surge_takes_less_time() -> None:
    slow, fast = rotated(web(3)), rotated(web(3), surge=3)
    assert fast.ended - fast.at < (slow.ended - slow.at) / 2
    assert fast.after.nodes == 3


def test_a_budget_that_allows_nothing_blocks_the_node_and_is_reported() -> None:
    budget = make_pod_disruption_budget(
        max_unavailable=0, selector={"app": "web"}, name="web"
    )
    step = rotated(web(1), budget, timeout=60)
    [refused] = step.refused
    assert refused.pod in step.stayed
    assert step.left == (refused.pod,)
    assert step.notes[0].startswith("2 of 3 nodes replaced in ")
    assert step.notes[1].startswith(f"not replaced: {refused.node}: 1 pod not evicted")
    # The old node stays cordoned, beside its copy.
    assert step.after.nodes == 4


def test_a_copy_has_no_properties_of_the_old_machine() -> None:
    taints = (
        Taint(key="dedicated", value="x", effect="NoSchedule"),
        Taint(key="node.kubernetes.io/memory-pressure", effect="NoSchedule"),
    )
    old = replace(NODES[0], spec=replace(NODES[0].spec, taints=taints))
    own = CSINode(metadata=ObjectMeta(name="n0"))
    with Simulation([old, own], config=CONFIG, registry=REGISTRY) as simulation:
        RotateNodes(nodes="n0").apply(simulation)
        simulation.settle()
        [new] = simulation.cluster.list(Node).items
        [csi_node] = simulation.cluster.list(CSINode).items
    assert (new.name, csi_node.name) == ("n0-1", "n0-1")
    assert new.labels["kubernetes.io/hostname"] == "n0-1"
    assert new.labels["pool"] == "old"
    assert [taint.key for taint in new.spec.taints] == ["dedicated"]


def test_a_node_with_a_finalizer_of_another_controller_is_replaced() -> None:
    metadata = replace(NODES[0].metadata, finalizers=("karpenter.sh/termination",))
    node = replace(NODES[0], metadata=metadata)
    with Simulation([node], config=CONFIG, registry=REGISTRY) as simulation:
        RotateNodes(nodes="n0").apply(simulation)
        simulation.settle()
        assert [n.name for n in simulation.cluster.list(Node).items] == ["n0-1"]
