"""Handles pods whose attempt, or whose binding, failed.

Mirrors ``handleSchedulingFailure`` and ``handleBindingCycleError`` (Kubernetes v1.36,
``pkg/scheduler/schedule_one.go``).
"""

import enum
from collections import Counter
from collections.abc import Callable, Iterable
from typing import Final, Protocol

import attrs

from quaymaster._api.objects import Pod, PodCondition, Time
from quaymaster._api.objects.pod import FINISHED_PHASES
from quaymaster._core.contract.clock import Clock
from quaymaster._core.contract.cluster import (
    POD_SCHEDULED,
    EventNote,
    PodStatusPatch,
)
from quaymaster._core.contract.results import NominatingInfo, NominatingMode
from quaymaster._core.contract.status import Code, Status
from quaymaster._core.cycle.decisions import FitError
from quaymaster._core.cycle.diagnosis import Diagnosis
from quaymaster._core.queue.events import ASSIGNED_POD_DELETE
from quaymaster._core.queue.nominator import PodLookup
from quaymaster._core.queue.queued_pod import QueuedPod
from quaymaster._core.queue.scheduling_queue import SchedulingQueue
from quaymaster._core.state.cache import Cache

__all__ = [
    "Failure",
    "FailureHandler",
    "FailureKind",
    "FailureListener",
    "failure_of",
]

_MAX_NOTE_LENGTH = 1024  # what the API server takes; upstream cuts there, too
_NO_REASON = "0/1 nodes are available:"
_CLEAR_NOMINATION = NominatingInfo("", NominatingMode.OVERRIDE)


class FailureKind(enum.Enum):
    """The kinds of failures that end an attempt."""

    REJECTED = "rejected"
    """Plugins rejected the pod."""

    ERROR = "error"
    """An error occurred."""

    NO_NODES = "no nodes"
    """The cluster has no nodes: reported as a rejection, retried like an error."""


@attrs.frozen(kw_only=True)
class Failure:
    """The failure of an attempt.

    Attributes:
        kind: What kind of failure it is.
        message: The message of the pod's condition and event.
        unschedulable_plugins: The plugins that rejected the pod, pending ones included.
        pending_plugins: Those of them that returned Pending.
        nominating: What happens to the pod's nomination; None leaves it.
        reasons: Each reason for which nodes were rejected once, if the message has
            several.
        diagnosis: The verdict about each node, or None if no node was filtered.
    """

    kind: FailureKind
    message: str
    unschedulable_plugins: frozenset[str] = frozenset()
    pending_plugins: frozenset[str] = frozenset()
    nominating: NominatingInfo | None = _CLEAR_NOMINATION
    reasons: tuple[str, ...] = ()
    diagnosis: Diagnosis | None = attrs.field(default=None, eq=False, repr=False)

    @classmethod
    def on_node(cls, status: Status) -> "Failure":
        """Make the failure of a pod whose node Reserve or Permit refused at once."""
        if not status.is_rejected:
            return cls(kind=FailureKind.ERROR, message=status.message)
        plugins = frozenset({status.plugin} - {""})
        pending = status.code is Code.PENDING
        return cls(
            kind=FailureKind.REJECTED,
            message=_unfit_message(status),
            unschedulable_plugins=plugins,
            pending_plugins=plugins if pending else frozenset(),
            reasons=status.reasons,
        )

    @classmethod
    def on_permit(cls, status: Status) -> "Failure":
        """Make the failure of a pod that was rejected, or timed out, on Permit."""
        if not status.is_rejected:
            return cls(kind=FailureKind.ERROR, message=status.message)
        return cls(
            kind=FailureKind.REJECTED,
            message=_unfit_message(status),
            unschedulable_plugins=frozenset({status.plugin}),
            reasons=status.reasons,
        )

    @classmethod
    def on_binding(cls, status: Status) -> "Failure":
        """Make the failure of a pod for which PreBind or Bind failed.

        No known event can resolve such a failure. So even a rejection names no plugin,
        and the pod is retried as after an error.
        """
        kind = FailureKind.REJECTED if status.is_rejected else FailureKind.ERROR
        return cls(kind=kind, message=status.message)

    @property
    def reason(self) -> str:
        """The reason in the pod's condition."""
        if self.kind is _ERROR:
            return "SchedulerError"
        return "Unschedulable"

    def nominated_node(self, pod: Pod) -> str:
        """Return the node that the pod is nominated to afterwards, or empty."""
        nominating = self.nominating
        if nominating is None or nominating.mode is _NOOP:
            return pod.status.nominated_node_name
        return nominating.node_name


