"""NodeResourcesFit scores placements by what is used of all their nodes together.

Mirrors ``scorePlacement`` (kube-scheduler 1.37.2,
``pkg/scheduler/framework/plugins/noderesources/resource_allocation.go``).
"""

from collections.abc import Mapping, Sequence

import pytest

from quaymaster import CycleState, NodeTable, Pod
from quaymaster.config import Kubernetes
from quaymaster.hookspecs import MemberAttempt, PodGroupAssignments, PodGroupPlacement
from quaymaster.testing import (
    PluginHarness,
    make_container,
    make_node,
    make_pod,
    make_pod_group,
)
from quaymaster_node_resources_fit import NodeResourcesFit

GPU = "nvidia.com/gpu"


def resources(**weights: int) -> Mapping[str, object]:
    listed = [{"name": name, "weight": weight} for name, weight in weights.items()]
    return {"scoringStrategy": {"type": "LeastAllocated", "resources": listed}}


def scored(
    members: Sequence[Pod],
    nodes: Sequence[Mapping[str, str]],
    *running: Pod,
    args: Mapping[str, object] | None = None,
) -> int:
    """Return the score of all nodes, ``node-0`` and so on, as one placement."""
    made = [make_node(name=f"node-{n}", capacity=each) for n, each in enumerate(nodes)]
    harness = PluginHarness(NodeResourcesFit, args=args, nodes=made, pods=running)
    plugin, table = harness.plugin, table_of(harness)
    assert isinstance(plugin, NodeResourcesFit)
    attempts = [MemberAttempt(pod, CycleState(), "node-0") for pod in members]
    placement = PodGroupPlacement("all", table.rows)
    return plugin.placement_score(table, PodGroupAssignments(placement, attempts))


def table_of(harness: PluginHarness) -> NodeTable:
    return harness.snapshot.nodes


def member(**requests: str) -> Pod:
    return make_pod(requests=requests)


SMALL = {"cpu": "4", "memory": "4Gi"}
LARGE = {"cpu": "12", "memory": "4Gi"}
HALF = member(cpu="2", memory="2Gi")


def test_the_fullest_placement_is_best_whatever_the_strategy() -> None:
    assert scored([HALF], [SMALL]) == 50
    assert scored([HALF], [SMALL, SMALL]) == 25
    assert scored([HALF, HALF], [SMALL, SMALL]) == 50


def test_resources_of_all_nodes_are_added_before_they_are_compared() -> None:
    # CPU: 2 of 16; memory: 2 of 8.
    assert scored([HALF], [SMALL, LARGE]) == (12 + 25) // 2


def test_pods_on_the_nodes_count() -> None:
    running = make_pod(name="old", node="node-0", requests={"cpu": "2", "memory": "0"})
    assert scored([HALF], [SMALL], running) == (100 + 50) // 2


def test_containers_without_requests_count_with_the_defaults() -> None:
    empty = make_pod(containers=[make_container()])
    nodes = [{"cpu": "1", "memory": "400Mi"}]
    assert scored([empty, empty], nodes) == (20 + 100) // 2


def test_more_than_the_capacity_counts_as_full() -> None:
    assert scored([HALF, HALF, HALF], [SMALL]) == 100


def test_weights_are_those_of_the_scoring_strategy() -> None:
    args = resources(cpu=3, memory=1)
    assert scored([member(cpu="4", memory="0")], [SMALL], args=args) == 300 // 4


@pytest.mark.parametrize(
    ("pod", "nodes", "expected"),
    [
        pytest.param(
            member(cpu="4", memory="0"), [SMALL | {GPU: "8"}], 100, id="no request"
        ),
        pytest.param(
            member(cpu="4", memory="0", **{GPU: "2"}),
            [SMALL | {GPU: "8"}, LARGE],
            (25 + 25) // 2,
            id="on the nodes that offer it",
        ),
        pytest.param(
            member(cpu="4", memory="0", **{GPU: "2"}),
            [SMALL],
            100,
            id="offered nowhere",
        ),
    ],
)
def test_extended_resource_counts_only_if_requested_and_offered(
    pod: Pod, nodes: Sequence[Mapping[str, str]], expected: int
) -> None:
    args = resources(**{"cpu": 1, GPU: 1})
    assert scored([pod], nodes, args=args) == expected


@pytest.mark.parametrize("args", [None, resources(**{"cpu": 2, "memory": 1, GPU: 3})])
@pytest.mark.parametrize("huge", [False, True], ids=["usual", "above 64 bits"])
def test_many_placements_get_the_scores_that_each_gets_alone(
    args: Mapping[str, object] | None, *, huge: bool
) -> None:
    memory = "60Pi" if huge else "7Gi"
    capacities = [SMALL, LARGE, SMALL | {GPU: "3"}, {"cpu": "5", "memory": memory}]
    gates = {"GenericWorkload": True, "TopologyAwareWorkloadScheduling": True}
    harness = PluginHarness(
        NodeResourcesFit,
        args=args,
        nodes=[
            make_node(name=f"node-{n}", capacity=each)
            for n, each in enumerate(capacities)
        ],
        pods=[make_pod(name="old", node="node-1", requests={"cpu": "3"})],
        kubernetes=Kubernetes("1.37", gates),
    )
    placements = {
        "first": ["node-0", "node-1"],
        "last": ["node-2", "node-3"],
        "overlapping": ["node-1", "node-3"],
        "alone": ["node-3"],
        "empty": [],
    }
    pods = [
        make_pod(name="p", node="node-0", requests={"cpu": "1", "memory": "1Gi"}),
        make_pod(name="p", node="node-3", requests={"cpu": "1", "memory": "1Gi"}),
        make_pod(name="q", node="node-2", requests={"cpu": "1", GPU: "2"}),
    ]
    # The harness compares the scores with those of the batch twin.
    scores = harness.placement_score(make_pod_group(), placements, pods)
    assert len(set(scores.values())) > 2
