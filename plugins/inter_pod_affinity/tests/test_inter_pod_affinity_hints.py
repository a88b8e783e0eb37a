"""The queueing hints of InterPodAffinity; cases of upstream's plugin_test.go."""

import msgspec
import pytest

from quaymaster import ActionType, ClusterEvent, EventResource, Node, Pod, QueueingHint
from quaymaster.config import Kubernetes
from quaymaster.objects import LabelSelector, LabelSelectorRequirement
from quaymaster.testing import PluginHarness, make_affinity_term, make_node, make_pod
from quaymaster_inter_pod_affinity import InterPodAffinity

ZONE = "topology.kubernetes.io/zone"
QUEUE, SKIP = QueueingHint.QUEUE, QueueingHint.SKIP


WITH_AFFINITY = make_pod(
    name="rejected",
    labels={"app": "self"},
    pod_affinity=[make_affinity_term(selector={"app": "web"}, topology_key=ZONE)],
)
WITH_ANTI_AFFINITY = make_pod(
    name="rejected",
    labels={"app": "self"},
    pod_anti_affinity=[make_affinity_term(selector={"app": "web"}, topology_key=ZONE)],
)
AVERSE = make_pod(
    name="averse",
    node="a",
    pod_anti_affinity=[make_affinity_term(selector={"app": "self"})],
)
BROKEN = make_pod(
    name="broken",
    node="a",
    pod_anti_affinity=[
        make_affinity_term(
            selector=LabelSelector(
                match_expressions=(LabelSelectorRequirement(key="x", operator="?"),)
            )
        )
    ],
)


def other(app: str, *, node: str | None = "a", nominated: str = "") -> Pod:
    return make_pod(
        name="other", node=node, labels={"app": app}, nominated_node=nominated
    )


def test_events_are_those_that_upstream_registers() -> None:
    events = [item.event for item in PluginHarness(InterPodAffinity).events()]
    assert events == [
        ClusterEvent(
            EventResource.ASSIGNED_POD,
            ActionType.ADD | ActionType.UPDATE_POD_LABEL | ActionType.DELETE,
        ),
        ClusterEvent(EventResource.TARGET_POD, ActionType.UPDATE_POD_LABEL),
        ClusterEvent(EventResource.NODE, ActionType.ADD | ActionType.UPDATE_NODE_LABEL),
    ]


ADD, DELETE, LABEL = ActionType.ADD, ActionType.DELETE, ActionType.UPDATE_POD_LABEL


@pytest.mark.parametrize(
    ("pod", "action", "old", "new", "expected"),
    [
        pytest.param(WITH_AFFINITY, ADD, None, other("web"), QUEUE, id="wanted"),
        pytest.param(WITH_AFFINITY, ADD, None, other("db"), SKIP, id="another"),
        pytest.param(
            WITH_AFFINITY, ADD, None, other("web", node=None), SKIP, id="on no node"
        ),
        pytest.param(
            WITH_AFFINITY,
            ADD,
            None,
            other("web", node=None, nominated="a"),
            QUEUE,
            id="nominated",
        ),
        pytest.param(
            WITH_ANTI_AFFINITY, ADD, None, other("web"), SKIP, id="unwanted comes"
        ),
        pytest.param(
            WITH_ANTI_AFFINITY, DELETE, other("web"), None, QUEUE, id="unwanted goes"
        ),
        pytest.param(
            WITH_ANTI_AFFINITY,
            DELETE,
            other("web", node=None),
            None,
            SKIP,
            id="unwanted goes from no node",
        ),
        pytest.param(
            WITH_ANTI_AFFINITY, DELETE, other("db"), None, SKIP, id="another goes"
        ),
        pytest.param(WITH_AFFINITY, DELETE, other("web"), None, SKIP, id="wanted goes"),
        pytest.param(WITH_AFFINITY, DELETE, AVERSE, None, QUEUE, id="averse one goes"),
        pytest.param(
            WITH_AFFINITY, LABEL, other("db"), other("web"), QUEUE, id="becomes wanted"
        ),
        pytest.param(
            WITH_AFFINITY, LABEL, other("web"), other("db"), SKIP, id="wanted no more"
        ),
        pytest.param(
            WITH_ANTI_AFFINITY,
            LABEL,
            other("web"),
            other("db"),
            QUEUE,
            id="unwanted no more",
        ),
        pytest.param(
            WITH_ANTI_AFFINITY,
            LABEL,
            other("db"),
            other("web"),
            SKIP,
            id="becomes unwanted",
        ),
        pytest.param(
            WITH_AFFINITY, LABEL, WITH_AFFINITY, WITH_AFFINITY, QUEUE, id="itself"
        ),
        pytest.param(WITH_AFFINITY, DELETE, BROKEN, None, QUEUE, id="broken goes"),
        pytest.param(BROKEN, ADD, None, other("x"), QUEUE, id="broken itself"),
    ],
)
def test_hint_after_a_pod_changed(
    pod: Pod,
    action: ActionType,
    old: Pod | None,
    new: Pod | None,
    expected: QueueingHint,
) -> None:
    assert hint(pod, ClusterEvent(EventResource.ASSIGNED_POD, action), old, new) is (
        expected
    )


