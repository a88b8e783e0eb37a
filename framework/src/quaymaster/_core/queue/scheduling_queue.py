"""The pods that wait to be scheduled: selects the next one, and wakes others by events.

Mirrors ``PriorityQueue`` (Kubernetes v1.36 and v1.37,
``pkg/scheduler/backend/queue/scheduling_queue.go``) with the feature gates at their
defaults. One thread calls everything here.
"""

import logging
import math
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Final

from quaymaster._api.objects import ApiObject, Pod
from quaymaster._core.contract.clock import Clock
from quaymaster._core.contract.cluster_events import (
    ActionType,
    ClusterEvent,
    EventResource,
)
from quaymaster._core.contract.queueing import QueueName
from quaymaster._core.contract.trace import TraceCallback
from quaymaster._core.queue.backoff import BackoffPolicy
from quaymaster._core.queue.events import (
    CONFIG_RELOAD,
    FORCE_ACTIVATE,
    SCHEDULE_ATTEMPT_FAILURE,
    UNSCHEDULABLE_TIMEOUT,
)
from quaymaster._core.queue.held_pods import HeldPods
from quaymaster._core.queue.hints import HintRegistry, Question, Strategy
from quaymaster._core.queue.in_flight import InFlightPods
from quaymaster._core.queue.nominator import Nominator
from quaymaster._core.queue.profile import CompiledProfiles, QueueProfile
from quaymaster._core.queue.queued_pod import QueuedPod
from quaymaster._core.queue.queued_pods import QueuedPods
from quaymaster._core.queue.renewal import renew
from quaymaster._core.queue.rules import RULES_OF_1_36, QueueRules
from quaymaster._core.queue.sub_queues import SubQueues
from quaymaster._core.queue.timed_hints import TimedQuestions
from quaymaster._core.queue.traced import TracedSubQueues, with_traced_hints
from quaymaster._core.runtime.metrics import SchedulerMetrics

__all__ = ["SchedulingQueue"]

_log = logging.getLogger(__name__)

# Constants, since Python 3.11 reads members of enumerations slowly: see `hints`.
_SKIP: Final = Strategy.SKIP
_AFTER_BACKOFF: Final = Strategy.AFTER_BACKOFF
_IMMEDIATELY: Final = Strategy.IMMEDIATELY