# Constants, since Python 3.11 reads members of enumerations slowly: see `post_filter`.
_ERROR: Final = FailureKind.ERROR
_NOOP: Final = NominatingMode.NOOP


class FailureListener(Protocol):
    """Is called with each attempt that failed, before its pod is requeued."""

    def failed(self, queued: QueuedPod, failure: Failure, /) -> None: ...


class FailureHandler:
    """Requeues failed pods, and reports the reason to the cluster.

    Args:
        clock: The clock.
        queue: The queue that gets the pods again.
        cache: The cache, which forgets pods that lose their node.
        lookup: The informers' pods.
        patch_status: Sends a patch of a pod's status to the cluster.
        record: Writes an Event.
        on_failure: Called with each pod that is requeued, and with the failure.
        listeners: Called with each attempt that failed, in this order.
    """

    def __init__(
        self,
        *,
        clock: Clock,
        queue: SchedulingQueue,
        cache: Cache,
        lookup: PodLookup,
        patch_status: Callable[[Pod, PodStatusPatch], None],
        record: Callable[[EventNote], None],
        on_failure: Callable[[Pod, Failure], None] | None = None,
        listeners: Iterable[FailureListener] = (),
    ) -> None:
        self._clock = clock
        self._queue = queue
        self._cache = cache
        self._lookup = lookup
        self._patch_status = patch_status
        self._record = record
        self._on_failure = on_failure
        self._listeners = tuple(listeners)

    def attempt_failed(
        self, queued: QueuedPod, failure: Failure, *, was_nominated: bool = False
    ) -> None:
        """Requeue a pod in flight that got no node, if it still needs one.

        Args:
            queued: The record that was popped.
            failure: How it failed.
            was_nominated: Whether the attempt has nominated the pod; the informers may
                not have received that yet.
        """
        for listener in self._listeners:
            listener.failed(queued, failure)
        queued.unschedulable_plugins = failure.unschedulable_plugins
        queued.pending_plugins = failure.pending_plugins
        queued.gating_plugin = ""
        pod = queued.pod
        stored = self._lookup(queued.key)
        if stored is None or stored.node_name or stored.status.phase in FINISHED_PHASES:
            # The pod is deleted or bound. Upstream still reports the failure, but a
            # condition that contradicts the binding would only mislead.
            self._queue.done(pod.uid)
            self._queue.nominator.delete(pod)
        # Not by the properties of the pod: Python 3.11 calls a property slowly.
        elif stored.metadata.uid != pod.metadata.uid:
            self._queue.done(pod.uid)
        else:
            # The pod may have changed during the attempt: the next one needs its newest
            # version, as in ``handleSchedulingFailure``.
            queued.pod = stored
            self._queue.add_unschedulable(queued)
            self._queue.nominator.add(stored, failure.nominating)
            self._report(stored, failure, was_nominated)

    def refused(self, queued: QueuedPod, assumed: Pod, failure: Failure) -> None:
        """Forget an assumed pod that Reserve or Permit rejected, and requeue it.

        Args:
            queued: The record that was popped.
            assumed: The pod with the node that it was assumed on.
            failure: How it failed.
        """
        self._cache.forget(assumed)
        self.attempt_failed(queued, failure)

    def binding_failed(
        self,
        queued: QueuedPod,
        assumed: Pod,
        failure: Failure,
        *,
        was_nominated: bool = False,
    ) -> None:
        """Forget a pod whose binding failed, report the event, and requeue the pod.

        The freed resources are an event. After an error, the pod itself may get this
        event too. After a rejection it must not, or it would be retried without end.

        Args:
            queued: The record that was popped.
            assumed: The pod with the node that it was assumed on.
            failure: How it failed.
            was_nominated: Whether the nomination was written to the cluster.
        """
        forgotten = self._cache.forget(assumed)
        is_error = failure.kind is FailureKind.ERROR
        if forgotten and is_error:
            self._queue.move_all(ASSIGNED_POD_DELETE, assumed, None)
        self.attempt_failed(queued, failure, was_nominated=was_nominated)
        if forgotten and not is_error:
            self._queue.move_all(
                ASSIGNED_POD_DELETE,
                assumed,
                None,
                pre_check=lambda pod: pod.uid != assumed.uid,
            )

    def _report(self, pod: Pod, failure: Failure, was_nominated: bool) -> None:
        message = failure.message
        if self._on_failure is not None:
            self._on_failure(pod, failure)
        self._record(
            EventNote(
                regarding=pod,
                type="Warning",
                reason="FailedScheduling",
                action="Scheduling",
                note=message if len(message) <= _MAX_NOTE_LENGTH else _cut(message),
                reporter=pod.spec.scheduler_name,
            )
        )
        condition = self._changed_condition(pod, failure)
        nomination = _changed_nomination(pod, failure.nominating, was_nominated)
        if condition is not None or nomination is not None:
            patch = PodStatusPatch(condition=condition, nominated_node_name=nomination)
            self._patch_status(pod, patch)

    def _changed_condition(self, pod: Pod, failure: Failure) -> PodCondition | None:
        """Return the pod's new condition, or None if it has not changed."""
        since, reason, message = None, failure.reason, failure.message
        for condition in pod.status.conditions:
            if condition.type == POD_SCHEDULED and condition.status == "False":
                if condition.message == message and condition.reason == reason:
                    return None
                since = condition.last_transition_time
        return PodCondition(
            type=POD_SCHEDULED,
            status="False",
            reason=reason,
            message=message,
            observed_generation=pod.metadata.generation,
            last_transition_time=Time(self._clock.now()) if since is None else since,
        )


