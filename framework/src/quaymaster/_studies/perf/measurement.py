"""Measures throughput and latencies while a workload runs."""

import math
from array import array
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Final

import attrs

from quaymaster._api.objects import Pod
from quaymaster._core.contract.cluster import EventNote
from quaymaster._core.contract.options import HookError, SlowHook
from quaymaster._core.engine.framework import Framework
from quaymaster._studies.perf.clock import PacedClock

__all__ = ["Distribution", "Measurement", "Meter", "Throughput"]

_WINDOW_SECONDS: Final = (1.0, 0.1, 0.01, 0.001)
# Percentiles of fewer windows are not meaningful.
_MIN_WINDOWS: Final = 20
_BOUND: Final = "scheduled"


@attrs.frozen(kw_only=True)
class Distribution:
    """The distribution of some values.

    Attributes:
        count: The number of values; without values, all other fields are 0.
    """

    count: int = 0
    average: float = 0.0
    p50: float = 0.0
    p90: float = 0.0
    p99: float = 0.0

    @classmethod
    def of(cls, values: Sequence[float]) -> "Distribution":
        """Compute the distribution of some values."""
        if not values:
            return cls()
        ranked = sorted(values)
        return cls(
            count=len(ranked),
            average=math.fsum(ranked) / len(ranked),
            p50=_percentile(ranked, 50),
            p90=_percentile(ranked, 90),
            p99=_percentile(ranked, 99),
        )


@attrs.frozen(kw_only=True)
class Throughput:
    """How many pods were bound per second.

    Attributes:
        average: The average over the whole measurement.
        window_seconds: The length of the windows for the percentiles.
        rates: Pods per second, window by window.
    """

    average: float = 0.0
    p50: float = 0.0
    p90: float = 0.0
    p99: float = 0.0
    window_seconds: float = 0.0
    rates: tuple[float, ...] = ()


@attrs.frozen(kw_only=True)
class Measurement:
    """The measurement of one operation, or of all operations between two.

    Attributes:
        name: The namespace of the measured pods, or the name of the operation.
        nodes: The number of nodes in the end.
        pods: How many measured pods were created.
        scheduled: How many of them were bound.
        throughput: Measured pods per second of the workload's time.
        seconds: The time from the creation of the first measured pod to the last bind.
        busy_seconds: The same time, without skipped waiting.
        attempts: Result -> the number of attempts of any pod.
        attempt_seconds: The durations of attempts, including binding.
        pod_seconds: The times from the creation of measured pods to their bind.
    """

    name: str
    nodes: int
    pods: int
    scheduled: int
    throughput: Throughput
    seconds: float
    busy_seconds: float
    attempts: Mapping[str, int]
    attempt_seconds: Distribution
    pod_seconds: Distribution

    @property
    def busy_throughput(self) -> float:
        """Measured pods per second of work."""
        return self.scheduled / self.busy_seconds if self.busy_seconds else 0.0


class _Open:
    """A measurement that has not ended."""

    def __init__(
        self, name: str, namespaces: frozenset[str], labels: Mapping[str, str]
    ) -> None:
        self.name = name
        self.namespaces = namespaces
        self.labels = labels.items()
        self.created = 0
        self.started_at = 0.0
        self.skipped_at_start = 0.0
        self.ended_at = 0.0
        self.skipped_at_end = 0.0
        self.bound_at = array("d")
        self.pod_seconds = array("d")
        self.attempt_seconds = array("d")
        self.attempts: Counter[str] = Counter()

    def covers(self, pod: Pod) -> bool:
        metadata = pod.metadata
        return metadata.namespace in self.namespaces and (
            not self.labels or self.labels <= metadata.labels.items()
        )


