"""NodeUnschedulable: rule 18 of the parity format, and upstream's own tests."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quaymaster import (
    ActionType,
    ClusterEvent,
    EventResource,
    Node,
    Pod,
    QueueingHint,
    Status,
)
from quaymaster.config import ConfigErrors
from quaymaster.objects import Toleration
from quaymaster.testing import PluginHarness, make_node, make_pod
from quaymaster_node_unschedulable import NodeUnschedulable

UNSCHEDULABLE = Status.unresolvable("node(s) were unschedulable")
CORDON = "node.kubernetes.io/unschedulable"

NODE_ADDED = ClusterEvent(EventResource.NODE, ActionType.ADD)
NODE_TAINTED = ClusterEvent(EventResource.NODE, ActionType.UPDATE_NODE_TAINT)
TOLERATION_ADDED = ClusterEvent(
    EventResource.UNSCHEDULABLE_POD, ActionType.UPDATE_POD_TOLERATION
)


def test_cordoned_node_is_rejected() -> None:
    nodes = [make_node(name="open"), make_node(name="closed", unschedulable=True)]
    harness = PluginHarness(NodeUnschedulable, nodes=nodes)
    assert harness.filter(make_pod()) == {"closed": UNSCHEDULABLE}


@pytest.mark.parametrize(
    "toleration",
    [
        pytest.param(Toleration(key=CORDON, effect="NoSchedule"), id="by default"),
        pytest.param(f"{CORDON}:NoSchedule", id="key and effect"),
        pytest.param(CORDON, id="key with any effect"),
        pytest.param(":NoSchedule", id="any key with the effect"),
        pytest.param("*", id="everything"),
    ],
)
def test_pod_that_tolerates_the_cordon_may_run_there(
    toleration: str | Toleration,
) -> None:
    nodes = [make_node(name="closed", unschedulable=True)]
    harness = PluginHarness(NodeUnschedulable, nodes=nodes)
    assert harness.filter(make_pod(tolerations=[toleration])) == {}


@pytest.mark.parametrize(
    "toleration",
    [
        pytest.param(f"{CORDON}:NoExecute", id="another effect"),
        pytest.param("dedicated:NoSchedule", id="another key"),
        pytest.param(f"{CORDON}=true:NoSchedule", id="a value that the taint lacks"),
        pytest.param(
            Toleration(key=CORDON, operator="Gt", value="1"), id="a gated operator"
        ),
    ],
)
def test_other_tolerations_do_not_help(toleration: str | Toleration) -> None:
    nodes = [make_node(name="closed", unschedulable=True)]
    harness = PluginHarness(NodeUnschedulable, nodes=nodes)
    pod = make_pod(tolerations=[toleration])
    assert harness.filter(pod) == {"closed": UNSCHEDULABLE}


def test_taint_alone_is_the_business_of_another_plugin() -> None:
    nodes = [make_node(taints=[f"{CORDON}:NoSchedule"])]
    assert PluginHarness(NodeUnschedulable, nodes=nodes).filter(make_pod()) == {}


@given(
    cordons=st.lists(st.booleans()),
    removed=st.sets(st.integers(0, 5)),
    tolerations=st.sets(st.sampled_from([CORDON, f"{CORDON}:NoExecute", "x", "*"])),
)
def test_twin_agrees_with_the_rule(
    cordons: list[bool], removed: set[int], tolerations: set[str]
) -> None:
    nodes = [
        make_node(name=f"n{index}", unschedulable=is_cordoned)
        for index, is_cordoned in enumerate(cordons)
    ]
    harness = PluginHarness(NodeUnschedulable, nodes=nodes)
    for index in sorted(removed):
        harness.snapshot.remove_node(f"n{index}")
    rejected = harness.filter(make_pod(tolerations=sorted(tolerations)))
    tolerates = not tolerations.isdisjoint({CORDON, "*"})
    assert set(rejected) == {
        f"n{index}"
        for index, is_cordoned in enumerate(cordons)
        if is_cordoned and index not in removed and not tolerates
    }


def test_verdicts_outlive_a_change_of_the_node() -> None:
    harness = PluginHarness(NodeUnschedulable, nodes=[make_node(unschedulable=True)])
    nodes = harness.snapshot.nodes
    plugin = NodeUnschedulable(None, harness.handle)
    verdicts = plugin.filter_nodes(make_pod(), nodes, nodes.rows)
    harness.snapshot.add_node(make_node())
    assert verdicts is not None
    assert verdicts.codes.tolist() == [True]


def test_plugin_waits_for_nodes_and_tolerations() -> None:
    harness = PluginHarness(NodeUnschedulable)
    assert [registered.event for registered in harness.events()] == [
        ClusterEvent(EventResource.NODE, ActionType.ADD | ActionType.UPDATE_NODE_TAINT),
        ClusterEvent(EventResource.TARGET_POD, ActionType.UPDATE_POD_TOLERATION),
    ]


OPEN, CLOSED = make_node(), make_node(unschedulable=True)
CLOSED_AND_TAINTED = make_node(unschedulable=True, taints=["not-ready:NoExecute"])
OPEN_AND_TAINTED = make_node(taints=["not-ready:NoExecute"])


@pytest.mark.parametrize(
    ("event", "old", "new", "hint"),
    [
        # The cases of TestIsSchedulableAfterNodeChange.
        pytest.param(
            NODE_ADDED, None, CLOSED, QueueingHint.SKIP, id="cordoned node added"
        ),
        pytest.param(
            NODE_ADDED, None, OPEN, QueueingHint.QUEUE, id="schedulable node added"
        ),
        pytest.param(
            NODE_TAINTED,
            CLOSED,
            CLOSED_AND_TAINTED,
            QueueingHint.SKIP,
            id="cordoned node tainted",
        ),
        pytest.param(
            NODE_TAINTED,
            OPEN,
            OPEN_AND_TAINTED,
            QueueingHint.SKIP,
            id="schedulable node tainted",
        ),
        pytest.param(
            NODE_TAINTED, CLOSED, OPEN, QueueingHint.QUEUE, id="node uncordoned"
        ),
        pytest.param(NODE_TAINTED, OPEN, CLOSED, QueueingHint.SKIP, id="node cordoned"),
    ],
)
def test_node_wakes_the_pod_when_it_opens(
    event: ClusterEvent, old: Node | None, new: Node, hint: QueueingHint
) -> None:
    harness = PluginHarness(NodeUnschedulable)
    assert harness.hint(make_pod(), event, old, new) is hint


@pytest.mark.parametrize(
    ("changed", "hint"),
    [
        # The cases of TestIsSchedulableAfterPodTolerationChange.
        pytest.param(
            make_pod(name="other", tolerations=[CORDON]),
            QueueingHint.SKIP,
            id="another pod",
        ),
        pytest.param(
            make_pod(name="waiting", tolerations=[CORDON]),
            QueueingHint.QUEUE,
            id="this pod tolerates the cordon",
        ),
        pytest.param(
            make_pod(name="waiting", tolerations=["unrelated"]),
            QueueingHint.SKIP,
            id="this pod tolerates something else",
        ),
    ],
)
def test_toleration_wakes_the_pod_if_it_covers_the_cordon(
    changed: Pod, hint: QueueingHint
) -> None:
    pod = make_pod(name="waiting")
    harness = PluginHarness(NodeUnschedulable)
    assert harness.hint(pod, TOLERATION_ADDED, pod, changed) is hint


def test_pods_are_told_apart_by_tolerating_the_cordon_alone() -> None:
    plugin = NodeUnschedulable(None, PluginHarness(NodeUnschedulable).handle)
    assert plugin.sign_pod(make_pod(tolerations=["x"])) == plugin.sign_pod(make_pod())
    assert plugin.sign_pod(make_pod(tolerations=["*"])) != plugin.sign_pod(make_pod())


def test_arguments_are_refused() -> None:
    with pytest.raises(ConfigErrors, match="'NodeUnschedulable' takes no arguments"):
        PluginHarness(NodeUnschedulable, args={"colour": "red"})
