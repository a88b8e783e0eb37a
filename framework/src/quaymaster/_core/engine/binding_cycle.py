"""The binding cycle: assumes, reserves, permits and binds a pod that has a node.

Mirrors ``prepareForBindingCycle`` and ``bindingCycle`` (Kubernetes v1.36,
``pkg/scheduler/schedule_one.go``). PreBind and Bind may wait for a server, so they run
in the executor. Everything else runs on the engine's thread.
"""

import logging
from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from typing import Final, TypeAlias

import msgspec

from quaymaster._api.objects import Pod
from quaymaster._core.binding.executor import InlineExecutor
from quaymaster._core.binding.stations import BindingStations, PausedPreBind
from quaymaster._core.contract.cluster import (
    ApiError,
    EventNote,
    NotFoundError,
    PodStatusPatch,
    UnknownOutcomeError,
)
from quaymaster._core.contract.cycle_state import CycleState
from quaymaster._core.contract.status import Status
from quaymaster._core.cycle.decisions import Decision
from quaymaster._core.engine.failure import Failure, FailureHandler, FailureKind
from quaymaster._core.engine.measured_attempts import MeasuredAttempts
from quaymaster._core.engine.pod_patches import PodPatches
from quaymaster._core.engine.profile_runner import ProfileRunner
from quaymaster._core.engine.progress import Progress
from quaymaster._core.queue.queued_pod import QueuedPod
from quaymaster._core.queue.scheduling_queue import SchedulingQueue
from quaymaster._core.state.cache import AssumeError

__all__ = ["BindingCycle"]

# Chosen, not measured: it gives a server that lost an answer some time to recover.
_SECONDS_TO_READ_AGAIN = 1.0

_NO_WAITS: Final[Mapping[str, float]] = {}

_log = logging.getLogger(__name__)


class _AssumedPod(msgspec.Struct, eq=False):
    """A pod that counts as running on its node, and is not bound yet.

    Attributes:
        queued: The pod, as popped from the queue.
        pod: The assumed pod, with its node.
        state: Its cycle state.
        stations: The plugins of its profile.
        node_name: The chosen node.
        is_nominated: Whether the nomination was written to the cluster before the bind.
    """

    queued: QueuedPod
    pod: Pod
    state: CycleState
    stations: BindingStations
    node_name: str
    is_nominated: bool = False


class _UnknownOutcome(msgspec.Struct, frozen=True, eq=False):
    """A bind whose answer was lost, while the pod cannot be read either.

    Attributes:
        status: The status that ends the attempt if the pod was not bound.
    """

    status: Status


_Result: TypeAlias = PausedPreBind | _UnknownOutcome | Status | None


