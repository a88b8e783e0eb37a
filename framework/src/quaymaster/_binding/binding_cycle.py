"""The binding cycle: what happens to a pod once it has a node.

Mirrors ``prepareForBindingCycle`` and ``bindingCycle`` (Kubernetes v1.36,
``pkg/scheduler/schedule_one.go``). Everything runs on the engine's thread but PreBind
and Bind, which may wait for a server and run in the executor.
"""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Generic, Protocol, TypeAlias, TypeVar

import attrs
import msgspec

from quaymaster._binding.executor import Executor
from quaymaster._binding.stations import BindingStations, PausedPreBind
from quaymaster._binding.waiting_pods import WaitingPods
from quaymaster._cycle.decisions import Decision
from quaymaster.clock import Clock
from quaymaster.cluster import (
    ApiError,
    Cluster,
    EventNote,
    NotFoundError,
    PodStatusPatch,
    UnknownOutcomeError,
)
from quaymaster.cycle_state import CycleState
from quaymaster.objects import Pod
from quaymaster.queueing import QueuedPodInfo
from quaymaster.status import Status

__all__ = ["Attempt", "BindingCycle", "BindingOutcomes"]

_SECONDS_TO_READ_AGAIN = 1.0


QueuedT = TypeVar("QueuedT", bound=QueuedPodInfo)


class Attempt(msgspec.Struct, Generic[QueuedT], eq=False):
    """One attempt to schedule a pod, from its decision on.

    Attributes:
        queued: The pod as it came from the queue.
        pod: The assumed pod, with its node.
        state: Its cycle state.
        stations: The plugins of its profile.
        node_name: The chosen node.
        is_nominated: Whether the cluster was told of the node ahead of the bind.
    """

    queued: QueuedT
    pod: Pod
    state: CycleState
    stations: BindingStations
    node_name: str
    is_nominated: bool = False


@attrs.frozen(eq=False)
class _Doubt:
    """A bind whose answer was lost, and the pod cannot be read to find out, either.

    Attributes:
        status: The failure that it is if the pod was not bound.
    """

    status: Status


_Result: TypeAlias = PausedPreBind | _Doubt | Status | None


class BindingOutcomes(Protocol[QueuedT]):
    """What the engine does at the turns of a binding cycle."""

    def assume(self, attempt: Attempt[QueuedT]) -> bool:
        """Count the pod in on its node; False if it had to be requeued instead."""

    def refused(self, attempt: Attempt[QueuedT], status: Status) -> None:
        """Reserve or Permit failed at once: forget the pod and requeue it."""

    def activate(self, keys: Sequence[str]) -> None:
        """Move pods to the active queue."""

    def done(self, attempt: Attempt[QueuedT]) -> None:
        """The pod can no longer be called unschedulable: close its cycle."""

    def failed(
        self, attempt: Attempt[QueuedT], status: Status, *, on_permit: bool
    ) -> None:
        """The binding cycle failed: forget the pod and requeue it."""

    def bound(self, attempt: Attempt[QueuedT]) -> None:
        """The pod is bound."""

    def report(self, errors: Sequence[Status]) -> None:
        """Plugins failed in hooks that must not fail."""


