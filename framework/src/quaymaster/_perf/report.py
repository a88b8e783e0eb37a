"""Results of workloads as plain data, and as rows of a table."""

from collections.abc import Iterable, Iterator
from typing import Final

import attrs

from quaymaster._perf.measurement import Distribution, Measurement
from quaymaster._perf.runner import DONE, Outcome

__all__ = [
    "COLUMNS",
    "as_document",
    "is_beaten",
    "is_good",
    "rows",
]

COLUMNS: Final = (
    "WORKLOAD",
    "NODES",
    "PODS",
    "PODS/S",
    "BUSY",
    "P50",
    "P90",
    "P99",
    "WINDOW",
    "THRESHOLD",
    "RATIO",
    "ATTEMPT P99",
    "PEAK RSS",
)
_TENFOLD: Final = 10.0


def as_document(outcomes: Iterable[Outcome]) -> dict[str, object]:
    """The results in the form of ``--json``: one entry per measurement."""
    return {
        "version": "v1",
        "results": [entry for outcome in outcomes for entry in _entries(outcome)],
    }


def rows(outcomes: Iterable[Outcome]) -> Iterator[tuple[str, ...]]:
    """The results as rows under `COLUMNS`."""
    for outcome in outcomes:
        for one in outcome.measurements:
            rates = one.throughput
            yield (
                _name(outcome, one),
                str(one.nodes),
                _pods(one),
                f"{rates.average:.0f}",
                f"{one.busy_throughput:.0f}",
                f"{rates.p50:.0f}",
                f"{rates.p90:.0f}",
                f"{rates.p99:.0f}",
                f"{rates.window_seconds:.3g}s",
                f"{outcome.threshold:g}" if outcome.threshold else "-",
                _ratio_text(outcome, one),
                f"{one.attempt_seconds.p99 * 1000:.2f}ms",
                f"{outcome.peak_rss_bytes / 2**20:.0f}MiB",
            )


def is_beaten(outcome: Outcome) -> bool:
    """Whether all measurements are above the threshold, if there is one."""
    return all(
        not outcome.threshold or one.throughput.average > outcome.threshold
        for one in outcome.measurements
    )


def is_good(outcome: Outcome) -> bool:
    """Whether the workload was done, and is above its threshold."""
    return outcome.status == DONE and is_beaten(outcome)


def _name(outcome: Outcome, measurement: Measurement) -> str:
    if len(outcome.measurements) == 1:
        return outcome.workload
    return f"{outcome.workload} ({measurement.name})"


def _pods(measurement: Measurement) -> str:
    if measurement.scheduled == measurement.pods:
        return str(measurement.pods)
    return f"{measurement.scheduled} of {measurement.pods}"


def _ratio(outcome: Outcome, measurement: Measurement) -> float | None:
    if not outcome.threshold:
        return None
    return measurement.throughput.average / outcome.threshold


def _ratio_text(outcome: Outcome, measurement: Measurement) -> str:
    ratio = _ratio(outcome, measurement)
    if ratio is None:
        return "-"
    mark = " tenfold" if ratio >= _TENFOLD else " below" if ratio <= 1 else ""
    return f"{ratio:.1f}{mark}"


def _entries(outcome: Outcome) -> Iterator[dict[str, object]]:
    common = {
        "workload": outcome.workload,
        "topic": outcome.topic,
        "status": outcome.status,
    }
    about: dict[str, object] = {
        "threshold": outcome.threshold or None,
        "peakRssBytes": outcome.peak_rss_bytes,
        "ignoredFeatureGates": dict(outcome.ignored_gates),
        "notes": list(outcome.notes),
    }
    if outcome.reason:
        about["reason"] = outcome.reason
    if not outcome.measurements:
        yield {**common, **about}
    for one in outcome.measurements:
        yield {**common, **_measured(outcome, one), **about}


def _measured(outcome: Outcome, one: Measurement) -> dict[str, object]:
    rates = one.throughput
    ratio = _ratio(outcome, one)
    return {
        "name": one.name,
        "nodes": one.nodes,
        "pods": one.pods,
        "scheduled": one.scheduled,
        "throughput": {
            "average": rates.average,
            "p50": rates.p50,
            "p90": rates.p90,
            "p99": rates.p99,
            "windowSeconds": rates.window_seconds,
            "rates": list(rates.rates),
        },
        "busyThroughput": one.busy_throughput,
        "seconds": one.seconds,
        "busySeconds": one.busy_seconds,
        "ratio": ratio,
        "tenfold": None if ratio is None else ratio >= _TENFOLD,
        "attempts": dict(one.attempts),
        "attemptSeconds": _distribution(one.attempt_seconds),
        "podSchedulingSeconds": _distribution(one.pod_seconds),
    }


def _distribution(distribution: Distribution) -> dict[str, float]:
    return attrs.asdict(distribution)
