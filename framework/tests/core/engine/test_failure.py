"""Failed pods are requeued, and their conditions and events are written."""

from collections.abc import Callable

import attrs
import pytest
from msgspec.structs import replace

from quaymaster import (
    ClusterEventWithHint,
    NominatingInfo,
    NominatingMode,
    Pod,
    Snapshot,
    Status,
)
from quaymaster.cluster import EventNote, PodStatusPatch
from quaymaster.objects import PodCondition, Time
from quaymaster.scheduler import Failure, FailureKind, QueueName, VirtualClock
from quaymaster.testing import make_node, make_pod
from tests.kit.internals.engine import FailureHandler
from tests.kit.internals.queue import (
    ASSIGNED_POD_DELETE,
    Nominator,
    QueuedPod,
    QueueProfile,
    SchedulingQueue,
)
from tests.kit.internals.state import Cache

START = 1_767_225_600.0
MESSAGE = "0/1 nodes are available: 1 Insufficient cpu."


def rejection(nominating: NominatingInfo | None = None) -> Failure:
    return Failure(
        kind=FailureKind.REJECTED,
        message=MESSAGE,
        unschedulable_plugins=frozenset({"A"}),
        nominating=nominating,
    )


@attrs.define(eq=False)
class Rig:
    """A failure handler that records its writes to the cluster."""

    clock: VirtualClock = attrs.field(factory=lambda: VirtualClock(START))
    stored: dict[str, Pod] = attrs.field(factory=dict)
    notes: list[EventNote] = attrs.field(factory=list)
    patches: list[tuple[Pod, PodStatusPatch]] = attrs.field(factory=list)
    queue: SchedulingQueue = attrs.field(init=False)
    cache: Cache = attrs.field(init=False)
    handler: FailureHandler = attrs.field(init=False)

    def __attrs_post_init__(self) -> None:
        events = {"A": [ClusterEventWithHint(ASSIGNED_POD_DELETE)]}
        profile = QueueProfile(sort_key=lambda queued: queued.timestamp, events=events)
        self.queue = SchedulingQueue(
            clock=self.clock,
            profiles={"default-scheduler": profile},
            nominator=Nominator(self.stored.get),
        )
        self.cache = Cache(Snapshot())
        self.cache.add_node(make_node(name="n1"))
        self.handler = FailureHandler(
            clock=self.clock,
            queue=self.queue,
            cache=self.cache,
            lookup=self.stored.get,
            patch_status=lambda pod, patch: self.patches.append((pod, patch)),
            record=self.notes.append,
        )

    def pop(self, pod: Pod) -> QueuedPod:
        """Return the pod as it comes from the queue."""
        self.stored[pod.key] = pod
        self.queue.add(pod)
        queued = self.queue.pop()
        assert queued is not None
        return queued

    def assume(self, queued: QueuedPod) -> Pod:
        pod = replace(queued.pod, node_name="n1")
        self.cache.assume(pod)
        return pod

    def condition(self) -> PodCondition:
        """Return the condition of the only patch."""
        ((_, patch),) = self.patches
        assert patch.condition is not None
        return patch.condition


# Writes to the cluster


def test_rejected_pod_gets_a_condition_and_an_event() -> None:
    rig = Rig()
    pod = make_pod(name="p")
    pod = replace(pod, metadata=replace(pod.metadata, generation=7))
    rig.handler.attempt_failed(rig.pop(pod), rejection())
    condition = rig.condition()
    assert (condition.type, condition.status) == ("PodScheduled", "False")
    assert (condition.reason, condition.message) == ("Unschedulable", MESSAGE)
    assert condition.last_transition_time == START
    assert condition.observed_generation == 7
    (note,) = rig.notes
    assert (note.regarding, note.note) == (pod, MESSAGE)
    assert (note.type, note.reason, note.action) == (
        "Warning",
        "FailedScheduling",
        "Scheduling",
    )
    assert note.reporter == "default-scheduler"


