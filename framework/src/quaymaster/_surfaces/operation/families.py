"""The metrics by name, with their labels.

Names, labels and buckets are those of kube-scheduler 1.36.2, which
docs/reference/metrics.md lists; `cache_drift_total` and `events_dropped_total` are
ours.
"""

import enum
from collections.abc import Mapping
from typing import Final

import attrs

from quaymaster._clusters.driver.counts import REQUEST_SECONDS
from quaymaster._core.runtime.measures import exponential

__all__ = ["FAMILIES", "Family", "Kind"]

_FROM_100_US: Final = exponential(0.0001, 2, 12)
_FROM_1_MS: Final = exponential(0.001, 2, 15)
_FROM_10_MS: Final = exponential(0.01, 2, 20)
_FINE: Final = exponential(0.00001, 1.5, 20)


class Kind(enum.StrEnum):
    """The type of a metric."""

    COUNTER = "counter"
    GAUGE = "gauge"
    HISTOGRAM = "histogram"


@attrs.frozen
class Family:
    """Metrics of one name.

    Attributes:
        name: The name.
        help: Their description on the page.
        kind: Their type.
        labels: The names of their labels.
        bounds: The upper bounds of the buckets of a histogram.
    """

    name: str
    help: str
    kind: Kind
    labels: tuple[str, ...] = ()
    bounds: tuple[float, ...] = ()


def _scheduler(name: str, kind: Kind, about: str, *labels: str) -> Family:
    return Family(f"scheduler_{name}", about, kind, labels)


def _times(name: str, bounds: tuple[float, ...], about: str, *labels: str) -> Family:
    return Family(f"scheduler_{name}", about, Kind.HISTOGRAM, labels, bounds)


