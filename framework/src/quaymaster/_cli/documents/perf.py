"""The result of ``perf``."""

from typing import Literal

from msgspec import UNSET, UnsetType

from quaymaster._cli.documents.parts import DocumentPart

__all__ = [
    "ComparedSpeedPart",
    "DistributionPart",
    "PerfDocument",
    "PerfResultPart",
    "ThroughputPart",
]


class ThroughputPart(DocumentPart, frozen=True):
    """The speed of scheduling, in pods per second.

    Attributes:
        average: The average.
        p50: The median of the windows.
        p90: The 90th percentile of the windows.
        p99: The 99th percentile of the windows.
        window_seconds: The length of a window.
        rates: The speed in each window.
    """

    average: float
    p50: float
    p90: float
    p99: float
    window_seconds: float
    rates: list[float]


class DistributionPart(DocumentPart, frozen=True):
    """A distribution of durations, in seconds; without any, all are 0.

    Attributes:
        count: The number of durations.
        average: Their average.
        p50: The median.
        p90: The 90th percentile.
        p99: The 99th percentile.
    """

    count: int
    average: float
    p50: float
    p90: float
    p99: float


class PerfResultPart(DocumentPart, frozen=True):
    """A measurement of a workload, or a workload without one.

    A workload without a measurement has none of the keys that may be missing but
    ``reason``.

    Attributes:
        workload: The workload.
        topic: The topic of the workload's file.
        run: The number of the run, from 1.
        status: Whether it was completed.
        threshold: Upstream's threshold in pods per second; null if there is none.
        peak_rss_bytes: The largest memory of the process.
        ignored_feature_gates: Feature gate without effect -> its value in the file.
        notes: What else a user should know.
        reason: The reason for another status than done.
        name: The name of the measurement.
        nodes: How many nodes there are.
        pods: How many pods were measured.
        scheduled: How many of them got a node.
        throughput: The speed.
        busy_throughput: The speed while there was something to do, in pods per second.
        seconds: The duration of the measurement.
        busy_seconds: The part of it with something to do.
        waited_share: The share of it with nothing to do.
        ratio: The average speed divided by the threshold; null without one.
        tenfold: Whether that is at least 10; null without a threshold.
        attempts: Outcome -> number of attempts.
        attempt_seconds: The durations of attempts.
        pod_scheduling_seconds: The times from the creation to the binding of pods.
    """

    workload: str
    topic: str
    run: int
    status: Literal["done", "incomplete", "failed", "left out"]
    threshold: float | None
    peak_rss_bytes: int
    ignored_feature_gates: dict[str, bool]
    notes: list[str]
    reason: str | UnsetType = UNSET
    name: str | UnsetType = UNSET
    nodes: int | UnsetType = UNSET
    pods: int | UnsetType = UNSET
    scheduled: int | UnsetType = UNSET
    throughput: ThroughputPart | UnsetType = UNSET
    busy_throughput: float | UnsetType = UNSET
    seconds: float | UnsetType = UNSET
    busy_seconds: float | UnsetType = UNSET
    waited_share: float | UnsetType = UNSET
    ratio: float | UnsetType | None = UNSET
    tenfold: bool | UnsetType | None = UNSET
    attempts: dict[str, int] | UnsetType = UNSET
    attempt_seconds: DistributionPart | UnsetType = UNSET
    pod_scheduling_seconds: DistributionPart | UnsetType = UNSET


class ComparedSpeedPart(DocumentPart, frozen=True):
    """A measurement, compared with an earlier one; speeds are in pods per second.

    Attributes:
        workload: The workload.
        name: The name of the measurement.
        before: The earlier speed.
        now: The new speed.
        ratio: The new speed divided by the earlier speed.
        least: The smallest ratio that the spread of the runs allows.
        most: The largest ratio that the spread of the runs allows.
        verdict: What the ratio means.
    """

    workload: str
    name: str
    before: float
    now: float
    ratio: float
    least: float
    most: float
    verdict: Literal["faster", "slower", "noise", "too few runs"]


class PerfDocument(DocumentPart, frozen=True):
    """The speed of scheduling: ``perf --json FILE`` writes it.

    Attributes:
        version: The version of this format.
        results: The measurements.
        against: The comparisons with an earlier file, with --against.
    """

    version: Literal["v1"]
    results: list[PerfResultPart]
    against: list[ComparedSpeedPart] | UnsetType = UNSET