@pytest.mark.parametrize(
    ("kind", "reason"),
    [
        (FailureKind.REJECTED, "Unschedulable"),
        (FailureKind.NO_NODES, "Unschedulable"),
        (FailureKind.ERROR, "SchedulerError"),
    ],
)
def test_condition_distinguishes_errors_from_rejections(
    kind: FailureKind, reason: str
) -> None:
    rig = Rig()
    rig.handler.attempt_failed(rig.pop(make_pod()), Failure(kind=kind, message="oh"))
    assert rig.condition().reason == reason


def test_equal_condition_is_not_written_again() -> None:
    rig = Rig()
    condition = PodCondition(
        type="PodScheduled", status="False", reason="Unschedulable", message=MESSAGE
    )
    rig.handler.attempt_failed(rig.pop(make_pod(conditions=[condition])), rejection())
    assert rig.patches == []
    assert len(rig.notes) == 1


@pytest.mark.parametrize(
    ("status", "since"), [("False", 5.0), ("True", START)], ids=["the same", "another"]
)
def test_transition_time_moves_only_with_the_status(status: str, since: float) -> None:
    rig = Rig()
    condition = PodCondition(
        type="PodScheduled",
        status=status,
        message="before",
        last_transition_time=Time(5.0),
    )
    rig.handler.attempt_failed(rig.pop(make_pod(conditions=[condition])), rejection())
    assert rig.condition().last_transition_time == since


def test_note_is_shortened_and_the_condition_is_not() -> None:
    rig = Rig()
    text = "x" * 2000
    failure = Failure(kind=FailureKind.ERROR, message=text)
    rig.handler.attempt_failed(rig.pop(make_pod()), failure)
    (note,) = rig.notes
    assert note.note == "x" * 1020 + " ..."
    assert rig.condition().message == text


@pytest.mark.parametrize(
    ("before", "nominating", "patched"),
    [
        pytest.param("", NominatingInfo("n1", NominatingMode.OVERRIDE), "n1", id="new"),
        pytest.param(
            "n1", NominatingInfo("", NominatingMode.OVERRIDE), "", id="cleared"
        ),
        pytest.param(
            "n1", NominatingInfo("n1", NominatingMode.OVERRIDE), None, id="same"
        ),
        pytest.param("n1", NominatingInfo(), None, id="noop"),
        pytest.param("n1", None, None, id="none"),
    ],
)
def test_nomination_is_written_if_it_changes(
    before: str, nominating: NominatingInfo | None, patched: str | None
) -> None:
    rig = Rig()
    queued = rig.pop(make_pod(nominated_node=before))
    rig.handler.attempt_failed(queued, rejection(nominating))
    ((_, patch),) = rig.patches
    assert patch.nominated_node_name == patched


# Where the pod goes


def test_failed_pod_comes_back_with_its_newest_object() -> None:
    rig = Rig()
    queued = rig.pop(make_pod(name="p"))
    queued.gating_plugin = "G"
    newest = rig.stored["default/p"] = make_pod(name="p", labels={"a": "b"})
    rig.handler.attempt_failed(queued, rejection())
    assert queued.queue is QueueName.UNSCHEDULABLE
    assert queued.pod is newest
    assert queued.unschedulable_plugins == {"A"}
    assert not queued.is_gated
    assert rig.queue.in_flight == []


@pytest.mark.parametrize("fate", ["gone", "bound", "finished", "recreated"])
def test_pod_that_needs_no_node_any_longer_is_dropped_without_a_write(
    fate: str,
) -> None:
    rig = Rig()
    pod = make_pod(name="p", nominated_node="n1")
    queued = rig.pop(pod)
    if fate == "gone":
        del rig.stored[pod.key]
    else:
        rig.stored[pod.key] = {
            "bound": replace(pod, node_name="n2"),
            "finished": make_pod(name="p", phase="Failed"),
            "recreated": make_pod(name="p", uid="other"),
        }[fate]
    rig.handler.attempt_failed(queued, rejection())
    assert len(rig.queue) == 0
    assert rig.queue.in_flight == []
    assert rig.patches == []
    assert rig.notes == []
    # The nomination of a recreated pod goes with the deletion of the old one.
    assert len(rig.queue.nominator.pods_on("n1")) == (fate == "recreated")


