"""The queueing hints of PodTopologySpread; cases of upstream's plugin_test.go."""

import pytest

from quaymaster import ActionType, ClusterEvent, EventResource, Node, Pod, QueueingHint
from quaymaster.objects import LabelSelector, LabelSelectorRequirement
from quaymaster.testing import (
    PluginHarness,
    make_node,
    make_pod,
    make_spread_constraint,
)
from quaymaster_pod_topology_spread import PodTopologySpread

ZONE = "topology.kubernetes.io/zone"
APP = {"app": "web"}
QUEUE, SKIP = QueueingHint.QUEUE, QueueingHint.SKIP

POD = make_pod(
    name="rejected",
    labels=APP,
    spread=[make_spread_constraint(selector=APP, node_taints_policy="Honor")],
)


def other(
    *,
    labels: dict[str, str] | None = None,
    node: str | None = "a",
    namespace: str = "default",
    nominated: str = "",
) -> Pod:
    return make_pod(
        name="other",
        node=node,
        labels=APP if labels is None else labels,
        namespace=namespace,
        nominated_node=nominated,
    )


def test_events_are_those_that_upstream_registers() -> None:
    events = [item.event for item in PluginHarness(PodTopologySpread).events()]
    assert events == [
        ClusterEvent(
            EventResource.ASSIGNED_POD,
            ActionType.ADD | ActionType.UPDATE_POD_LABEL | ActionType.DELETE,
        ),
        ClusterEvent(
            EventResource.TARGET_POD,
            ActionType.UPDATE_POD_TOLERATION | ActionType.UPDATE_POD_LABEL,
        ),
        ClusterEvent(
            EventResource.NODE,
            ActionType.ADD
            | ActionType.DELETE
            | ActionType.UPDATE_NODE_LABEL
            | ActionType.UPDATE_NODE_TAINT,
        ),
    ]


@pytest.mark.parametrize(
    ("action", "old", "new", "expected"),
    [
        pytest.param(ActionType.ADD, None, other(), QUEUE, id="matching pod"),
        pytest.param(
            ActionType.ADD, None, other(labels={}), SKIP, id="pod that does not match"
        ),
        pytest.param(
            ActionType.ADD,
            None,
            other(namespace="other"),
            SKIP,
            id="pod of another namespace",
        ),
        pytest.param(ActionType.ADD, None, other(node=None), SKIP, id="pod on no node"),
        pytest.param(
            ActionType.ADD,
            None,
            other(node=None, nominated="a"),
            QUEUE,
            id="nominated pod",
        ),
        pytest.param(ActionType.DELETE, other(), None, QUEUE, id="matching pod gone"),
        pytest.param(
            ActionType.DELETE, other(labels={}), None, SKIP, id="another pod gone"
        ),
        pytest.param(
            ActionType.UPDATE_POD_LABEL,
            other(labels={}),
            other(),
            QUEUE,
            id="pod that matches now",
        ),
        pytest.param(
            ActionType.UPDATE_POD_LABEL,
            other(),
            other(labels={}),
            QUEUE,
            id="pod that matches no more",
        ),
        pytest.param(
            ActionType.UPDATE_POD_LABEL,
            other(),
            other(labels={**APP, "more": "x"}),
            SKIP,
            id="pod that matches still",
        ),
        pytest.param(
            ActionType.UPDATE_POD_LABEL, other(), other(), SKIP, id="same labels"
        ),
    ],
)
def test_hint_after_a_pod_changed(
    action: ActionType, old: Pod | None, new: Pod | None, expected: QueueingHint
) -> None:
    harness = PluginHarness(PodTopologySpread)
    event = ClusterEvent(EventResource.ASSIGNED_POD, action)
    assert harness.hint(POD, event, old, new) is expected


@pytest.mark.parametrize(
    ("policy", "expected"), [("Honor", QUEUE), ("Ignore", SKIP), (None, SKIP)]
)
def test_new_toleration_of_the_pod_helps_if_taints_are_honoured(
    policy: str | None, expected: QueueingHint
) -> None:
    constraint = make_spread_constraint(selector=APP, node_taints_policy=policy)
    before = make_pod(labels=APP, spread=[constraint])
    after = make_pod(labels=APP, spread=[constraint], tolerations=["x"])
    event = ClusterEvent(
        EventResource.UNSCHEDULABLE_POD, ActionType.UPDATE_POD_TOLERATION
    )
    harness = PluginHarness(PodTopologySpread)
    assert harness.hint(after, event, before, after) is expected


def zone(name: str | None, *taints: str) -> Node:
    return make_node(name="n", zone=name, taints=taints)


