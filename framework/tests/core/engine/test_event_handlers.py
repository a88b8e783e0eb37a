"""From changes of the cluster to the cache and the queue."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, Final

import pytest
from msgspec.structs import replace

from quaymaster import (
    ActionType,
    ApiObject,
    ClusterEvent,
    ClusterEventWithHint,
    EventResource,
    Node,
    Pod,
    QueueingHint,
    Snapshot,
)
from quaymaster.config import Kubernetes
from quaymaster.objects import (
    ContainerExtendedResourceRequest,
    DeviceClass,
    Namespace,
    NodeCondition,
    ObjectMeta,
    PodCondition,
    PodExtendedResourceClaimStatus,
    PodResourceClaimStatus,
    PodSchedulingGate,
    Service,
    StorageClass,
    Time,
)
from quaymaster.scheduler import QueueName, VirtualClock
from quaymaster.testing import make_namespace, make_node, make_pod, make_service
from tests.kit.internals.engine import (
    ChangeHandler,
    EventHandlers,
    PodChanges,
    Progress,
    node_changes,
)
from tests.kit.internals.queue import (
    Nominator,
    QueuedPod,
    QueueProfile,
    SchedulingQueue,
)
from tests.kit.internals.registry import USUAL_KINDS
from tests.kit.internals.state import Cache
from tests.kit.resizes import make_exchange

_: type[ChangeHandler] = EventHandlers


class Rig:
    """Handlers with a cache and a queue, whose one plugin registers for all events."""

    def __init__(self, *resources: EventResource) -> None:
        self.heard: list[tuple[ApiObject | None, ApiObject | None]] = []
        self.waiting: set[str] = set()
        self.rejected: list[str] = []
        self.actions: list[ActionType] = []
        events = [
            ClusterEventWithHint(
                ClusterEvent(resource, action), partial(self._hint, action)
            )
            for resource in resources
            for action in (ActionType.ADD, ActionType.UPDATE, ActionType.DELETE)
        ]
        self.snapshot = Snapshot()
        self.cache = Cache(self.snapshot)
        clock = VirtualClock()
        self.queue = SchedulingQueue(
            clock=clock,
            profiles={
                "default-scheduler": QueueProfile(
                    sort_key=lambda queued: -queued.pod.priority, events={"A": events}
                )
            },
            nominator=Nominator(lambda _key: None),
        )
        self.handlers = EventHandlers(
            cache=self.cache,
            queue=self.queue,
            scheduler_names={"default-scheduler"},
            reject_waiting=self._reject,
            progress=Progress(clock),
        )
        self.cache.add_node(make_node(name="n1"))

    def _hint(
        self,
        action: ActionType,
        _pod: Pod,
        old: ApiObject | None,
        new: ApiObject | None,
    ) -> QueueingHint:
        self.heard.append((old, new))
        self.actions.append(action)
        return QueueingHint.SKIP

    def _reject(self, uid: str) -> bool:
        if uid not in self.waiting:
            return False
        self.rejected.append(uid)
        return True

    def add_listener(self, priority: int = 0) -> None:
        """Add a rejected pod; the hint calls for it are recorded."""
        self.queue.add(make_pod(name="listener", priority=priority))
        queued = self.queue.pop()
        assert queued is not None
        queued.unschedulable_plugins = frozenset({"A"})
        self.queue.add_unschedulable(queued)
        self.heard.clear()

    def pop(self) -> QueuedPod:
        queued = self.queue.pop()
        assert queued is not None
        return queued

    def pod(self, old: Pod | None, new: Pod | None, *, missed: bool = False) -> None:
        self.handlers.changed(Pod, old, new, missed=missed)

    def running(self) -> list[str]:
        info = self.snapshot.get("n1")
        assert info is not None
        return [pod.name for pod in info.pods.values()]


def newer(pod: Pod) -> Pod:
    return replace(pod, metadata=replace(pod.metadata, resource_version="2"))


def bound(pod: Pod) -> Pod:
    return replace(newer(pod), node_name="n1")


def finished(pod: Pod) -> Pod:
    return replace(newer(pod), status=replace(pod.status, phase="Succeeded"))


def deleting(pod: Pod) -> Pod:
    metadata = replace(newer(pod).metadata, deletion_timestamp=Time(1.0))
    return replace(pod, metadata=metadata)


# All kinds


@pytest.mark.parametrize(
    ("kind", "resource"),
    [
        (kind, resource)
        for kind in USUAL_KINDS
        for resource in EventResource
        if resource.value.rpartition("/")[2] == kind.kind
    ],
)
def test_hints_get_the_objects_that_the_change_has(
    kind: type[ApiObject], resource: EventResource
) -> None:
    """The types of old and new (`on_pod` and so on) are true at run time."""
    rig = Rig(resource)
    rig.add_listener()
    rig.actions.clear()
    place: dict[str, Any] = {"node_name": "n1"} if kind is Pod else {}
    old = kind(metadata=ObjectMeta(name="x", uid="x"), **place)
    new = replace(old, metadata=replace(old.metadata, labels={"a": "b"}))
    for before, after in ((None, old), (old, new), (new, None)):
        rig.handlers.changed(kind, before, after, missed=False)
    assert rig.heard == [(None, old), (old, new), (new, None)]
    assert rig.actions == [ActionType.ADD, ActionType.UPDATE, ActionType.DELETE]


# Pods


def test_pending_pod_is_queued_if_it_is_ours() -> None:
    rig = Rig()
    rig.pod(None, make_pod(name="ours"))
    rig.pod(None, make_pod(name="other", scheduler_name="other"))
    assert [queued.pod.name for queued in rig.queue] == ["ours"]


def test_pod_on_a_node_counts_there_whichever_scheduler_placed_it() -> None:
    rig = Rig(EventResource.POD)
    rig.add_listener()
    pod = make_pod(name="p", node="n1", scheduler_name="other")
    rig.pod(None, pod)
    assert rig.running() == ["p"]
    assert rig.heard == [(None, pod)]


def test_pod_bound_by_another_scheduler_leaves_the_queue() -> None:
    rig = Rig()
    pod = make_pod(name="p")
    rig.pod(None, pod)
    rig.pod(pod, bound(pod))
    assert len(rig.queue) == 0
    assert rig.running() == ["p"]


def test_pod_of_another_scheduler_counts_once_it_is_bound() -> None:
    rig = Rig()
    pod = make_pod(name="p", scheduler_name="other")
    rig.pod(None, pod)
    rig.pod(pod, newer(pod))
    rig.pod(pod, bound(pod))
    assert len(rig.queue) == 0
    assert rig.running() == ["p"]


def test_bound_pod_confirms_the_assumption() -> None:
    rig = Rig()
    pod = make_pod(name="p")
    rig.pod(None, pod)
    rig.cache.assume(replace(rig.pop().pod, node_name="n1"))
    rig.pod(pod, bound(pod))
    assert rig.running() == ["p"]
    assert not rig.cache.is_assumed(pod.uid)
    assert rig.queue.in_flight == [pod.uid]  # the scheduler still has it


def test_duplicate_update_does_not_queue_a_pod_twice() -> None:
    rig = Rig()
    pod = make_pod(name="p")
    rig.pod(None, pod)
    rig.queue.done(rig.pop().pod.uid)
    rig.pod(pod, pod)
    assert len(rig.queue) == 0


def test_update_of_an_assumed_pod_does_not_reach_the_queue() -> None:
    rig = Rig()
    pod = make_pod(name="p")
    rig.pod(None, pod)
    rig.cache.assume(replace(rig.pop().pod, node_name="n1"))
    rig.queue.done(pod.uid)
    rig.pod(pod, newer(pod))
    assert len(rig.queue) == 0
    assert rig.running() == ["p"]


@pytest.mark.parametrize("gone", [True, False], ids=["deleted", "being deleted"])
def test_deletion_of_an_assumed_pod_frees_its_place_at_once(gone: bool) -> None:
    rig = Rig(EventResource.POD)
    rig.add_listener()
    pod = make_pod(name="p")
    rig.pod(None, pod)
    assumed = replace(rig.pop().pod, node_name="n1")
    rig.cache.assume(assumed)
    rig.heard.clear()
    rig.pod(pod, None if gone else deleting(pod))
    assert rig.running() == []
    assert rig.heard == [(assumed, None)]


def test_deletion_of_a_pod_that_waits_on_permit_rejects_it() -> None:
    rig = Rig()
    pod = make_pod(name="p")
    rig.pod(None, pod)
    rig.cache.assume(replace(rig.pop().pod, node_name="n1"))
    rig.waiting.add(pod.uid)
    rig.pod(pod, None)
    assert rig.rejected == [pod.uid]
    assert rig.running() == ["p"]  # until its failure has been handled


@pytest.mark.parametrize(
    ("priority", "wakes"), [(5, True), (6, False)], ids=["no higher", "higher"]
)
@pytest.mark.parametrize("how", ["deleted", "nomination cleared"])
def test_lost_nomination_wakes_the_pods_that_it_kept_out(
    how: str, priority: int, wakes: bool
) -> None:
    rig = Rig(EventResource.POD)
    rig.add_listener(priority)
    pod = make_pod(name="p", priority=5, nominated_node="n1")
    rig.pod(None, pod)
    cleared = replace(newer(pod), status=replace(pod.status, nominated_node_name=""))
    rig.pod(pod, None if how == "deleted" else cleared)
    assert ((pod, None) in rig.heard) == wakes


def test_deleted_pod_leaves_queue_or_node() -> None:
    rig = Rig(EventResource.POD)
    pending, running = make_pod(name="p"), make_pod(name="r", node="n1")
    rig.pod(None, pending)
    rig.pod(None, running)
    rig.pod(pending, None)
    rig.add_listener()
    rig.pod(running, None)
    assert [queued.pod.name for queued in rig.queue] == ["listener"]
    assert rig.running() == []
    assert rig.heard == [(running, None)]


@pytest.mark.parametrize("node", ["", "n1"], ids=["pending", "running"])
def test_missed_deletion_cleans_up_whatever_the_last_object_was(
    node: str,
) -> None:
    rig = Rig(EventResource.POD)
    rig.add_listener()
    pod = make_pod(name="p", node=node)
    rig.cache.add_pod(bound(pod))
    rig.queue.add(pod)
    rig.pod(pod, None, missed=True)
    assert rig.running() == []
    assert "default/p" not in rig.queue
    assert rig.heard == [(pod, None)]


# Finished pods, which upstream's informer does not show


@pytest.mark.parametrize("node", [None, "n1"], ids=["pending", "running"])
def test_finished_pod_is_handled_like_a_deleted_one(node: str | None) -> None:
    rig = Rig(EventResource.POD)
    pod = make_pod(name="p", node=node)
    rig.pod(None, pod)
    rig.add_listener()
    rig.pod(pod, finished(pod))
    assert rig.running() == []
    assert "default/p" not in rig.queue
    assert rig.heard == ([(pod, None)] if node else [])
    rig.pod(finished(pod), None)
    assert rig.heard == ([(pod, None)] if node else [])


def test_pod_that_has_finished_before_it_is_seen_is_ignored() -> None:
    rig = Rig()
    rig.pod(None, finished(make_pod(name="p", node="n1")))
    rig.pod(None, finished(make_pod(name="q")))
    assert rig.running() == []
    assert len(rig.queue) == 0


@pytest.mark.parametrize("node", [None, "n1"], ids=["pending", "running"])
def test_pod_whose_end_comes_with_its_deletion_is_cleaned_up(node: str | None) -> None:
    rig = Rig()
    pod = make_pod(name="p", node=node)
    rig.pod(None, pod)
    rig.pod(finished(pod), None)
    assert rig.running() == []
    assert len(rig.queue) == 0


# Nodes


def test_node_is_cached_before_pods_are_woken_and_until_they_have_been() -> None:
    rig = Rig(EventResource.NODE)
    rig.add_listener()
    node = make_node(name="n2")
    rig.handlers.changed(Node, None, node)
    assert rig.snapshot.get("n2") is not None
    rig.handlers.changed(Node, node, None)
    assert rig.snapshot.get("n2") is None
    assert rig.heard == [(None, node), (node, None)]


def test_each_changed_property_of_a_node_is_an_event() -> None:
    rig = Rig(EventResource.NODE)
    rig.add_listener()
    old = make_node(name="n1")
    new = make_node(name="n1", labels={"disk": "ssd"}, capacity={"cpu": "8"})
    rig.handlers.changed(Node, old, new)
    rig.handlers.changed(Node, new, new)
    assert rig.heard == [(old, new), (old, new)]
    info = rig.snapshot.get("n1")
    assert info is not None
    assert info.allocatable.milli_cpu == 8000


# Everything else


@pytest.mark.parametrize("kind", [StorageClass, DeviceClass])
def test_other_kinds_are_events_if_a_plugin_registered_them(
    kind: type[ApiObject],
) -> None:
    registered = {
        StorageClass: EventResource.STORAGE_CLASS,
        DeviceClass: EventResource.DEVICE_CLASS,
    }
    rig = Rig(registered[kind])
    rig.add_listener()
    old, new = kind(), kind()
    rig.handlers.changed(kind, None, new)
    rig.handlers.changed(kind, old, new)
    rig.handlers.changed(kind, old, None)
    assert rig.heard == [(None, new), (old, new), (old, None)]


def test_kind_that_is_registered_by_a_wildcard_alone_is_not_followed() -> None:
    rig = Rig(EventResource.WILDCARD)
    rig.add_listener()
    rig.handlers.changed(StorageClass, None, StorageClass())
    assert rig.heard == []


@pytest.mark.parametrize(
    "obj", [make_namespace(), make_service()], ids=["namespace", "service"]
)
def test_kinds_that_no_plugin_can_register_are_no_events(
    obj: Namespace | Service,
) -> None:
    rig = Rig(EventResource.WILDCARD, EventResource.POD, EventResource.NODE)
    rig.add_listener()
    rig.handlers.changed(type(obj), None, obj)
    assert rig.heard == []


# Events of an update

CONDITION = NodeCondition(type="Ready", status="False", message="why")


def with_status(**fields: object) -> Callable[[Node], Node]:
    return lambda node: replace(node, status=replace(node.status, **fields))


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        pytest.param(make_node(), make_node(), [], id="nothing"),
        pytest.param(
            make_node(unschedulable=True),
            make_node(),
            [ActionType.UPDATE_NODE_TAINT],
            id="uncordoned",
        ),
        pytest.param(make_node(), make_node(unschedulable=True), [], id="cordoned"),
        pytest.param(
            make_node(capacity={"cpu": "4"}),
            make_node(capacity={"cpu": "4000m"}),
            [],
            id="the same amount in other words",
        ),
        pytest.param(
            with_status(conditions=(CONDITION,))(make_node()),
            with_status(conditions=(replace(CONDITION, message="else"),))(make_node()),
            [],
            id="another message of a condition",
        ),
        pytest.param(
            with_status(conditions=(CONDITION,))(make_node()),
            make_node(),
            [ActionType.UPDATE_NODE_CONDITION],
            id="another status of a condition",
        ),
        pytest.param(
            make_node(unschedulable=True),
            make_node(
                capacity={"cpu": "8"},
                labels={"a": "b"},
                taints=["a=b:NoSchedule"],
                ready=False,
                annotations={"a": "b"},
                declared_features=["a"],
            ),
            [
                ActionType.UPDATE_NODE_TAINT,
                ActionType.UPDATE_NODE_ALLOCATABLE,
                ActionType.UPDATE_NODE_LABEL,
                ActionType.UPDATE_NODE_TAINT,
                ActionType.UPDATE_NODE_CONDITION,
                ActionType.UPDATE_NODE_ANNOTATION,
                ActionType.UPDATE_NODE_DECLARED_FEATURE,
            ],
            id="everything",
        ),
    ],
)
def test_changes_of_a_node(
    before: Node, after: Node, expected: Sequence[ActionType]
) -> None:
    events = node_changes(before, after)
    assert [event.action for event in events] == expected
    assert {event.resource for event in events} <= {EventResource.NODE}


def with_claims(pod: Pod) -> Pod:
    claims = (PodResourceClaimStatus(name="gpu", resource_claim_name="gpu-1"),)
    return replace(pod, status=replace(pod.status, resource_claim_statuses=claims))


def rejected(pod: Pod, message: str) -> Pod:
    """Return the pod after a failed attempt."""
    condition = PodCondition(type="PodScheduled", status="False", message=message)
    return replace(pod, status=replace(pod.status, conditions=(condition,)))


def with_devices(pod: Pod) -> Pod:
    """Return the pod with the scheduler's claim for its extended resources."""
    mapping = ContainerExtendedResourceRequest(
        container_name="main", request_name="request-0", resource_name="gpus/any"
    )
    devices = PodExtendedResourceClaimStatus(
        resource_claim_name="gpu-1", request_mappings=(mapping,)
    )
    status = replace(pod.status, extended_resource_claim_status=devices)
    return replace(pod, status=status)


