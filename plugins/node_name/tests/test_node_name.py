"""NodeName: upstream's rule and events."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quaymaster import ActionType, ClusterEvent, EventResource, QueueingHint, Status
from quaymaster.config import ConfigErrors
from quaymaster.testing import PluginHarness, make_node, make_pod
from quaymaster_node_name import NodeName

OTHER_NODE = Status.unresolvable("node(s) didn't match the requested node name")

NAMES = st.sampled_from("abcdef")


@pytest.mark.parametrize(
    ("wanted", "rejected"),
    [
        pytest.param(None, set(), id="no node named"),
        pytest.param("b", {"a", "c"}, id="one node named"),
        pytest.param("gone", {"a", "b", "c"}, id="unknown node named"),
    ],
)
def test_other_nodes_than_the_named_one_are_rejected(
    wanted: str | None, rejected: set[str]
) -> None:
    harness = PluginHarness(NodeName, nodes=[make_node(name=name) for name in "abc"])
    assert harness.filter(make_pod(node=wanted)) == dict.fromkeys(rejected, OTHER_NODE)


@given(names=st.sets(NAMES), removed=st.sets(NAMES), wanted=NAMES)
def test_twin_agrees_with_the_rule(
    names: set[str], removed: set[str], wanted: str
) -> None:
    nodes = [make_node(name=name) for name in sorted(names)]
    harness = PluginHarness(NodeName, nodes=nodes)
    for name in sorted(removed):
        harness.snapshot.remove_node(name)
    rejected = harness.filter(make_pod(node=wanted))
    assert set(rejected) == names - removed - {wanted}


@pytest.mark.parametrize(
    ("action", "hint"),
    [
        pytest.param(ActionType.ADD, QueueingHint.QUEUE, id="node added"),
        pytest.param(ActionType.DELETE, QueueingHint.SKIP, id="node deleted"),
        pytest.param(
            ActionType.UPDATE_NODE_LABEL, QueueingHint.SKIP, id="node relabelled"
        ),
    ],
)
def test_only_a_new_node_wakes_the_pod(action: ActionType, hint: QueueingHint) -> None:
    event = ClusterEvent(EventResource.NODE, action)
    harness = PluginHarness(NodeName)
    assert harness.hint(make_pod(node="a"), event, new=make_node(name="a")) is hint


def test_pods_are_told_apart_by_the_named_node_alone() -> None:
    plugin = NodeName(None, PluginHarness(NodeName).handle)
    assert plugin.sign_pod(make_pod(node="a")) == plugin.sign_pod(
        make_pod(name="other", node="a", labels={"app": "web"})
    )
    assert plugin.sign_pod(make_pod(node="a")) != plugin.sign_pod(make_pod())


def test_arguments_are_refused() -> None:
    with pytest.raises(ConfigErrors, match="'NodeName' takes no arguments"):
        PluginHarness(NodeName, args={"colour": "red"})
