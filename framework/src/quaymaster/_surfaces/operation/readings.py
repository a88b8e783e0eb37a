"""Reads the metrics of a scheduler, on its thread."""

import platform
from collections import Counter
from collections.abc import Mapping, Sequence
from importlib.metadata import version
from itertools import product
from typing import Any, Final, TypeAlias

from quaymaster._api.objects.groups import PodGroup
from quaymaster._base.versions.kubernetes import RELEASES, Kubernetes
from quaymaster._core.contract.queueing import QueueName
from quaymaster._core.engine.scheduler import Scheduler
from quaymaster._core.queue.queue_record import QueueRecord
from quaymaster._core.queue.queued_group import QueuedGroup
from quaymaster._core.queue.queued_pod import QueuedPod
from quaymaster._core.runtime.measures import Histograms, Labels, Measured
from quaymaster._core.runtime.metrics import SchedulerMetrics
from quaymaster._surfaces.operation.client_stats import ClientStats

__all__ = ["Readings", "SchedulerReader", "client_readings"]

Readings: TypeAlias = Mapping[str, Mapping[Labels, float | Measured]]
"""Name of a metric -> values of its labels -> number."""

_QUEUES: Final = {
    QueueName.ACTIVE: "active",
    QueueName.BACKOFF: "backoff",
    # Upstream has one label for both.
    QueueName.ERROR_BACKOFF: "backoff",
    QueueName.UNSCHEDULABLE: "unschedulable",
}
_DRIFTS: Final = [
    (kind, difference)
    for kind in ("Node", "Pod")
    for difference in ("missing", "extra", "changed")
]
_POD: Final = "pod"
_POD_GROUP: Final = "podgroup"


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
        kubernetes = scheduler.config.kubernetes
        self._has_entities = kubernetes.since("1.37")
        self._has_groups = kubernetes.enabled("GenericWorkload")
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
            for labels, count in self._scheduler.queue.entered_groups().items():
                by_type[(*labels, _POD_GROUP)] = count
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
        if not self._has_groups:
            return {}
        readings: Readings = {
            "podgroup_schedule_attempts_total": _counts(metrics.group_attempts),
            "podgroup_scheduling_attempt_duration_seconds": _measured(
                metrics.group_attempts
            ),
            "podgroup_scheduling_algorithm_duration_seconds": {
                (): metrics.group_algorithm.measured()
            },
            "workload_preemption_attempts_total": dict(
                metrics.group_preemption_attempts
            ),
            "workload_preemption_victims": {(): metrics.group_victims.measured()},
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
        types = Counter[Labels]()
        self._rejecting = Counter(dict.fromkeys(self._rejecting, 0))
        for record in scheduler.queue.records():
            label, pods = _queue_label(record), _pods(record)
            waiting[(label,)] += len(pods)
            types[(label, _type(record))] += 1
            for queued, plugin in ((q, name) for q in pods for name in q.rejectors):
                self._rejecting[plugin, queued.pod.spec.scheduler_name] += 1
        self._stored = Counter(dict.fromkeys(self._stored, 0))
        for label, count in scheduler.queue.in_flight_events().items():
            self._stored[(label,)] = count
        self._stored[("PodPopped",)] = len(scheduler.queue.in_flight)
        labels = ("active", "backoff", "unschedulable", "gated")
        cache = scheduler.cache
        entities: Readings = {}
        if self._has_entities:
            kinds = [_POD, _POD_GROUP] if self._has_groups else [_POD]
            by_type = {key: types[key] for key in product(labels, kinds)}
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


def _pods(record: QueueRecord) -> Sequence[QueuedPod]:
    if isinstance(record, QueuedGroup):
        return record.pods
    assert isinstance(record, QueuedPod), "only pods and groups are queued"
    return [record]


def _queue_label(record: QueueRecord) -> str:
    assert record.queue is not None, "it is queued"
    return "gated" if record.is_gated else _QUEUES[record.queue]


def _type(record: QueueRecord) -> str:
    """Return the type of an entity; upstream has no label for composite groups."""
    if not isinstance(record, QueuedGroup):
        return _POD
    return _POD_GROUP if isinstance(record.group, PodGroup) else ""


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