POD: Final = make_pod()


def cpu(amount: str) -> Mapping[str, str]:
    return {"cpu": amount}


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        pytest.param(make_pod(), make_pod(), [ActionType.UPDATE], id="nothing special"),
        pytest.param(
            make_pod(requests=cpu("1")),
            make_pod(requests=cpu("2")),
            [ActionType.UPDATE],
            id="scaled up",
        ),
        pytest.param(
            make_pod(requests=cpu("1")),
            make_pod(),
            [ActionType.UPDATE_POD_SCALE_DOWN],
            id="a request is gone",
        ),
        pytest.param(
            make_pod(scheduling_gates=["a", "b"]),
            make_pod(scheduling_gates=["b"]),
            [ActionType.UPDATE],
            id="one of two gates is gone",
        ),
        pytest.param(
            make_pod(requests=cpu("2"), scheduling_gates=["a"]),
            with_claims(
                make_pod(requests=cpu("1"), labels={"a": "b"}, tolerations=["a"])
            ),
            [
                ActionType.UPDATE_POD_LABEL,
                ActionType.UPDATE_POD_SCALE_DOWN,
                ActionType.UPDATE_POD_SCHEDULING_GATES_ELIMINATED,
                ActionType.UPDATE_POD_TOLERATION,
                ActionType.UPDATE_POD_GENERATED_RESOURCE_CLAIM,
            ],
            id="everything",
        ),
        pytest.param(
            make_pod(),
            with_devices(make_pod()),
            [ActionType.UPDATE_POD_GENERATED_RESOURCE_CLAIM],
            id="a claim for extended resources",
        ),
        pytest.param(
            rejected(POD, "0/1 nodes"),
            rejected(POD, "0/2 nodes"),
            [ActionType.UPDATE],
            id="the outcome of an attempt",
        ),
        pytest.param(
            rejected(POD, "0/1 nodes"),
            with_claims(rejected(POD, "0/2 nodes")),
            [ActionType.UPDATE_POD_GENERATED_RESOURCE_CLAIM],
            id="the outcome of an attempt, and a claim",
        ),
    ],
)
@pytest.mark.parametrize("node", ["", "n1"], ids=["pending", "running"])
def test_changes_of_a_pod(
    before: Pod, after: Pod, expected: Sequence[ActionType], node: str
) -> None:
    events = PodChanges(Kubernetes("1.36")).of(before, replace(after, node_name=node))
    resource = EventResource.ASSIGNED_POD if node else EventResource.UNSCHEDULABLE_POD
    assert [event.action for event in events] == expected
    assert {event.resource for event in events} == {resource}


