"""NodeAffinity's event and queueing hint.

Mirrors ``Test_isSchedulableAfterNodeChange`` in ``node_affinity_test.go``
(kube-scheduler 1.36.2, ``pkg/scheduler/framework/plugins/nodeaffinity``).
"""

import pytest

from quaymaster import ActionType, ClusterEvent, EventResource, Node, Pod, QueueingHint
from quaymaster.objects import NodeSelector, NodeSelectorRequirement, NodeSelectorTerm
from quaymaster.testing import PluginHarness, make_node, make_pod
from quaymaster_node_affinity import NodeAffinity

NODE_ADDED = ClusterEvent(EventResource.NODE, ActionType.ADD)
NODE_RELABELLED = ClusterEvent(EventResource.NODE, ActionType.UPDATE_NODE_LABEL)

QUEUE, SKIP = QueueingHint.QUEUE, QueueingHint.SKIP
POD = make_pod(node_affinity={"foo": "bar"})
ENFORCED: dict[str, object] = {
    "addedAffinity": {
        "requiredDuringSchedulingIgnoredDuringExecution": {
            "nodeSelectorTerms": [
                {"matchExpressions": [{"key": "zone", "operator": "Exists"}]}
            ]
        }
    }
}


def node(**labels: str) -> Node:
    return make_node(name="node", labels=labels)


def test_events_are_upstreams() -> None:
    [registered] = PluginHarness(NodeAffinity).events()
    assert registered.event == ClusterEvent(
        EventResource.NODE, ActionType.ADD | ActionType.UPDATE_NODE_LABEL
    )


@pytest.mark.parametrize(
    ("new", "expected"),
    [
        pytest.param(node(foo="bar"), QUEUE, id="matches"),
        pytest.param(node(), SKIP, id="does not match"),
    ],
)
def test_added_node_helps_if_it_matches(new: Node, expected: QueueingHint) -> None:
    assert PluginHarness(NodeAffinity).hint(POD, NODE_ADDED, None, new) is expected


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        pytest.param(node(), node(foo="bar"), QUEUE, id="matches now"),
        pytest.param(node(), node(k="v"), SKIP, id="unrelated labels"),
        pytest.param(node(foo="bar"), node(k="v"), SKIP, id="matches no more"),
        pytest.param(
            node(foo="bar"), node(foo="bar", k="v"), SKIP, id="matched before"
        ),
    ],
)
def test_relabelled_node_helps_if_it_matches_only_now(
    old: Node, new: Node, expected: QueueingHint
) -> None:
    assert PluginHarness(NodeAffinity).hint(POD, NODE_RELABELLED, old, new) is expected


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        pytest.param(None, node(foo="bar"), SKIP, id="added, not enforced"),
        pytest.param(None, node(foo="bar", zone="z"), QUEUE, id="added, both"),
        pytest.param(
            node(zone="z"), node(foo="bar", zone="z"), QUEUE, id="matches the pod now"
        ),
        pytest.param(
            node(foo="bar"),
            node(foo="bar", zone="z"),
            SKIP,
            id="enforced only now, which upstream does not see",
        ),
    ],
)
def test_added_affinity_is_asked_of_the_new_node(
    old: Node | None, new: Node, expected: QueueingHint
) -> None:
    harness = PluginHarness(NodeAffinity, args=ENFORCED)
    event = NODE_ADDED if old is None else NODE_RELABELLED
    assert harness.hint(POD, event, old, new) is expected


def broken(**selector: str) -> Pod:
    """Make a pod whose only required term is invalid."""
    condition = NodeSelectorRequirement(key="foo", operator="Sometimes")
    term = NodeSelectorTerm(match_expressions=(condition,))
    affinity = NodeSelector(node_selector_terms=(term,))
    return make_pod(node_affinity=affinity, node_selector=selector)


@pytest.mark.parametrize(
    ("pod", "expected"),
    [
        pytest.param(broken(), QUEUE, id="nobody can tell"),
        pytest.param(broken(k="v"), SKIP, id="the selector does not match anyway"),
    ],
)
def test_broken_terms_wake_the_pod(pod: Pod, expected: QueueingHint) -> None:
    assert PluginHarness(NodeAffinity).hint(pod, NODE_ADDED, None, node()) is expected


def test_other_changes_of_nodes_are_not_asked_for() -> None:
    event = ClusterEvent(EventResource.NODE, ActionType.UPDATE_NODE_ALLOCATABLE)
    answer = PluginHarness(NodeAffinity).hint(POD, event, node(), node(foo="bar"))
    assert answer is SKIP
