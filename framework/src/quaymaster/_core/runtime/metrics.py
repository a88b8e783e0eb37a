"""The counters and timings of a scheduler, with upstream's buckets.

The engine's thread keeps only numbers here; `quaymaster._surfaces.operation` renders
them as Prometheus' text on request. Mirrors Kubernetes v1.36,
``pkg/scheduler/metrics/metrics.go``.
"""

import math
import time
from collections import Counter
from collections.abc import Callable
from typing import Final

from quaymaster._core.runtime.measures import Histogram, Histograms, Labels, exponential

__all__ = ["ONE_IN", "Sampling", "SchedulerMetrics"]

ONE_IN: Final = 10
"""Upstream samples one in so many durations of plugins. Here, one in so many changes
and queueing hints is measured, and counts for all of them."""

_FROM_1_MS: Final = exponential(0.001, 2, 15)
_PLUGIN: Final = exponential(0.00001, 1.5, 20)


class Sampling:
    """The hooks that are being measured; implements `TimeLimit`.

    Attributes:
        weight: The number of attempts that a measured attempt represents.
        states: The ids of the cycle states whose PreBind and Bind are measured,
            wherever they run.
        slow_seconds: How long a hook may take.
        seconds: The same, or below 0 while hooks on the engine's thread are measured.
    """

    __slots__ = ("seconds", "slow_seconds", "states", "weight")

    def __init__(self) -> None:
        self.weight = 1
        self.states: set[int] = set()
        self.slow_seconds = self.seconds = math.inf

    def limit(self, slow_seconds: float) -> None:
        """Set how long a hook may take."""
        self.slow_seconds = self.seconds = slow_seconds

    @property
    def is_on(self) -> bool:
        """Whether hooks on the engine's thread are measured."""
        return self.seconds < 0

    def begin(self, weight: int) -> None:
        """Start measuring hooks; each measurement counts ``weight`` times."""
        self.weight = weight
        # Every call is longer than that, so all calls reach the listener.
        self.seconds = -1.0

    def end(self) -> None:
        """Stop measuring hooks."""
        self.seconds = self.slow_seconds


class SchedulerMetrics:
    """Numbers about the work of one scheduler; its thread writes and reads them.

    Args:
        now: Returns the time for all measurements, in seconds.

    Attributes:
        now: Returns the time for all measurements, in seconds.
        sampling: The hooks that are being measured.
        attempts: (result, profile) -> how long attempts took.
        algorithm: How long the search for a node took.
        events: (event,) -> how long it took to handle changes of the cluster.
        preemption_attempts: How often PostFilter plugins were called to make room.
        victims: How many pods each preemption chose to evict.
        group_preemption_attempts: (status,) -> how often PodGroupPostFilter plugins
            were called to make room for a group.
        group_victims: How many pods each preemption for a group chose to evict.
        preemptions: (result,) -> how long evictions took.
        sli: (attempts,) -> how long bound pods had waited since their first attempt.
        pod_attempts: How many attempts bound pods had needed.
        after_flush: How many pods were bound after a flush of unschedulable pods.
        points: (extension point, status, profile) -> how long all its plugins took.
            Only some attempts are measured, and these count for the others.
        plugins: (plugin, extension point, status) -> how long a plugin took.
        hints: (plugin, event, hint) -> how long queueing hints took.
        permits: (result,) -> how long pods waited on Permit.
        group_attempts: (result, profile) -> how long the cycles of groups took.
        group_algorithm: How long the search for the nodes of a group took.
        generated_placements: (profile,) -> how many placements were generated.
        placements: (result, profile) -> how long groups were tried on placements.
        calls: (plugin, extension point, profile) -> about how often it was called.
    """

    def __init__(self, now: Callable[[], float] = time.perf_counter) -> None:
        self.now = now
        self.sampling = Sampling()
        self.attempts = Histograms(_FROM_1_MS)
        self.algorithm = Histogram(_FROM_1_MS)
        # The buckets of upstream's ``pkg/scheduler/metrics/metrics.go``, for its
        # dashboards.
        self.events = Histograms(exponential(0.0001, 2, 12))
        self.preemption_attempts = 0
        self.victims = Histogram(exponential(1, 2, 7))
        self.group_preemption_attempts: Counter[Labels] = Counter()
        self.group_victims = Histogram(exponential(1, 2, 11))
        self.preemptions = Histograms(exponential(0.01, 2, 20))
        self.sli = Histograms(exponential(0.01, 2, 20))
        self.pod_attempts = Histogram(exponential(1, 2, 5))
        self.after_flush = 0
        self.points = Histograms(exponential(0.0001, 2, 12))
        self.plugins = Histograms(_PLUGIN)
        self.hints = Histograms(_PLUGIN)
        self.permits = Histograms(_FROM_1_MS)
        self.group_attempts = Histograms(_FROM_1_MS)
        self.group_algorithm = Histogram(_FROM_1_MS)
        self.generated_placements: Counter[Labels] = Counter()
        self.placements = Histograms(_FROM_1_MS)
        self.calls: Counter[Labels] = Counter()

    def fold(self) -> None:
        """Count the stored values of all histograms; call it from time to time."""
        self.algorithm.fold()
        self.pod_attempts.fold()
        for histograms in (self.attempts, self.sli):
            for histogram in histograms.values():
                histogram.fold()