@pytest.mark.parametrize(
    ("action", "old", "new", "expected"),
    [
        pytest.param(ActionType.ADD, None, zone("east"), QUEUE, id="new with key"),
        pytest.param(ActionType.ADD, None, zone(None), SKIP, id="new without key"),
        pytest.param(ActionType.DELETE, zone("east"), None, QUEUE, id="gone with key"),
        pytest.param(ActionType.DELETE, zone(None), None, SKIP, id="gone without key"),
        pytest.param(
            ActionType.UPDATE_NODE_LABEL, zone(None), zone("east"), QUEUE, id="gets key"
        ),
        pytest.param(
            ActionType.UPDATE_NODE_LABEL,
            zone("east"),
            zone(None),
            QUEUE,
            id="loses key",
        ),
        pytest.param(
            ActionType.UPDATE_NODE_LABEL,
            zone("east"),
            zone("west"),
            QUEUE,
            id="another value",
        ),
        pytest.param(
            ActionType.UPDATE_NODE_LABEL,
            zone("east"),
            zone("east"),
            SKIP,
            id="other labels",
        ),
        pytest.param(
            ActionType.UPDATE_NODE_TAINT,
            zone("east", "x:NoSchedule"),
            zone("east"),
            QUEUE,
            id="another taint",
        ),
        pytest.param(
            ActionType.UPDATE_NODE_TAINT,
            zone(None, "x:NoSchedule"),
            zone(None),
            SKIP,
            id="another taint without key",
        ),
    ],
)
def test_hint_after_a_node_changed(
    action: ActionType, old: Node | None, new: Node | None, expected: QueueingHint
) -> None:
    harness = PluginHarness(PodTopologySpread)
    event = ClusterEvent(EventResource.NODE, action)
    assert harness.hint(POD, event, old, new) is expected


def keys_of(harness: PluginHarness, pod: Pod) -> set[object] | None:
    index = harness.events()[0].index
    assert index is not None
    keys = index.pod_keys(pod)
    return None if keys is None else set(keys)


def keys_of_arrival(harness: PluginHarness, arrived: Pod) -> set[object]:
    index = harness.events()[0].index
    assert index is not None
    return set(index.event_keys(None, arrived) or ())


def expression(key: str, operator: str, *values: str) -> LabelSelector:
    return LabelSelector(
        match_expressions=(
            LabelSelectorRequirement(key=key, operator=operator, values=values),
        )
    )


@pytest.mark.parametrize(
    "selector",
    [
        pytest.param(LabelSelector(match_labels=APP), id="one label"),
        pytest.param(
            LabelSelector(match_labels={**APP, "tier": "front"}), id="two labels"
        ),
        pytest.param(expression("app", "In", "web", "db"), id="either label"),
        pytest.param(expression("tier", "DoesNotExist"), id="no label"),
        pytest.param(LabelSelector(), id="everything"),
        pytest.param(None, id="nothing"),
    ],
)
@pytest.mark.parametrize(
    "labels", [{}, APP, {"app": "db"}, {**APP, "tier": "front"}], ids=str
)
@pytest.mark.parametrize("namespace", ["default", "other"])
def test_the_index_finds_whom_the_hint_wakes(
    selector: LabelSelector | None, labels: dict[str, str], namespace: str
) -> None:
    harness = PluginHarness(PodTopologySpread)
    waiting = make_pod(
        name="rejected", spread=[make_spread_constraint(selector=selector)]
    )
    arrived = other(labels=labels, namespace=namespace)
    event = ClusterEvent(EventResource.ASSIGNED_POD, ActionType.ADD)
    if harness.hint(waiting, event, None, arrived) is QUEUE:
        keys = keys_of(harness, waiting)
        assert keys is not None
        assert keys & keys_of_arrival(harness, arrived)


def test_pods_of_other_namespaces_and_labels_are_not_looked_for() -> None:
    harness = PluginHarness(PodTopologySpread)
    keys = keys_of(harness, POD)
    assert keys is not None
    for stranger in (other(namespace="other"), other(labels={"app": "db"})):
        assert not keys & keys_of_arrival(harness, stranger)


def test_pods_with_hard_default_constraints_are_found_by_no_index() -> None:
    args = {
        "defaultingType": "List",
        "defaultConstraints": [
            {"maxSkew": 1, "topologyKey": ZONE, "whenUnsatisfiable": "DoNotSchedule"}
        ],
    }
    harness = PluginHarness(PodTopologySpread, args=args)
    assert keys_of(harness, make_pod(name="rejected")) is None
    assert keys_of(harness, POD) is not None
