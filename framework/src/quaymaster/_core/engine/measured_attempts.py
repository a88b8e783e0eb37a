"""Measures attempts, from the pop of a pod to its bind; only used with metrics."""

from collections.abc import Callable

from quaymaster._core.engine.failure import Failure, FailureKind
from quaymaster._core.engine.framework import Framework
from quaymaster._core.queue.queued_pod import QueuedPod
from quaymaster._core.runtime.metrics import SchedulerMetrics

__all__ = ["MeasuredAttempts"]

_MOST_ATTEMPTS = 15
"""From this number of attempts on, upstream counts pods under one label."""

# Chosen so that it costs at most 0.4 %: a detailed measurement takes 40 us more.
_SECONDS_BETWEEN_SAMPLES = 0.01


class MeasuredAttempts:
    """Measures the time of attempts, and selects those that are measured in detail.

    At most a hundred per second are selected, which is every attempt in most clusters.

    Args:
        metrics: Records the values.
    """

    def __init__(self, metrics: SchedulerMetrics) -> None:
        self._metrics = metrics
        self._now = metrics.now
        self._start = self._next_sample = metrics.now()
        self._since_sample = 0
        self._decided = metrics.algorithm.keep
        self._bound: dict[str, Callable[[float], None]] = {}
        self._waited: dict[int, Callable[[float], None]] = {}
        self._attempts = metrics.pod_attempts.keep

    def begin(self, queued: QueuedPod, framework: Framework) -> Framework:
        """Note the start of an attempt; return the profile that makes it."""
        start = self._start = queued.attempt_begun = self._now()
        self._since_sample += 1
        if start < self._next_sample:
            return framework
        self._next_sample = start + _SECONDS_BETWEEN_SAMPLES
        self._metrics.sampling.begin(self._since_sample)
        self._since_sample = 0
        self._metrics.fold()
        return framework.measured or framework

    def decided(self) -> None:
        """Note that the algorithm has ended, with a node or without one."""
        self._decided(self._now() - self._start)

    def preempted(self) -> None:
        """Note that PostFilter plugins were called."""
        self._metrics.preemption_attempts += 1

    def ended(self) -> None:
        """Note that the engine's part of the attempt has ended."""
        self._metrics.sampling.end()

    def bound(self, queued: QueuedPod, now: float) -> None:
        """Note that a pod was bound.

        Args:
            queued: The pod, as popped from the queue.
            now: The time of the engine's clock.
        """
        profile = queued.pod.spec.scheduler_name
        try:
            bound = self._bound[profile]
        except KeyError:
            labels = ("scheduled", profile)
            bound = self._bound[profile] = self._metrics.attempts[labels].keep
        bound(self._now() - queued.attempt_begun)
        attempts = queued.attempts
        self._attempts(attempts)
        first = queued.initial_attempt_timestamp
        if first is not None:
            try:
                self._waited[attempts](now - first)
            except KeyError:
                many = attempts >= _MOST_ATTEMPTS
                label = f"{_MOST_ATTEMPTS}+" if many else str(attempts)
                waited = self._waited[attempts] = self._metrics.sli[(label,)].keep
                waited(now - first)
        if queued.was_flushed:
            self._metrics.after_flush += 1

    def failed(self, queued: QueuedPod, failure: Failure) -> None:
        """Note that an attempt, or a binding, has failed."""
        is_error = failure.kind is FailureKind.ERROR
        result = "error" if is_error else "unschedulable"
        labels = (result, queued.pod.spec.scheduler_name)
        seconds = self._now() - queued.attempt_begun
        self._metrics.attempts[labels].observe(seconds)