def _changed_nomination(
    pod: Pod, nominating: NominatingInfo | None, was_nominated: bool
) -> str | None:
    if nominating is None or nominating.mode is _NOOP:
        return None
    is_same = nominating.node_name == pod.status.nominated_node_name
    if is_same and not was_nominated:
        return None
    return nominating.node_name


def _unfit_message(status: Status) -> str:
    """Return upstream's sentence for a pod that only had this one node."""
    counts = Counter(status.reasons)
    reasons = ", ".join(sorted(f"{count} {reason}" for reason, count in counts.items()))
    return f"0/1 nodes are available: {reasons}." if reasons else _NO_REASON


def _cut(message: str) -> str:
    suffix = " ..."
    return message[: _MAX_NOTE_LENGTH - len(suffix)] + suffix


def failure_of(unfit: FitError) -> Failure:
    """Return the failure of an attempt that found no node."""
    diagnosis, nominating = unfit.diagnosis, unfit.nominating
    if unfit.no_nodes:
        message = unfit.status.message
        return Failure(
            kind=FailureKind.NO_NODES, message=message, nominating=nominating
        )
    if diagnosis is None:
        message = unfit.status.message
        return Failure(kind=FailureKind.ERROR, message=message, nominating=nominating)
    message, reasons = diagnosis.message_and_reasons()
    return Failure(
        kind=FailureKind.REJECTED,
        message=message,
        reasons=reasons,
        unschedulable_plugins=diagnosis.unschedulable_plugins,
        pending_plugins=diagnosis.pending_plugins,
        nominating=nominating,
        diagnosis=diagnosis,
    )
