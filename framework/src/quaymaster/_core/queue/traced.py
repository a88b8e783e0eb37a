"""Queues that trace the moves of pods; used only if the topic is traced."""

from collections.abc import Callable, Container

import attrs

from quaymaster._api.objects import ApiObject, Pod
from quaymaster._core.contract.clock import Clock
from quaymaster._core.contract.cluster_events import (
    ClusterEventWithHint,
    QueueingHint,
    QueueingHintFn,
)
from quaymaster._core.contract.queueing import QueueName
from quaymaster._core.contract.trace import TraceCallback
from quaymaster._core.queue.backoff import BackoffPolicy
from quaymaster._core.queue.hints import EventsByPlugin
from quaymaster._core.queue.nominator import Nominator
from quaymaster._core.queue.profile import CompiledProfiles
from quaymaster._core.queue.queued_pod import QueuedPod
from quaymaster._core.queue.sub_queues import SubQueues
from quaymaster._core.queue.unschedulable_pods import KeysOf

__all__ = ["TracedSubQueues", "with_traced_hints"]


class TracedSubQueues(SubQueues):
    """The queues of pending pods, with a trace of pods that enter or leave.

    Args:
        trace: Writes the lines; for the others see `SubQueues`.
    """

    def __init__(
        self,
        clock: Clock,
        profiles: CompiledProfiles,
        policy: BackoffPolicy,
        nominator: Nominator,
        max_in_unschedulable_seconds: float,
        flush_unschedulable: Callable[[float], None],
        nominating_labels: Container[str],
        keys_of: KeysOf[QueuedPod],
        trace: TraceCallback,
    ) -> None:
        super().__init__(
            clock,
            profiles,
            policy,
            nominator,
            max_in_unschedulable_seconds,
            flush_unschedulable,
            nominating_labels,
            keys_of,
        )
        self._trace = trace

    def to_active(
        self, queued: QueuedPod, label: str, *, from_backoff: bool = False
    ) -> bool:
        """See `SubQueues`."""
        is_active = super().to_active(queued, label, from_backoff=from_backoff)
        if is_active:
            self._entered(queued, label)
        return is_active

    def pop(self) -> QueuedPod | None:
        """See `SubQueues`."""
        queued = super().pop()
        if queued is not None:
            self._trace("pop", queued.pod, attempt=queued.attempts + 1)
        return queued

    def delete(self, queued: QueuedPod) -> None:
        """See `SubQueues`."""
        super().delete(queued)
        self._trace("delete", queued.pod)

    def _to_backoff(
        self, queued: QueuedPod, label: str, *, is_open: bool = False
    ) -> None:
        super()._to_backoff(queued, label, is_open=is_open)
        if not queued.is_gated:
            self._entered(queued, label)

    def _stay_gated(
        self, queued: QueuedPod, rejectors: frozenset[str], label: str
    ) -> None:
        super()._stay_gated(queued, rejectors, label)
        self._entered(queued, label)

    def _hold_back(self, queued: QueuedPod, label: str) -> None:
        was_there = queued.queue is QueueName.UNSCHEDULABLE
        super()._hold_back(queued, label)
        if not was_there:
            self._entered(queued, label)

    def _entered(self, queued: QueuedPod, label: str) -> None:
        if queued.queue is not None:
            self._trace(
                "enter",
                queued.pod,
                queue=queued.queue.value,
                cause=label,
                gated_by=queued.gating_plugin,
                rejected_by=",".join(sorted(queued.rejectors)),
                attempts=queued.attempts,
            )


def with_traced_hints(events: EventsByPlugin, trace: TraceCallback) -> EventsByPlugin:
    """Return the same registrations, with hints whose results are traced."""
    return {
        plugin: registrations
        and [_traced(plugin, registered, trace) for registered in registrations]
        for plugin, registrations in events.items()
    }


def _traced(
    plugin: str, registered: ClusterEventWithHint, trace: TraceCallback
) -> ClusterEventWithHint:
    hint = registered.hint
    if hint is None:
        return registered
    untraced: QueueingHintFn = hint
    label = registered.event.label

    def traced(pod: Pod, old: ApiObject | None, new: ApiObject | None) -> QueueingHint:
        answer = untraced(pod, old, new)
        trace("hint", pod, plugin=plugin, registered=label, answer=answer.value)
        return answer

    return attrs.evolve(registered, hint=traced)