def test_rejected_pod_frees_its_place() -> None:
    rig = Rig()
    queued = rig.pop(make_pod(name="p"))
    assumed = rig.assume(queued)
    rig.handler.refused(queued, assumed, Failure.on_node(refusal()))
    assert len(rig.cache) == 0
    assert queued.queue is QueueName.UNSCHEDULABLE


@pytest.mark.parametrize(
    ("failure", "queue"),
    [
        pytest.param(rejection(), QueueName.UNSCHEDULABLE, id="rejection"),
        pytest.param(
            Failure(
                kind=FailureKind.ERROR,
                message="oh",
                unschedulable_plugins=frozenset({"A"}),
            ),
            QueueName.BACKOFF,
            id="error",
        ),
    ],
)
def test_place_that_a_failed_binding_frees_wakes_others_and_the_pod_after_an_error(
    failure: Failure, queue: QueueName
) -> None:
    rig = Rig()
    other = rig.pop(make_pod(name="other"))
    rig.handler.attempt_failed(other, rejection())
    queued = rig.pop(make_pod(name="p"))
    rig.handler.binding_failed(queued, rig.assume(queued), failure)
    assert other.queue is QueueName.BACKOFF
    assert queued.queue is queue


@pytest.mark.parametrize(
    "status",
    [Status.from_error("no answer"), Status.unschedulable("too late")],
    ids=["error", "rejection"],
)
def test_binding_that_a_watch_has_confirmed_frees_nothing_when_it_fails(
    status: Status,
) -> None:
    rig = Rig()
    other = rig.pop(make_pod(name="other"))
    rig.handler.attempt_failed(other, rejection())
    queued = rig.pop(make_pod(name="p"))
    assumed = rig.assume(queued)
    rig.cache.add_pod(assumed)
    rig.stored[assumed.key] = assumed
    rig.handler.binding_failed(queued, assumed, Failure.on_binding(status))
    assert len(rig.cache) == 1
    assert queued.queue is None
    assert other.queue is QueueName.UNSCHEDULABLE


# How statuses become failures


def refusal(*reasons: str) -> Status:
    return Status.unschedulable(*(reasons or ("no room",))).with_plugin("A")


def test_refusal_on_the_node_names_its_plugin() -> None:
    failure = Failure.on_node(refusal())
    assert failure.unschedulable_plugins == {"A"}
    assert failure.pending_plugins == frozenset()
    assert failure.message == "0/1 nodes are available: 1 no room."


def test_pending_on_the_node_is_also_a_rejection() -> None:
    failure = Failure.on_node(Status.pending("later").with_plugin("A"))
    assert failure.unschedulable_plugins == failure.pending_plugins == {"A"}


@pytest.mark.parametrize(
    ("reasons", "message"),
    [
        (("b", "a"), "0/1 nodes are available: 1 a, 1 b."),
        (("a", "a"), "0/1 nodes are available: 2 a."),
    ],
)
def test_reasons_are_counted_and_sorted(reasons: tuple[str, ...], message: str) -> None:
    assert Failure.on_permit(refusal(*reasons)).message == message


def test_rejection_while_waiting_on_permit_is_never_pending() -> None:
    failure = Failure.on_permit(Status.pending("later").with_plugin("A"))
    assert failure.unschedulable_plugins == {"A"}
    assert failure.pending_plugins == frozenset()


@pytest.mark.parametrize("make", [Failure.on_node, Failure.on_permit])
def test_errors_name_no_plugin(make: Callable[[Status], Failure]) -> None:
    failure = make(Status.from_error("oh").with_plugin("A"))
    assert failure.kind is FailureKind.ERROR
    assert failure.unschedulable_plugins == frozenset()


@pytest.mark.parametrize(
    ("status", "kind"),
    [
        (refusal(), FailureKind.REJECTED),
        (Status.from_error("oh"), FailureKind.ERROR),
    ],
    ids=["rejected", "error"],
)
def test_failed_binding_names_no_plugin(status: Status, kind: FailureKind) -> None:
    failure = Failure.on_binding(status)
    assert failure.kind is kind
    assert failure.unschedulable_plugins == frozenset()
    assert failure.message == status.message