_LISTED: Final = (
    _scheduler(
        "schedule_attempts_total",
        Kind.COUNTER,
        "Attempts to schedule pods, by how they ended.",
        "result",
        "profile",
    ),
    _times(
        "scheduling_attempt_duration_seconds",
        _FROM_1_MS,
        "How long attempts took, with the bind.",
        "result",
        "profile",
    ),
    _times(
        "scheduling_algorithm_duration_seconds",
        _FROM_1_MS,
        "How long it took to find a node, or that there is none.",
    ),
    _times(
        "event_handling_duration_seconds",
        _FROM_100_US,
        "How long it took to handle changes of the cluster.",
        "event",
    ),
    _times("preemption_victims", exponential(1, 2, 7), "Pods evicted for another."),
    _scheduler(
        "preemption_attempts_total", Kind.COUNTER, "How often pods sought victims."
    ),
    _scheduler("pending_pods", Kind.GAUGE, "Pods that wait, by queue.", "queue"),
    _scheduler(
        "inflight_events",
        Kind.GAUGE,
        "Pods that are being scheduled, and events that are kept for them.",
        "event",
    ),
    _scheduler("goroutines", Kind.GAUGE, "Binds under way.", "operation"),
    _times(
        "pod_scheduling_sli_duration_seconds",
        _FROM_10_MS,
        "How long pods waited for their node, from their first attempt on.",
        "attempts",
    ),
    _times(
        "pod_scheduling_attempts",
        exponential(1, 2, 5),
        "How many attempts pods needed.",
    ),
    _scheduler(
        "pod_scheduled_after_flush_total",
        Kind.COUNTER,
        "Pods bound after nothing but time had let them be tried again.",
    ),
    _times(
        "framework_extension_point_duration_seconds",
        _FROM_100_US,
        "How long all plugins of an extension point took.",
        "extension_point",
        "status",
        "profile",
    ),
    _times(
        "plugin_execution_duration_seconds",
        _FINE,
        "How long a plugin took at an extension point.",
        "plugin",
        "extension_point",
        "status",
    ),
    _times(
        "queueing_hint_execution_duration_seconds",
        _FINE,
        "How long queueing hints of plugins took.",
        "plugin",
        "event",
        "hint",
    ),
    _scheduler(
        "queue_incoming_pods_total",
        Kind.COUNTER,
        "Pods that entered a queue, by the cause.",
        "queue",
        "event",
    ),
    _scheduler(
        "queued_entities",
        Kind.GAUGE,
        "Pods without a group, and pod groups, that wait, by queue. Since 1.37.",
        "queue",
        "type",
    ),
    _scheduler(
        "queue_incoming_entities_total",
        Kind.COUNTER,
        "What entered a queue, by the cause. Since 1.37.",
        "queue",
        "event",
        "type",
    ),
    _times(
        "permit_wait_duration_seconds",
        _FROM_1_MS,
        "How long pods waited on Permit.",
        "result",
    ),
    _scheduler("cache_size", Kind.GAUGE, "What the cache holds.", "type"),
    _scheduler(
        "unschedulable_pods",
        Kind.GAUGE,
        "Pods that a plugin has rejected; a pod counts for each of them.",
        "plugin",
        "profile",
    ),
    _scheduler(
        "plugin_evaluation_total",
        Kind.COUNTER,
        "About how often plugins were called.",
        "plugin",
        "extension_point",
        "profile",
    ),
    _times(
        "preemption_goroutines_duration_seconds",
        _FROM_10_MS,
        "How long it took to evict the victims of a pod.",
        "result",
    ),
    _scheduler(
        "preemption_goroutines_execution_total",
        Kind.COUNTER,
        "How often victims of a pod were evicted.",
        "result",
    ),
    _scheduler(
        "podgroup_schedule_attempts_total",
        Kind.COUNTER,
        "Attempts to schedule pod groups, by how they ended.",
        "result",
        "profile",
    ),
    _times(
        "podgroup_scheduling_attempt_duration_seconds",
        _FROM_1_MS,
        "How long attempts for pod groups took.",
        "result",
        "profile",
    ),
    _times(
        "podgroup_scheduling_algorithm_duration_seconds",
        _FROM_1_MS,
        "How long it took to find the nodes of a pod group, or that it does not fit.",
    ),
    _scheduler(
        "workload_preemption_attempts_total",
        Kind.COUNTER,
        "How often pod groups sought victims, by the status of the search.",
        "result",
    ),
    _times(
        "workload_preemption_victims",
        exponential(1, 2, 11),
        "Pods evicted for a pod group.",
    ),
    _scheduler(
        "generated_placements_total",
        Kind.COUNTER,
        "Placements that were generated for pod groups.",
        "profile",
    ),
    _scheduler(
        "placement_evaluations_total",
        Kind.COUNTER,
        "Placements on which pod groups were tried, by result.",
        "result",
        "profile",
    ),
    _times(
        "placement_evaluation_duration_seconds",
        _FROM_1_MS,
        "How long it took to try a pod group on a placement.",
        "result",
        "profile",
    ),
    Family(
        "rest_client_requests_total",
        "Requests to the API server.",
        Kind.COUNTER,
        ("code", "method", "host"),
    ),
    Family(
        "rest_client_request_duration_seconds",
        "How long requests to the API server took.",
        Kind.HISTOGRAM,
        ("verb", "host"),
        REQUEST_SECONDS,
    ),
    Family(
        "leader_election_master_status",
        "Whether this process holds the lease (1) or not (0).",
        Kind.GAUGE,
        ("name",),
    ),
    Family(
        "leader_election_slowpath_total",
        "How often the lease had to be read before it was renewed.",
        Kind.COUNTER,
        ("name",),
    ),
    Family(
        "kubernetes_build_info",
        "The version: that of Kubernetes that decisions follow, and ours.",
        Kind.GAUGE,
        ("git_version", "major", "minor", "platform"),
    ),
    Family(
        "events_dropped_total",
        "Events that were not written, since too many waited.",
        Kind.COUNTER,
    ),
    Family(
        "cache_drift_total",
        "Objects that differed between the caches and the API server.",
        Kind.COUNTER,
        ("kind", "difference"),
    ),
)

FAMILIES: Final[Mapping[str, Family]] = {family.name: family for family in _LISTED}
"""All metrics by their name; the library adds those of the process."""