class BindingCycle(Generic[QueuedT]):
    """Takes assumed pods from Reserve to PostBind.

    Args:
        cluster: Where pods are bound.
        executor: Runs what may wait for the cluster.
        waiting: The pods that wait on Permit.
        outcomes: The engine's side.
        clock: Tells when to ask a PreBind plugin again that waits for the cluster.
        patch_status: Sends a patch of a pod's status to the cluster.

    Attributes:
        in_flight: How many pods are being bound right now.
    """

    def __init__(
        self,
        cluster: Cluster,
        executor: Executor,
        waiting: WaitingPods,
        outcomes: BindingOutcomes[QueuedT],
        clock: Clock,
        patch_status: Callable[[Pod, PodStatusPatch], None],
    ) -> None:
        self._patch_status = patch_status
        self._cluster = cluster
        self._clock = clock
        self._executor = executor
        self._waiting = waiting
        self._outcomes = outcomes
        self.in_flight = 0

    def begin(
        self,
        queued: QueuedT,
        state: CycleState,
        stations: BindingStations,
        decision: Decision,
    ) -> None:
        """Assume the pod on its node, reserve, ask for permission, and bind or wait."""
        name = decision.node.name
        pod = msgspec.structs.replace(queued.pod, node_name=name)
        attempt = Attempt(queued, pod, state, stations, name)
        if not self._outcomes.assume(attempt):
            return
        status = stations.reserve(state, pod, name)
        if status is not None:
            self._refuse(attempt, status)
            return
        waits = stations.permit(state, pod, name)
        if isinstance(waits, Status):
            self._refuse(attempt, waits)
            return
        if state.pods_to_activate:
            self._activate(attempt)
        status = stations.pre_flight(state, pod, name)
        if status is not None and not status.is_skip:
            self._fail(attempt, status)
            return
        if status is None or waits:
            self._nominate(attempt)
        if waits:
            self._waiting.add(
                pod, waits, lambda status: self._permitted(attempt, status)
            )
        else:
            self._bind(attempt)

    def _refuse(self, attempt: Attempt[QueuedT], status: Status) -> None:
        self._unreserve(attempt)
        self._outcomes.refused(attempt, status)

    def _fail(
        self, attempt: Attempt[QueuedT], status: Status, *, on_permit: bool = False
    ) -> None:
        self._unreserve(attempt)
        self._outcomes.failed(attempt, status, on_permit=on_permit)

    def _unreserve(self, attempt: Attempt[QueuedT]) -> None:
        errors = attempt.stations.unreserve(
            attempt.state, attempt.pod, attempt.node_name
        )
        self._outcomes.report(errors)

    def _activate(self, attempt: Attempt[QueuedT]) -> None:
        keys, attempt.state.pods_to_activate = attempt.state.pods_to_activate, []
        self._outcomes.activate(keys)

    def _nominate(self, attempt: Attempt[QueuedT]) -> None:
        """Tell others which node will be taken, since binding may take a while."""
        patch = PodStatusPatch(nominated_node_name=attempt.node_name)
        attempt.is_nominated = True
        self._patch_status(attempt.queued.pod, patch)

    def _permitted(self, attempt: Attempt[QueuedT], status: Status | None) -> None:
        if status is None:
            self._bind(attempt)
        else:
            self._fail(attempt, status, on_permit=True)

    def _bind(self, attempt: Attempt[QueuedT]) -> None:
        self._outcomes.done(attempt)
        self.in_flight += 1
        self._pre_bind(attempt, 0)

    def _pre_bind(self, attempt: Attempt[QueuedT], start: int) -> None:
        self._executor.submit(
            partial(self._pre_bind_and_bind, attempt, start),
            partial(self._advance, attempt),
        )

    def _pre_bind_and_bind(self, attempt: Attempt[QueuedT], start: int) -> _Result:
        """The part that may block; off the engine's thread, so it touches no state."""
        state, pod, name = attempt.state, attempt.pod, attempt.node_name
        status = attempt.stations.pre_bind(state, pod, name, start)
        if isinstance(status, PausedPreBind):
            return status
        if status is None:
            status = attempt.stations.bind(state, pod, name)
        if status is not None and isinstance(status.error, UnknownOutcomeError):
            return self._resolve(attempt, status)
        return status

    def _resolve(
        self, attempt: Attempt[QueuedT], status: Status
    ) -> _Doubt | Status | None:
        """A bind whose answer was lost: read the pod to learn what happened."""
        try:
            stored = self._cluster.get(Pod, attempt.pod.key)
        except NotFoundError:
            return status
        except ApiError:
            return _Doubt(status)
        ours = stored.uid == attempt.pod.uid
        return None if ours and stored.node_name == attempt.node_name else status

    def _advance(self, attempt: Attempt[QueuedT], result: _Result) -> None:
        if result is None or isinstance(result, Status):
            self._finish(attempt, result)
        elif isinstance(result, PausedPreBind):
            deadline = self._clock.now() + result.wait.timeout_seconds
            self._ask_later(attempt, result, deadline)
        else:
            self._read_later(attempt, result.status)

    def _read_later(self, attempt: Attempt[QueuedT], status: Status) -> None:
        """Keep the pod's place, however long it takes: it may be taken.

        Giving it back too early overcommits nodes (kubernetes/kubernetes#100140).
        """
        self._clock.call_later(
            _SECONDS_TO_READ_AGAIN,
            lambda: self._executor.submit(
                lambda: self._resolve(attempt, status),
                lambda result: self._advance(attempt, result),
            ),
        )

    def _ask_later(
        self, attempt: Attempt[QueuedT], paused: PausedPreBind, deadline: float
    ) -> None:
        due = min(self._clock.now() + paused.wait.interval_seconds, deadline)
        self._clock.call_at(due, lambda: self._ask(attempt, paused, deadline))

    def _ask(
        self, attempt: Attempt[QueuedT], paused: PausedPreBind, deadline: float
    ) -> None:
        answer = paused.ask()
        if isinstance(answer, Status):
            self._finish(attempt, answer)
        elif answer:
            self._pre_bind(attempt, paused.next)
        elif self._clock.now() >= deadline:
            self._finish(attempt, paused.expired())
        else:
            self._ask_later(attempt, paused, deadline)

    def _finish(self, attempt: Attempt[QueuedT], status: Status | None) -> None:
        self.in_flight -= 1
        if status is not None:
            self._fail(attempt, status)
            return
        self._cluster.record(_scheduled(attempt))
        self._outcomes.bound(attempt)
        errors = attempt.stations.post_bind(
            attempt.state, attempt.pod, attempt.node_name
        )
        if errors:
            self._outcomes.report(errors)
        if attempt.state.pods_to_activate:
            self._activate(attempt)


def _scheduled(attempt: Attempt[QueuedT]) -> EventNote:
    pod, node_name = attempt.pod, attempt.node_name
    return EventNote(
        regarding=pod,
        type="Normal",
        reason="Scheduled",
        action="Binding",
        # Not a function: to make this text costs less than to keep what makes it.
        note=f"Successfully assigned {pod.key} to {node_name}",
        reporter=pod.spec.scheduler_name,
    )
