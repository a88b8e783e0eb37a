"""The result of ``simulate``."""

from msgspec import UNSET, UnsetType

from quaymaster._cli.documents.autoscaler import AutoscalerPart
from quaymaster._cli.documents.capacity import RoomDocument
from quaymaster._cli.documents.parts import (
    DocumentPart,
    PodGroupPart,
    PodReasonsPart,
    PreemptedPart,
    UnscheduledPart,
    WarningPart,
)

__all__ = [
    "HookTimingPart",
    "MetricBucketPart",
    "PlacementPart",
    "PluginMetricPart",
    "SimulateDocument",
    "SimulateSummary",
    "SimulationPart",
    "TimingsPart",
]


class PlacementPart(DocumentPart, frozen=True):
    """A pod that got a node.

    Attributes:
        pod: Its namespace and name.
        node: The name of the node.
        scheduler: The profile that placed it.
        attempts: How often it was tried.
        created: When it entered the simulation, in seconds since the beginning.
        bound: When it was bound.
        finished: When its containers had all ended; null if they run on.
    """

    pod: str
    node: str
    scheduler: str
    attempts: int
    created: float
    bound: float
    finished: float | None


class SimulateSummary(DocumentPart, frozen=True):
    """The numbers of a simulation.

    Attributes:
        pods: How many pods had to be scheduled.
        placed: How many of them got a node.
        unscheduled: How many of them got none.
        kept: How many pods had a node in the input and kept it.
        nodes: How many nodes there are.
        start: The date and time at the beginning.
        makespan: The virtual time until the last pod was bound or ended, in seconds.
    """

    pods: int
    placed: int
    unscheduled: int
    kept: int
    nodes: int
    start: str
    makespan: float


class HookTimingPart(DocumentPart, frozen=True):
    """The durations of the calls of one hook of one plugin, in seconds.

    Attributes:
        plugin: The plugin's name.
        hook: The hook.
        calls: The number of calls.
        seconds: Their total duration.
        share: Their part of the time of all hooks, from 0 to 1.
        mean: The mean duration.
        p50: The median duration.
        p99: The 99th percentile of the durations.
        longest: The longest call.
    """

    plugin: str
    hook: str
    calls: int
    seconds: float
    share: float
    mean: float
    p50: float
    p99: float
    longest: float


class MetricBucketPart(DocumentPart, frozen=True):
    """A bucket of a histogram of a plugin.

    Attributes:
        up_to: The upper bound; null for the last bucket.
        count: How many numbers are in this bucket alone.
    """

    up_to: float | None
    count: int


class PluginMetricPart(DocumentPart, frozen=True):
    """One number of a metric that a plugin has of its own.

    Attributes:
        name: The full name, as on ``/metrics``.
        plugin: The plugin.
        kind: ``counter``, ``gauge`` or ``histogram``.
        labels: The values of its labels.
        value: The number; of a histogram the sum.
        count: How many numbers a histogram has counted; null for others.
        buckets: The buckets of a histogram; null for others.
    """

    name: str
    plugin: str
    kind: str
    labels: dict[str, str]
    value: float
    count: int | None
    buckets: list[MetricBucketPart] | None


class TimingsPart(DocumentPart, frozen=True):
    """The real time of a command and of hooks, in seconds.

    Attributes:
        run: The duration of the whole run.
        calls: The number of calls of hooks.
        seconds: Their total duration.
        hooks: Each hook of each plugin, the costliest first.
        plugin_metrics: The metrics that plugins have of their own, by name.
    """

    run: float
    calls: int
    seconds: float
    hooks: list[HookTimingPart]
    plugin_metrics: list[PluginMetricPart]


class SimulationPart(DocumentPart, frozen=True):
    """The outcome of a simulation.

    Attributes:
        placements: The pods that got a node.
        unscheduled: The pods that got none.
        preempted: The pods that were preempted.
        reasons: The reasons of the pods without a node, the most frequent first.
        summary: The numbers of the simulation.
        warnings: What was left out or assumed.
    """

    placements: list[PlacementPart]
    unscheduled: list[UnscheduledPart]
    preempted: list[PreemptedPart]
    reasons: list[PodReasonsPart]
    summary: SimulateSummary
    warnings: list[WarningPart]


class SimulateDocument(SimulationPart, frozen=True):
    """Where pods go: ``simulate -o json``.

    Attributes:
        placements: The pods that got a node.
        unscheduled: The pods that got none.
        preempted: The pods that were preempted.
        reasons: The reasons of the pods without a node, the most frequent first.
        summary: The numbers of the simulation.
        warnings: What was left out or assumed.
        pod_groups: The PodGroups, if there are any and GenericWorkload is on.
        timings: The durations of hooks, with --timings.
        capacity: The room afterwards, with --capacity.
        autoscaler: The nodes that came and went, with --autoscaler.
    """

    pod_groups: list[PodGroupPart] | UnsetType = UNSET
    timings: TimingsPart | UnsetType = UNSET
    capacity: RoomDocument | UnsetType = UNSET
    autoscaler: AutoscalerPart | UnsetType = UNSET