class Meter:
    """Observes a scheduler, and measures between `start` and `stop`.

    Args:
        clock: The workload's time.
        why_pending: Returns the result of an attempt that did not bind a pod:
            ``unschedulable``, ``error``, or None while the pod is still being bound.

    Attributes:
        steps: The number of attempts and bindings; the state of a pod changes only with
            one.
        bound_pods: How many pods were bound.
    """

    def __init__(
        self, clock: PacedClock, why_pending: Callable[[Pod], str | None]
    ) -> None:
        self._clock = clock
        self._why_pending = why_pending
        self._open: _Open | None = None
        self._attempted: Pod | None = None
        # The start of each attempt without a result yet, by the pod's uid.
        self._began: dict[str, float] = {}
        self.steps = 0
        self.bound_pods = 0

    @property
    def is_measuring(self) -> bool:
        """Whether a measurement is running."""
        return self._open is not None

    def start(
        self, name: str, namespaces: Sequence[str], labels: Mapping[str, str]
    ) -> None:
        """Start a measurement.

        Args:
            name: The name of the measurement.
            namespaces: The namespaces of the measured pods.
            labels: The labels of the measured pods.
        """
        self._open = _Open(name, frozenset(namespaces), labels)
        self._attempted = None
        self._began.clear()

    def stop(self, nodes: int) -> Measurement:
        """End the measurement.

        Args:
            nodes: The number of nodes.
        """
        measured, self._open = self._open, None
        assert measured is not None
        seconds = measured.ended_at - measured.started_at if measured.bound_at else 0.0
        skipped = measured.skipped_at_end - measured.skipped_at_start
        return Measurement(
            name=measured.name,
            nodes=nodes,
            pods=measured.created,
            scheduled=len(measured.bound_at),
            throughput=_throughput(measured.bound_at, measured.started_at, seconds),
            seconds=seconds,
            busy_seconds=seconds - skipped,
            attempts=dict(measured.attempts),
            attempt_seconds=Distribution.of(measured.attempt_seconds),
            pod_seconds=Distribution.of(measured.pod_seconds),
        )

    def creating(self, pod: Pod) -> None:
        """Note that a pod is about to be created."""
        measured = self._open
        if measured is not None and measured.covers(pod):
            if not measured.created:
                measured.started_at = self._clock.exact()
                measured.skipped_at_start = self._clock.skipped
            measured.created += 1

    def attempting(self, pod: Pod, _framework: Framework) -> None:
        """Note that an attempt begins."""
        self.steps += 1
        if self._open is not None:
            self._attempted = pod
            self._began[pod.metadata.uid] = self._clock.exact()

    def bound(self, pod: Pod, _node_name: str) -> None:
        """Note that a pod was bound."""
        self.steps += 1
        self.bound_pods += 1
        measured = self._open
        if measured is None:
            return
        # Between the ticks of the clock: most attempts take less than one.
        now = self._clock.exact()
        metadata = pod.metadata
        began = self._began.pop(metadata.uid, None)
        if began is not None:
            measured.attempt_seconds.append(now - began)
            measured.attempts[_BOUND] += 1
        if measured.covers(pod):
            measured.ended_at, measured.skipped_at_end = now, self._clock.skipped
            measured.bound_at.append(now)
            measured.pod_seconds.append(now - (metadata.creation_timestamp or now))

    def recorded(self, _note: EventNote) -> None:
        """Do nothing: events of plugins are not measured."""

    def slow(self, _hook: SlowHook) -> None:
        """Do nothing: slow hooks are not measured."""

    def failed(self, _error: HookError) -> None:
        """Do nothing: failures of hooks are not measured."""

    def turned(self) -> None:
        """Note that a turn of the scheduler has ended, with its attempt."""
        pod, measured = self._attempted, self._open
        self._attempted = None
        if pod is None or measured is None or pod.metadata.uid not in self._began:
            return
        result = self._why_pending(pod)
        if result is not None:
            began = self._began.pop(pod.metadata.uid)
            measured.attempts[result] += 1
            measured.attempt_seconds.append(self._clock.exact() - began)


def _throughput(
    bound_at: Sequence[float], started_at: float, seconds: float
) -> Throughput:
    if not bound_at or seconds <= 0:
        return Throughput()
    window = _window(seconds)
    rates = _rates(bound_at, started_at, seconds, window)
    ranked = sorted(rates)
    return Throughput(
        average=len(bound_at) / seconds,
        p50=_percentile(ranked, 50),
        p90=_percentile(ranked, 90),
        p99=_percentile(ranked, 99),
        window_seconds=window,
        rates=tuple(rates),
    )


def _window(seconds: float) -> float:
    """Return the length of a window: one second as upstream, or less if short."""
    for window in _WINDOW_SECONDS:
        if seconds >= _MIN_WINDOWS * window:
            return window
    return _WINDOW_SECONDS[-1]


def _rates(
    bound_at: Sequence[float], started_at: float, seconds: float, window: float
) -> list[float]:
    """Return the pods per second of each window.

    Like upstream's collector, this merges a window without pods with the next ones up
    to one with pods, so that waiting lowers the rates. The rest after the last complete
    window belongs to that window.
    """
    # Against rounding: 0.3 / 0.1 is less than 3.
    counts = [0] * max(1, math.floor(seconds / window + 1e-9))
    for moment in bound_at:
        counts[min(int((moment - started_at) / window), len(counts) - 1)] += 1
    rates: list[float] = []
    empty = 0
    for number, count in enumerate(counts):
        if not count:
            empty += 1
            continue
        end = seconds if number == len(counts) - 1 else (number + 1) * window
        begin = (number - empty) * window
        rates += [count / (end - begin)] * (empty + 1)
        empty = 0
    return rates


def _percentile(ranked: Sequence[float], percent: int) -> float:
    """Return the percentile of sorted values: that share of them is not larger."""
    # Not interpolated, as upstream (scheduler_perf/util.go).
    return ranked[math.ceil(len(ranked) * percent / 100) - 1]
