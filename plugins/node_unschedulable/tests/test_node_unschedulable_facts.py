"""The facts of NodeUnschedulable."""

from quaymaster.testing import PluginHarness, make_node, make_pod
from quaymaster_node_unschedulable import NodeUnschedulable


def test_a_cordon_and_the_missing_toleration_are_named() -> None:
    nodes = [make_node(name="a", unschedulable=True), make_node(name="b")]
    harness = PluginHarness(NodeUnschedulable, nodes=nodes)
    taint = "node.kubernetes.io/unschedulable:NoSchedule"
    assert harness.explain_filter(make_pod()) == {
        "a": (f"the node is cordoned, and the pod does not tolerate {taint}",)
    }
