"""Reads the metrics of a scheduler, on its thread."""

import platform
from collections import Counter
from collections.abc import Mapping
from importlib.metadata import version
from typing import Any, Final, TypeAlias

from quaymaster._base.versions.kubernetes import RELEASES, Kubernetes
from quaymaster._core.contract.queueing import QueueName
from quaymaster._core.engine.scheduler import Scheduler
from quaymaster._core.runtime.measures import Histograms, Labels, Measured
from quaymaster._core.runtime.metrics import SchedulerMetrics
from quaymaster._surfaces.operation.client_stats import ClientStats

__all__ = ["Readings", "SchedulerReader", "client_readings"]

Readings: TypeAlias = Mapping[str, Mapping[Labels, float | Measured]]
"""Name of a metric -> values of its labels -> number."""

_QUEUES: Final = {
    QueueName.ACTIVE: "active",
    QueueName.BACKOFF: "backoff",
    QueueName.ERROR_BACKOFF: "backoff",
    QueueName.UNSCHEDULABLE: "unschedulable",
    QueueName.INCOMPLETE: "incomplete",
    QueueName.PENDING: "pending",
}
_DRIFTS: Final = [
    (kind, difference)
    for kind in ("Node", "Pod")
    for difference in ("missing", "extra", "changed")
]
_POD: Final = "pod"  # only pods are queued; pod groups are off by default upstream


class SchedulerReader:
    """Reads the numbers of one scheduler.

    Args:
        scheduler: The scheduler.
        metrics: Its counts and durations.
        drift: (kind, difference) -> how often its caches differed.
    """

    def __init__(
        self,
        scheduler: Scheduler,
        metrics: SchedulerMetrics,
        drift: Mapping[tuple[str, str], int],
    ) -> None:
        self._drift = drift
        self._scheduler = scheduler
        self._metrics = metrics
        self._has_entities = scheduler.config.kubernetes.since("1.37")
        # Labels stay with the value 0, because sums over time need them.
        self._rejecting: Counter[Labels] = Counter()
        self._stored: Counter[Labels] = Counter()

    def read(self) -> Readings:
        """Return the current numbers."""
        readings = {
            f"scheduler_{name}": values
            for part in (
                self._counted(),
                self._timed(),
                self._held(),
                self._of_groups(),
            )
            for name, values in part.items()
        }
        drift: dict[tuple[str, str], int] = dict.fromkeys(_DRIFTS, 0)
        readings["cache_drift_total"] = _values(drift | dict(self._drift))
        return readings

    def _counted(self) -> Readings:
        metrics, incoming = self._metrics, self._scheduler.queue.incoming
        entities: Readings = {}
        if self._has_entities:
            by_type = {(*labels, _POD): count for labels, count in incoming.items()}
            entities = {"queue_incoming_entities_total": _values(by_type)}
        return {
            **entities,
            "schedule_attempts_total": _counts(metrics.attempts),
            "preemption_attempts_total": {(): metrics.preemption_attempts},
            "pod_scheduled_after_flush_total": {(): metrics.after_flush},
            "queue_incoming_pods_total": _values(incoming),
            "plugin_evaluation_total": dict(metrics.calls),
            "preemption_goroutines_execution_total": _counts(metrics.preemptions),
        }

    def _timed(self) -> Readings:
        metrics = self._metrics
        return {
            "scheduling_attempt_duration_seconds": _measured(metrics.attempts),
            "scheduling_algorithm_duration_seconds": {(): metrics.algorithm.measured()},
            "event_handling_duration_seconds": _measured(metrics.events),
            "preemption_victims": {(): metrics.victims.measured()},
            "pod_scheduling_sli_duration_seconds": _measured(metrics.sli),
            "pod_scheduling_attempts": {(): metrics.pod_attempts.measured()},
            "framework_extension_point_duration_seconds": _measured(metrics.points),
            "plugin_execution_duration_seconds": _measured(metrics.plugins),
            "queueing_hint_execution_duration_seconds": _measured(metrics.hints),
            "permit_wait_duration_seconds": _measured(metrics.permits),
            "preemption_goroutines_duration_seconds": _measured(metrics.preemptions),
        }

    def _of_groups(self) -> Readings:
        """Return the numbers about groups, if their feature gates are on."""
        metrics, kubernetes = self._metrics, self._scheduler.config.kubernetes
        if not kubernetes.enabled("GenericWorkload"):
            return {}
        readings: Readings = {
            "podgroup_schedule_attempts_total": _counts(metrics.group_attempts),
            "podgroup_scheduling_attempt_duration_seconds": _measured(
                metrics.group_attempts
            ),
            "podgroup_scheduling_algorithm_duration_seconds": {
                (): metrics.group_algorithm.measured()
            },
        }
        if kubernetes.enabled("TopologyAwareWorkloadScheduling"):
            return {
                **readings,
                "generated_placements_total": dict(metrics.generated_placements),
                "placement_evaluations_total": _counts(metrics.placements),
                "placement_evaluation_duration_seconds": _measured(metrics.placements),
            }
        return readings

    def _held(self) -> Readings:
        """Count the pods in queues and caches."""
        scheduler = self._scheduler
        waiting = Counter[Labels]()
        self._rejecting = Counter(dict.fromkeys(self._rejecting, 0))
        for queued in scheduler.queue:
            assert queued.queue is not None, "it is queued"
            label = "gated" if queued.is_gated else _QUEUES[queued.queue]
            waiting[(label,)] += 1
            profile = queued.pod.spec.scheduler_name
            for plugin in queued.rejectors:
                self._rejecting[plugin, profile] += 1
        self._stored = Counter(dict.fromkeys(self._stored, 0))
        for label, count in scheduler.queue.in_flight_events().items():
            self._stored[(label,)] = count
        self._stored[("PodPopped",)] = len(scheduler.queue.in_flight)
        labels = ("active", "backoff", "unschedulable", "gated")
        cache = scheduler.cache
        entities: Readings = {}
        if self._has_entities:
            by_type = {(label, _POD): waiting[(label,)] for label in labels}
            entities = {"queued_entities": _values(by_type)}
        return {
            **entities,
            "pending_pods": {(label,): waiting[(label,)] for label in labels},
            "unschedulable_pods": dict(self._rejecting),
            "inflight_events": dict(self._stored),
            "goroutines": {("binding",): scheduler.binds_in_flight},
            "cache_size": {
                ("nodes",): len(scheduler.snapshot),
                ("pods",): len(cache),
                ("assumed_pods",): cache.assumed_count,
            },
        }