def shunning(*apps: str) -> Pod:
    """Make a pod with one anti-affinity term for each of several apps."""
    terms = [make_affinity_term(selector={"app": app}) for app in apps]
    return make_pod(name="p", labels={"app": "web"}, pod_anti_affinity=terms)


@pytest.mark.parametrize(
    ("action", "old", "new"),
    [
        pytest.param(DELETE, other("web"), None, id="one of them goes"),
        pytest.param(LABEL, other("web"), other("x"), id="one of them changes"),
    ],
)
@pytest.mark.parametrize(("version", "expected"), [("1.36", SKIP), ("1.37", QUEUE)])
def test_a_pod_that_only_one_of_several_terms_shuns_helps_since_1_37(
    version: str, expected: QueueingHint, action: ActionType, old: Pod, new: Pod | None
) -> None:
    event = ClusterEvent(EventResource.ASSIGNED_POD, action)
    assert hint(shunning("web", "db"), event, old, new, version) is expected


@pytest.mark.parametrize(("version", "expected"), [("1.36", SKIP), ("1.37", QUEUE)])
def test_a_pod_helps_by_going_that_shuns_others_as_well_since_1_37(
    version: str, expected: QueueingHint
) -> None:
    event = ClusterEvent(EventResource.ASSIGNED_POD, DELETE)
    averse = msgspec.structs.replace(shunning("web", "db"), node_name="a")
    waiting = make_pod(name="q", labels={"app": "web"})
    assert hint(waiting, event, averse, None, version) is expected


def hint(
    pod: Pod,
    event: ClusterEvent,
    old: Pod | Node | None,
    new: Pod | Node | None,
    version: str = "1.36",
) -> QueueingHint:
    """Call the hint; as in the queue, a failed hint counts as QUEUE."""
    harness = PluginHarness(InterPodAffinity, kubernetes=Kubernetes(version))
    try:
        return harness.hint(pod, event, old, new)
    except Exception:
        return QUEUE


def zone(name: str | None) -> Node:
    return make_node(name="n", zone=name)


@pytest.mark.parametrize(
    ("pod", "old", "new", "expected"),
    [
        pytest.param(WITH_AFFINITY, None, zone("east"), QUEUE, id="new with key"),
        pytest.param(WITH_AFFINITY, None, zone(None), SKIP, id="new without key"),
        pytest.param(WITH_AFFINITY, zone(None), zone("east"), QUEUE, id="gets key"),
        pytest.param(WITH_AFFINITY, zone("east"), zone(None), SKIP, id="loses key"),
        pytest.param(WITH_AFFINITY, zone("east"), zone("west"), QUEUE, id="moves"),
        pytest.param(WITH_AFFINITY, zone("east"), zone("east"), SKIP, id="stays"),
        pytest.param(WITH_ANTI_AFFINITY, None, zone(None), QUEUE, id="anti: new"),
        pytest.param(
            WITH_ANTI_AFFINITY, zone("east"), zone(None), QUEUE, id="anti: loses key"
        ),
        pytest.param(
            WITH_ANTI_AFFINITY, zone(None), zone("east"), SKIP, id="anti: gets key"
        ),
        pytest.param(
            WITH_ANTI_AFFINITY, zone("east"), zone("west"), QUEUE, id="anti: moves"
        ),
        pytest.param(BROKEN, None, zone("east"), QUEUE, id="broken terms"),
    ],
)
def test_hint_after_a_node_changed(
    pod: Pod, old: Node | None, new: Node, expected: QueueingHint
) -> None:
    action = ActionType.ADD if old is None else ActionType.UPDATE_NODE_LABEL
    assert hint(pod, ClusterEvent(EventResource.NODE, action), old, new) is expected
