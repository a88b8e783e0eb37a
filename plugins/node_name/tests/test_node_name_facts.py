"""The facts of NodeName."""

from quaymaster.testing import PluginHarness, make_node, make_pod
from quaymaster_node_name import NodeName


def test_the_requested_node_is_named() -> None:
    harness = PluginHarness(NodeName, nodes=[make_node(name="a"), make_node(name="b")])
    facts = harness.explain_filter(make_pod(node="a"))
    assert facts == {"b": ("spec.nodeName is a",)}


def test_a_requested_node_that_does_not_exist_is_reported() -> None:
    harness = PluginHarness(NodeName, nodes=[make_node(name="b")])
    facts = harness.explain_filter(make_pod(node="a"))
    assert facts == {"b": ("spec.nodeName is a, which does not exist",)}
