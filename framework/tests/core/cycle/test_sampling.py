"""A profile may restrict the search to a part of the nodes."""

from typing import Any

import numpy as np
import pytest

from quaymaster import Snapshot
from quaymaster.testing import SchedulerHarness, make_node, make_pod
from tests.kit.documents import HEADER
from tests.kit.internals.cycle import NodeOrder, nodes_to_find


@pytest.mark.parametrize(
    ("percentage", "nodes", "wanted"),
    [
        pytest.param(100, 5000, 5000, id="all"),
        pytest.param(10, 5000, 500, id="a tenth"),
        pytest.param(1, 5000, 100, id="never fewer than 100"),
        pytest.param(1, 60, 60, id="all of a small cluster"),
    ],
)
def test_enough_feasible_nodes(percentage: int, nodes: int, wanted: int) -> None:
    """Mirrors TestNumFeasibleNodesToFind (schedule_one_test.go)."""
    assert nodes_to_find(percentage, nodes) == wanted


def zoned(*sizes: int) -> Snapshot:
    snapshot = Snapshot()
    for zone, size in enumerate(sizes):
        for number in range(size):
            snapshot.add_node(make_node(name=f"z{zone}-{number}", zone=f"zone-{zone}"))
    return snapshot


def test_zones_take_turns() -> None:
    """Mirrors TestNodeTree_List (node_tree_test.go)."""
    nodes = zoned(3, 1, 2).nodes
    names = nodes.names_at(NodeOrder().rotated(nodes))
    assert names == ["z0-0", "z1-0", "z2-0", "z0-1", "z2-1", "z0-2"]


def test_next_attempt_starts_behind_the_last() -> None:
    nodes, order = zoned(4).nodes, NodeOrder()
    order.advance(3, len(nodes))
    assert nodes.names_at(order.rotated(nodes)) == ["z0-3", "z0-0", "z0-1", "z0-2"]
    order.advance(2, len(nodes))
    assert order.rotated(nodes)[0] == 1


def test_order_follows_the_nodes() -> None:
    snapshot, order = zoned(2), NodeOrder()
    order.rotated(snapshot.nodes)
    snapshot.add_node(make_node(name="new", zone="zone-1"))
    names = snapshot.nodes.names_at(order.rotated(snapshot.nodes))
    assert names == ["z0-0", "new", "z0-1"]


def sampling(percentage: int) -> dict[str, Any]:
    return {
        **HEADER,
        "percentageOfNodesToScore": percentage,
    }


def test_sampled_attempts_move_over_all_nodes() -> None:
    """Each attempt finds 100 of 200 equal nodes, the next one the other 100."""
    nodes = [make_node(name=f"n{number:03}") for number in range(200)]
    pods = [make_pod(name=f"p{number}") for number in range(2)]
    harness = SchedulerHarness([*nodes, *pods], config=sampling(1))
    harness.settle()
    halves = [int(harness.node_of(pod.name)[1:]) // 100 for pod in pods]
    assert halves == [0, 1]


def test_pod_that_fits_on_one_node_is_found_by_any_sample() -> None:
    nodes = [make_node(name=f"n{number}") for number in range(300)]
    big = make_node(name="big", capacity={"cpu": "64", "memory": "64Gi", "pods": "9"})
    pod = make_pod(name="p", requests={"cpu": "32"})
    harness = SchedulerHarness([*nodes, big, pod], config=sampling(5))
    harness.settle()
    assert harness.node_of("p") == "big"


def test_rows_of_a_sample_are_in_ascending_order() -> None:
    nodes = zoned(5, 5).nodes
    order = NodeOrder().rotated(nodes)
    assert sorted(order.tolist()) == np.arange(10).tolist()