@pytest.mark.parametrize(
    ("node", "resource"),
    [("", EventResource.TARGET_POD), ("n1", EventResource.ASSIGNED_POD)],
    ids=["pending", "running"],
)
@pytest.mark.parametrize(
    ("after", "expected"),
    [
        pytest.param(cpu("1"), ActionType.UPDATE, id="as much"),
        pytest.param(cpu("2"), ActionType.UPDATE_POD_SCALE_UP, id="more"),
        pytest.param(cpu("500m"), ActionType.UPDATE_POD_SCALE_DOWN, id="less"),
        pytest.param(
            {"cpu": "1", "memory": "1Gi"},
            ActionType.UPDATE_POD_SCALE_UP,
            id="another resource, too",
        ),
    ],
)
def test_kubernetes_1_37_has_an_event_for_a_pod_that_requests_more(
    after: Mapping[str, str], expected: ActionType, node: str, resource: EventResource
) -> None:
    changes = PodChanges(Kubernetes("1.37"))
    before = make_pod(requests=cpu("1"))
    [event] = changes.of(before, make_pod(requests=after, node=node))
    assert (event.resource, event.action) == (resource, expected)


@pytest.mark.parametrize(
    ("version", "expected"),
    [("1.36", ActionType.UPDATE_POD_SCALE_DOWN), ("1.37", ActionType.UPDATE)],
)
def test_since_1_37_a_resize_counts_by_its_totals(
    version: str, expected: ActionType
) -> None:
    changes = PodChanges(Kubernetes(version))
    [event] = changes.of(make_exchange(done=False), make_exchange(done=True))
    assert event.action == expected


def test_gated_pod_whose_gates_go_is_queued() -> None:
    rig = Rig(EventResource.POD)
    pod = make_pod(name="p")
    gated = replace(
        pod, spec=replace(pod.spec, scheduling_gates=(PodSchedulingGate(name="a"),))
    )
    rig.pod(None, gated)
    rig.pod(gated, newer(pod))
    queued = rig.queue.get("default/p")
    assert queued is not None
    assert queued.queue is QueueName.ACTIVE