class BindingCycle:
    """Runs pods through the stations from Reserve to PostBind.

    Args:
        runner: The profiles at work on a copy of the cluster.
        queue: The pods that wait for an attempt.
        failures: Requeues the pods whose binding failed.
        patches: Writes the nomination of a pod to the cluster before a long bind.
        progress: Notified of every bound pod.
        measured: Measures attempts; None without metrics.

    Attributes:
        in_flight: The number of pods that are being bound.
    """

    def __init__(
        self,
        *,
        runner: ProfileRunner,
        queue: SchedulingQueue,
        failures: FailureHandler,
        patches: PodPatches,
        progress: Progress,
        measured: MeasuredAttempts | None = None,
    ) -> None:
        self._cluster = runner.cluster
        self._clock = runner.clock
        self._executor = runner.executor
        self._binds_here = isinstance(runner.executor, InlineExecutor)
        self._waiting = runner.waiting
        self._cache = runner.cache
        self._reports = runner.reports
        self._stored_pod = runner.stored_pod
        self._queue = queue
        self._failures = failures
        self._patches = patches
        self._progress = progress
        self._measured = measured
        self.in_flight = 0

    def begin(
        self,
        queued: QueuedPod,
        state: CycleState,
        stations: BindingStations,
        decision: Decision,
    ) -> None:
        """Assume the pod on its node, run Reserve and Permit, then bind or wait."""
        name = decision.node.name
        # A copy: the record keeps the pod as it is in the cluster, for the case that it
        # must be queued again.
        pod = msgspec.structs.replace(queued.pod, node_name=name)
        try:
            self._cache.assume(pod)
        except AssumeError as error:
            failure = Failure(kind=FailureKind.ERROR, message=str(error))
            self._failures.attempt_failed(queued, failure)
            return
        # From here on the node counts the pod, so its nomination is obsolete.
        self._queue.nominator.delete(pod)
        assumed = _AssumedPod(queued, pod, state, stations, name)
        # For most pods no plugin has anything to do here: one check saves four calls.
        # Such checks together made an attempt for a plain pod a tenth faster.
        is_idle = stations.is_idle(state)
        status = None if is_idle else stations.reserve(state, pod, name)
        if status is not None:
            self._refuse(assumed, status)
            return
        if state.annotations:
            assumed.pod = pod = self._cache.annotate(pod, state.annotations)
        waits = _NO_WAITS if is_idle else stations.permit(state, pod, name)
        if isinstance(waits, Status):
            self._refuse(assumed, waits)
            return
        if state.pods_to_activate:
            self._activate(assumed)
        # Most plugins have no PreBind work for most pods, so PreBindPreFlight would be
        # called only to return Skip.
        if is_idle:
            self._bind(assumed)
        else:
            self._pre_flight(assumed, waits)

    def _pre_flight(self, assumed: _AssumedPod, waits: Mapping[str, float]) -> None:
        """Run PreBindPreFlight, then let the pod wait on Permit or bind it."""
        state, pod, name = assumed.state, assumed.pod, assumed.node_name
        status = assumed.stations.pre_flight(state, pod, name)
        if status is not None and not status.is_skip:
            self._fail(assumed, Failure.on_binding(status), status)
            return
        # Only then may it take long until the pod is bound, and other schedulers and
        # autoscalers must not give its place away.
        if status is None or waits:
            self._nominate(assumed)
        if waits:
            self._waiting.add(
                pod, waits, lambda status: self._permitted(assumed, status)
            )
        else:
            self._bind(assumed)

    def _refuse(self, assumed: _AssumedPod, status: Status) -> None:
        """End the attempt of a pod that Reserve or Permit rejected at once."""
        self._unreserve(assumed)
        self._reports.broken_contract(assumed.pod, status)
        self._failures.refused(assumed.queued, assumed.pod, Failure.on_node(status))

    def _fail(self, assumed: _AssumedPod, failure: Failure, status: Status) -> None:
        """End the attempt of a pod after a later station failed.

        By then other pods may have been scheduled around it.
        """
        self._unreserve(assumed)
        self._reports.broken_contract(assumed.pod, status)
        self._failures.binding_failed(
            assumed.queued,
            assumed.pod,
            failure,
            was_nominated=assumed.is_nominated,
        )

    def _unreserve(self, assumed: _AssumedPod) -> None:
        errors = assumed.stations.unreserve(
            assumed.state, assumed.pod, assumed.node_name
        )
        _log_errors(errors)

    def _activate(self, assumed: _AssumedPod) -> None:
        """Move the pods that plugins have named to the active queue."""
        state = assumed.state
        listed: Iterable[object] = state.pods_to_activate
        state.pods_to_activate = []
        try:
            keys = [key for key in listed if isinstance(key, str)]
        except Exception:
            _log.exception("pods_to_activate, as some plugin set it, cannot be read")
            return
        pods = map(self._stored_pod, keys)
        self._queue.activate([pod for pod in pods if pod is not None])

    def _nominate(self, assumed: _AssumedPod) -> None:
        """Write the nomination to the cluster before the bind, which may take long."""
        patch = PodStatusPatch(nominated_node_name=assumed.node_name)
        assumed.is_nominated = True
        self._patches.send(assumed.queued.pod, patch)

    def _permitted(self, assumed: _AssumedPod, status: Status | None) -> None:
        if status is None:
            self._bind(assumed)
        else:
            self._fail(assumed, Failure.on_permit(status), status)

    def _bind(self, assumed: _AssumedPod) -> None:
        # From here on the queue need not collect events that could help the pod.
        self._queue.done(assumed.pod.metadata.uid)
        self._patches.drop(assumed.pod)
        self.in_flight += 1
        self._pre_bind(assumed, 0)

    def _pre_bind(self, assumed: _AssumedPod, start: int) -> None:
        if self._binds_here:
            # Same as the inline executor, without making the two callables for it:
            # they took a fiftieth of a decision of SchedulingBasic.
            self._advance(assumed, self._pre_bind_and_bind(assumed, start))
            return
        self._executor.submit(
            partial(self._pre_bind_and_bind, assumed, start),
            partial(self._advance, assumed),
            blocks=assumed.stations.may_block(assumed.state),
        )

    def _pre_bind_and_bind(self, assumed: _AssumedPod, start: int) -> _Result:
        """Run PreBind and Bind, which may block; the engine's state is not accessed."""
        state, pod, name = assumed.state, assumed.pod, assumed.node_name
        status = assumed.stations.pre_bind(state, pod, name, start)
        if isinstance(status, PausedPreBind):
            return status
        if status is None:
            status = assumed.stations.bind(state, pod, name)
        if status is not None and isinstance(status.error, UnknownOutcomeError):
            return self._resolve(assumed, status)
        return status

    def _resolve(
        self, assumed: _AssumedPod, status: Status
    ) -> _UnknownOutcome | Status | None:
        """Read the pod to find the outcome of a bind whose answer was lost."""
        try:
            stored = self._cluster.get(Pod, assumed.pod.key)
        except NotFoundError:
            return status
        except ApiError:
            return _UnknownOutcome(status)
        # Another pod may have the name by now; then the bind of this one has failed.
        is_same = stored.uid == assumed.pod.uid
        return None if is_same and stored.node_name == assumed.node_name else status

    def _advance(self, assumed: _AssumedPod, result: _Result) -> None:
        if result is None or isinstance(result, Status):
            self._finish(assumed, result)
        elif isinstance(result, PausedPreBind):
            deadline = self._clock.now() + result.wait.timeout_seconds
            self._check_later(assumed, result, deadline)
        else:
            self._read_later(assumed, result.status)

    def _read_later(self, assumed: _AssumedPod, status: Status) -> None:
        """Keep the pod assumed until it can be read: the bind may have succeeded.

        Freeing its resources too early overcommits nodes
        (kubernetes/kubernetes#100140).
        """
        self._clock.call_later(
            _SECONDS_TO_READ_AGAIN,
            lambda: self._executor.submit(
                lambda: self._resolve(assumed, status),
                lambda result: self._advance(assumed, result),
                blocks=False,
            ),
        )

    def _check_later(
        self, assumed: _AssumedPod, paused: PausedPreBind, deadline: float
    ) -> None:
        due = self._clock.now() + paused.wait.interval_seconds
        if due < deadline:
            self._clock.call_at(due, lambda: self._check(assumed, paused, deadline))
        else:
            self._clock.call_at(
                deadline, lambda: self._finish(assumed, paused.expired())
            )

    def _check(
        self, assumed: _AssumedPod, paused: PausedPreBind, deadline: float
    ) -> None:
        answer = paused.check()
        if isinstance(answer, Status):
            self._finish(assumed, answer)
        elif answer:
            self._pre_bind(assumed, paused.next)
        else:
            self._check_later(assumed, paused, deadline)

    def _finish(self, assumed: _AssumedPod, status: Status | None) -> None:
        self.in_flight -= 1
        if status is not None:
            self._fail(assumed, Failure.on_binding(status), status)
            return
        if self._measured is not None:
            self._measured.bound(assumed.queued, self._clock.now())
        self._cluster.record(_scheduled(assumed))
        self._progress.note_change()
        self._reports.bound(assumed.pod, assumed.node_name)
        errors = assumed.stations.post_bind(
            assumed.state, assumed.pod, assumed.node_name
        )
        if errors:
            _log_errors(errors)
        if assumed.state.pods_to_activate:
            self._activate(assumed)


def _log_errors(errors: Sequence[Status]) -> None:
    """Log failures of hooks that must not fail; their guards log the tracebacks."""
    for status in errors:
        _log.error("%s", status.message)


def _scheduled(assumed: _AssumedPod) -> EventNote:
    pod, node_name = assumed.pod, assumed.node_name
    return EventNote(
        regarding=pod,
        type="Normal",
        reason="Scheduled",
        action="Binding",
        # Rendered at once: deferring it takes longer than rendering it.
        note=f"Successfully assigned {assumed.queued.key} to {node_name}",
        reporter=pod.spec.scheduler_name,
    )
