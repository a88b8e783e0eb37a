"""TopologyPlacementGenerator divides nodes by a label.

Cases that mirror upstream's are from ``topology_placement_test.go`` (kube-scheduler
1.37.2, ``pkg/scheduler/framework/plugins/topologyaware``). Groups with pods on nodes:
``framework/tests/core/groups``.
"""

from collections.abc import Mapping, Sequence

import pytest

from quaymaster import Node, NodeTable, Status
from quaymaster.config import ConfigErrors
from quaymaster.hookspecs import PodGroupInfo, PodGroupPlacement
from quaymaster.testing import PluginHarness, make_node, make_pod_group
from quaymaster_topology_placement_generator import TopologyPlacementGenerator
from tests.kit.internals.groups import kubernetes_with_groups

RACK = "example.com/rack"
NODES = [
    make_node(name="node0", labels={"zone": "d1"}),
    make_node(name="node1", labels={"zone": "d4", RACK: "d2"}),
    make_node(name="node2", labels={RACK: "d1"}),
    make_node(name="node3", labels={RACK: ""}),
    make_node(name="node4", labels={RACK: "d1"}),
]


def placements(
    key: str | None, nodes: Sequence[Node], parent: slice | None = None
) -> Mapping[str, Sequence[str]]:
    """Return placement -> its nodes, in the order of the placements."""
    kubernetes = kubernetes_with_groups(TopologyAwareWorkloadScheduling=True)
    harness = PluginHarness(
        TopologyPlacementGenerator, nodes=nodes, kubernetes=kubernetes
    )
    plugin, table = harness.plugin, table_of(harness)
    assert isinstance(plugin, TopologyPlacementGenerator)
    info = PodGroupInfo(group=make_pod_group(topology_key=key), pods=())
    whole = PodGroupPlacement("whole", table.rows if parent is None else parent)
    answer = plugin.placement_generate(info, table, whole)
    assert not isinstance(answer, Status)
    return {placement.name: table.names_at(placement.rows) for placement in answer}


def table_of(harness: PluginHarness) -> NodeTable:
    return harness.snapshot.nodes


def test_group_without_constraint_gets_all_nodes_of_the_parent() -> None:
    names = ["node0", "node1", "node2", "node3", "node4"]
    assert placements(None, NODES) == {"whole": names}


def test_each_value_of_the_label_is_a_placement_by_name() -> None:
    answer = placements(RACK, NODES)
    assert answer == {"": ["node3"], "d1": ["node2", "node4"], "d2": ["node1"]}
    assert list(answer) == ["", "d1", "d2"]


def test_nodes_outside_the_parent_are_in_no_placement() -> None:
    assert placements(RACK, NODES, slice(0, 3)) == {"d1": ["node2"], "d2": ["node1"]}


@pytest.mark.parametrize("nodes", [NODES, []])
def test_label_that_no_node_has_gives_no_placement(nodes: Sequence[Node]) -> None:
    assert placements("example.com/row", nodes) == {}


def test_arguments_are_refused() -> None:
    problem = "'TopologyPlacementGenerator' takes no arguments"
    with pytest.raises(ConfigErrors, match=problem):
        PluginHarness(TopologyPlacementGenerator, args={"key": "rack"})