class SchedulingQueue(QueuedPods):
    """All pending pods of all profiles.

    A pod is in one of four queues, by its key, or *in flight*, by its uid: popped, and
    not done yet. Events are stored while it is in flight. When it is requeued, the
    queueing hints are called for them, so that no event is lost.

    Args:
        clock: Gives the time and runs the flushes.
        profiles: Scheduler name -> its profile; at least one.
        nominator: The pods that are nominated to nodes; the queue updates it.
        backoff: The backoff of failed pods.
        max_in_unschedulable_seconds: After this time without a helpful event, a
            rejected pod is tried again.
        flush_gated_pods: Whether PreEnqueue is called again for gated pods then. By
            default the rules decide: Kubernetes v1.36.2 does not call it, and later
            versions do (pull requests 139162, 139330 and 139331 of
            kubernetes/kubernetes).
        rules: The rules of the version of Kubernetes.
        trace: Writes the moves of pods and the results of queueing hints, if given.
        metrics: Records the times of queueing hints, if given.

    Attributes:
        nominator: The pods that are nominated to nodes.
        incoming: (queue, label of the cause) -> the number of pods that entered;
            upstream's metric ``queue_incoming_pods_total``.
    """

    def __init__(
        self,
        *,
        clock: Clock,
        profiles: Mapping[str, QueueProfile],
        nominator: Nominator,
        backoff: BackoffPolicy | None = None,
        max_in_unschedulable_seconds: float = 300.0,
        flush_gated_pods: bool = False,
        rules: QueueRules = RULES_OF_1_36,
        trace: TraceCallback | None = None,
        metrics: SchedulerMetrics | None = None,
    ) -> None:
        self._clock = clock
        self._question = Question if metrics is None else TimedQuestions(metrics)
        self._rules = rules
        self._flush_gated_pods = flush_gated_pods or rules.wildcards_ask_gates
        self.nominator = nominator
        self._held: HeldPods | None = None
        self._in_flight = InFlightPods()
        self._trace = trace
        self._hints = self._hint_registry(profiles)
        self._profiles = CompiledProfiles(profiles)
        parts = (
            clock,
            self._profiles,
            backoff or BackoffPolicy(),
            self.nominator,
            max_in_unschedulable_seconds,
            self._flush_unschedulable,
            rules.nominating_labels,
            lambda queued, plugin: self._hints.keys_of(queued.pod, plugin),
        )
        # A class of its own, so that untraced queues do not check for a trace.
        traced = trace and TracedSubQueues(*parts, trace)
        self._queues: SubQueues = traced or SubQueues(*parts)
        self.incoming: Counter[tuple[str, str]] = self._queues.incoming

    # Life of a pod ------------------------------------------------------------------

    def start(self) -> None:
        """Start the periodic flushes, as background timers of the clock."""
        self._queues.flushes.start()

    def rest(self, is_resting: bool) -> None:
        """Pause the periodic flushes, or resume them."""
        self._queues.flushes.rest(is_resting)

    def hold(
        self, pauses: Mapping[str, float], on_held: Callable[[Pod, float], None]
    ) -> None:
        """Keep pods out of the queue for some time; call it before any pod arrives.

        Args:
            pauses: Uid -> seconds from now on.
            on_held: Called with each such pod and its pause, when it arrives.
        """
        if pauses:
            self._held = HeldPods(self._clock, pauses, on_held, self.add)

    def reload(
        self, profiles: Mapping[str, QueueProfile], backoff: BackoffPolicy
    ) -> Sequence[QueuedPod]:
        """Replace the profiles; pods keep their history, see `renew`.

        For pods in flight it is an event that helps: they are requeued accordingly.

        Args:
            profiles: Scheduler name -> its profile; at least one.
            backoff: The new backoff of failed pods.

        Returns:
            The removed pods, whose scheduler name no longer has a profile.
        """
        # Both may fail, so they come first: from there on the reload cannot fail.
        hints, compiled = self._hint_registry(profiles), CompiledProfiles(profiles)
        self._hints, self._profiles = hints, compiled
        removed = renew(self._queues, compiled, backoff)
        # No later event would withdraw its nomination, which keeps room on a node.
        for queued in removed:
            self.nominator.delete(queued.pod)
        # Pods in flight are judged by the old profiles. If they fail, this event sends
        # them back at once, to be tried under the new ones.
        self._in_flight.record(CONFIG_RELOAD, None, None)
        return removed

    def add(self, pod: Pod) -> None:
        """Queue a new pod."""
        self._arrive(pod, self._rules.pod_add_label)

    def pop(self) -> QueuedPod | None:
        """Remove the next pod to be tried; it is in flight until `done`.

        Returns:
            The first active pod; else the first one in backoff after a rejection, even
            if its backoff has not ended; else None.
        """
        while (queued := self._queues.pop()) is not None:
            queued.attempts += 1
            if self._in_flight.start(queued.pod.metadata.uid):
                return queued
            _log.error("pod %s is in flight already: popped pod dropped", queued.key)
        return None

    def peek(self) -> QueuedPod | None:
        """Return the pod that `pop` would return, or None."""
        # As `pop`: if no pod is active, the first one in backoff is tried before its
        # time (the feature gate SchedulerPopFromBackoffQ).
        return self._queues.active.peek() or self._queues.backoff.peek()

    def done(self, uid: str) -> None:
        """Stop tracking a popped pod that has a node or was deleted, if tracked."""
        self._in_flight.done(uid)

    def add_unschedulable(self, queued: QueuedPod) -> None:
        """Requeue a popped pod whose attempt failed; it is no longer in flight.

        It is dropped if a reload has removed its profile in the meantime.

        Args:
            queued: The popped record, with the newest version of the pod, and the
                plugins that rejected it. Without plugins, the attempt counts as an
                error.
        """
        if queued.key in self._queues.pods:
            _log.error("pod %s is in the queue already", queued.key)
        elif queued.pod.spec.scheduler_name in self._profiles:
            self._requeue_failed(queued)
        # Last: requeueing reads the events that came while the pod was in flight.
        self._in_flight.done(queued.pod.metadata.uid)

    def update(self, old: Pod, new: Pod, changes: Sequence[ClusterEvent]) -> None:
        """Handle a change of a pod, which may make the pod schedulable.

        Args:
            old: The pod before the change.
            new: The pod after the change.
            changes: The events of the change, see `quaymaster._core.engine.changes`.
        """
        if new.metadata.uid in self._in_flight:
            # These events count when it is requeued, with its newest version.
            for event in changes:
                self._in_flight.record(event, old, new)
            return
        queued = self._queues.pods.get(old.key)
        if self._rules.other_uid_arrives:
            before = old if queued is None else queued.pod
            # The watch has missed a deletion. The update brings a new pod, without the
            # history and the backoff of its namesake.
            if before.metadata.uid != new.metadata.uid:
                self.nominator.delete(old)
                queued = None
        if queued is None:
            self._arrive(new, self._rules.late_pod_label)
            return
        queued.pod = new
        self.nominator.update(old, new)
        if queued.queue is QueueName.UNSCHEDULABLE:
            self._update_unschedulable(queued, old, changes)
        else:
            self._queues.reposition(queued)

    def delete(self, pod: Pod) -> None:
        """Remove a deleted or bound pod; if it is in flight, it stays in flight."""
        if self._held is not None:
            self._held.delete(pod)
        self.nominator.delete(pod)
        # The watch event of each bind comes here: mostly no pod is queued then.
        if not self._queues.pods:
            return
        queued = self._queues.pods.get(pod.key)
        if queued is not None:
            self._queues.delete(queued)

    def activate(self, pods: Iterable[Pod]) -> None:
        """Make pods active at once, without the rest of their backoff, unless gated.

        A pod that is in flight becomes active when it is requeued.
        """
        for pod in pods:
            if not self._activate(pod) and pod.metadata.uid in self._in_flight:
                self._in_flight.record(FORCE_ACTIVATE, None, pod)

    def reorder(self, pods: Iterable[Pod]) -> None:
        """Compute the sort keys of queued pods again, and move them accordingly."""
        for pod in pods:
            self._reorder(pod)

    def move_all(
        self,
        event: ClusterEvent,
        old: ApiObject | None = None,
        new: ApiObject | None = None,
        *,
        pre_check: Callable[[Pod], bool] | None = None,
    ) -> None:
        """Wake the unschedulable pods that an event may help.

        Args:
            event: The event.
            old: The object before the change, or None.
            new: The object after the change, or None.
            pre_check: If given, only pods that it accepts are considered. For pods in
                flight, the event is stored in any case.
        """
        # Mostly no pod waits: looking at two dicts takes no call.
        if not self._in_flight.started and not self._queues.unschedulable.pods:
            return
        candidates: Collection[QueuedPod]
        if event.is_wildcard:
            candidates = list(self._queues.unschedulable)
        else:
            plugins = self._hints.keys_by_plugin(event, old, new)
            if not plugins:
                return
            # By an index of rejecting plugins: other pods cannot be helped, and looking
            # at each would make every event cost as much as the queue is long.
            candidates = self._queues.unschedulable.rejected_by(plugins)
        if pre_check is not None:
            # Before the hints: these checks compare a priority or a uid, which costs
            # less than a call of a plugin.
            candidates = [queued for queued in candidates if pre_check(queued.pod)]
        self._wake(candidates, event, old, new)

    def is_watched(self, resource: EventResource, action: ActionType) -> bool:
        """Whether some plugin registered this resource with any of these actions."""
        return self._hints.is_watched(resource, action)

    # Moves between queues -----------------------------------------------------------

    def _arrive(self, pod: Pod, label: str) -> None:
        """Queue a pod that has no history here.

        Kubernetes v1.37 may keep the record of an older pod with the same name, so that
        the name is in two queues, and keeps the older pod's nomination forever. Here
        both are removed.
        """
        if self._held is not None and self._held.hold(pod):
            return
        key = pod.key
        if self._rules.other_uid_arrives:
            older = self._queues.pods.get(key)
            if older is not None:
                self.nominator.delete(older.pod)
                if older.queue is not QueueName.UNSCHEDULABLE:
                    self._queues.leave(older)
            self.nominator.add(pod)
        self._queues.to_active(QueuedPod(pod, self._clock.now(), key), label)

    def _requeue_failed(self, queued: QueuedPod) -> None:
        self._count_failure(queued)
        # After the failure is counted, because hints are called for the plugins that
        # rejected it in this attempt.
        strategy = self._strategy_after_attempt(queued)
        self._queues.requeue(queued, strategy, SCHEDULE_ATTEMPT_FAILURE)

    def _count_failure(self, queued: QueuedPod) -> None:
        """Note in the record of a pod that its attempt has just failed."""
        if queued.rejectors:
            queued.unschedulable_count += 1
            queued.consecutive_errors_count = 0
        else:
            queued.consecutive_errors_count += 1
        queued.timestamp = self._clock.now()
        queued.backoff_expiration = None
        queued.was_flushed = False

    def _strategy_after_attempt(self, queued: QueuedPod) -> Strategy:
        """Return how the events during the attempt move the pod."""
        # An error has no plugin whose hints could decide. Without this the pod would
        # wait for the flush: ``determineSchedulingHintForInFlightPod``.
        if not queued.rejectors:
            return _AFTER_BACKOFF
        uid = queued.pod.metadata.uid
        if uid not in self._in_flight:
            _log.error("pod %s comes back, but was not in flight", queued.key)
            return _AFTER_BACKOFF
        result = _SKIP
        for event, old, new in self._in_flight.events_since(uid):
            question = self._question(self._hints, event, old, new)
            strategy = question.strategy(queued)
            if strategy is _IMMEDIATELY:
                return strategy
            if strategy is _AFTER_BACKOFF:
                result = strategy
                if not queued.pending_plugins:
                    break  # no later event can change the result
        return result

    def _update_unschedulable(
        self, queued: QueuedPod, old: Pod, changes: Sequence[ClusterEvent]
    ) -> None:
        """Call the hints for each change of the pod itself, until one moves it.

        Unlike other events, these are used for gated pods as well.
        """
        for event in changes:
            question = self._question(self._hints, event, old, queued.pod)
            strategy = question.strategy(queued)
            if strategy is _SKIP and not queued.gating_plugin:
                # As `requeue`, for a pod that stays: most are patched by the scheduler.
                self._queues.unschedulable.update_keys(queued)
                continue
            self._queues.requeue(queued, strategy, event.label)
            if queued.queue is not QueueName.UNSCHEDULABLE:
                return

    def _activate(self, pod: Pod) -> bool:
        queued = self._queues.pods.get(pod.key)
        if queued is None or queued.queue is QueueName.ACTIVE:
            return False
        from_backoff = queued.queue is not QueueName.UNSCHEDULABLE
        label = FORCE_ACTIVATE.label
        return self._queues.to_active(queued, label, from_backoff=from_backoff)

    def _reorder(self, pod: Pod) -> None:
        queued = self._queues.pods.get(pod.key)
        if queued is not None and queued.queue is not QueueName.UNSCHEDULABLE:
            self._queues.reposition(queued)

    def _wake(
        self,
        candidates: Collection[QueuedPod],
        event: ClusterEvent,
        old: ApiObject | None,
        new: ApiObject | None,
    ) -> None:
        if candidates:
            question = self._question(self._hints, event, old, new)
            label = event.label
            for queued in candidates:
                self._wake_one(queued, event, question, label)
        self._in_flight.record(event, old, new)

    # Also if it woke no pod: pods in flight are not among the candidates, and their
    # hints are called when they come back.
    def _wake_one(
        self, queued: QueuedPod, event: ClusterEvent, question: Question, label: str
    ) -> None:
        gate = queued.gating_plugin
        if gate and not self._may_ungate(gate, event):
            return
        strategy = question.strategy(queued)
        if strategy is not _SKIP:
            # Left first, so that `requeue` counts the pod as one that enters, even if a
            # gate sends it back to where it was.
            self._queues.leave(queued)
            self._queues.requeue(queued, strategy, label)

    def _may_ungate(self, gate: str, event: ClusterEvent) -> bool:
        if event.is_wildcard and (
            self._rules.wildcards_ask_gates
            or (self._flush_gated_pods and event is UNSCHEDULABLE_TIMEOUT)
        ):
            return True
        return self._hints.may_ungate(gate, event)

    def _flush_unschedulable(self, limit: float) -> None:
        """Wake the pods that have waited since before ``limit`` without an event."""
        unschedulable, flushes = self._queues.unschedulable, self._queues.flushes
        late = unschedulable.late(limit)
        for queued in late:
            queued.was_flushed = True
        # Late pods that stayed count as well: Kubernetes v1.36.2 wakes gated pods in
        # vain, again and again, and each time stores the event for pods in flight.
        if unschedulable.oldest() == -math.inf:
            self._wake_late(late)
        oldest = unschedulable.oldest()
        if oldest is not None:
            flushes.expect_unschedulable(oldest)

    def _wake_late(self, late: Iterable[QueuedPod]) -> None:
        """Wake the pods that a flush has found; gated pods may stay."""
        queues, event, stayed = self._queues, UNSCHEDULABLE_TIMEOUT, False
        question = self._question(self._hints, event, None, None)
        label = event.label
        for queued in late:
            if queued.queue is not QueueName.UNSCHEDULABLE:
                continue  # a gate before it has activated it
            if queued.gating_plugin and self._flush_gated_pods:
                stayed |= not queues.ask_again(queued, label)
                continue
            self._wake_one(queued, event, question, label)
            if queued.gating_plugin and self._flush_gated_pods:
                queues.restart_wait(queued)
        self._in_flight.record(event, None, None)
        if stayed:
            # The next flush comes after 30 seconds, though it may find no pod: virtual
            # time passes in the same steps as if each gated pod had left and returned.
            queues.flushes.expect_unschedulable(-math.inf)

    def _hint_registry(self, profiles: Mapping[str, QueueProfile]) -> HintRegistry:
        events = {name: profile.events for name, profile in profiles.items()}
        if self._trace is not None:
            for name, registered in events.items():
                events[name] = with_traced_hints(registered, self._trace)
        adds_taint_events = self._rules.adds_taint_events
        return HintRegistry(events, adds_taint_events=adds_taint_events)