def client_readings(stats: ClientStats, kubernetes: Kubernetes) -> Readings:
    """Return the numbers that do not need the engine.

    Args:
        stats: The counts of requests, and the lease.
        kubernetes: The emulated version of Kubernetes.
    """
    major, minor = kubernetes.version.split(".")
    release = RELEASES[kubernetes.version].patch
    ours = f"v{release}+quaymaster-{version('quaymaster')}"
    where = f"{platform.system().lower()}/{platform.machine()}"
    readings: dict[str, Mapping[Labels, float | Measured]] = {
        "rest_client_requests_total": _values(stats.requests),
        "rest_client_request_duration_seconds": _values(stats.durations),
        "events_dropped_total": {(): stats.dropped_events},
        "kubernetes_build_info": {(ours, major, minor, where): 1},
    }
    if stats.lease_name:
        name = (stats.lease_name,)
        readings["leader_election_master_status"] = {name: int(stats.is_leader)}
        readings["leader_election_slowpath_total"] = {name: stats.slow_renewals}
    return readings


def _values(numbers: Mapping[Any, float | Measured]) -> dict[Labels, float | Measured]:
    return dict(numbers)


def _measured(histograms: Histograms) -> dict[Labels, float | Measured]:
    return {labels: histogram.measured() for labels, histogram in histograms.items()}


def _counts(histograms: Histograms) -> dict[Labels, float | Measured]:
    return {
        labels: sum(histogram.measured().counts)
        for labels, histogram in histograms.items()
    }
