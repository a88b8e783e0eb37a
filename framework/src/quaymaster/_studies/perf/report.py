"""Results of workloads as plain data, and as rows of a table."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Final

import attrs

from quaymaster._studies.perf.against import Compared
from quaymaster._studies.perf.measurement import Distribution, Measurement
from quaymaster._studies.perf.runner import DONE, LEFT_OUT, Outcome

__all__ = [
    "COLUMNS",
    "are_all_good",
    "as_document",
    "entries",
    "is_beaten",
    "is_good",
    "rows",
    "unfinished",
    "waits",
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
_MUCH: Final = 0.2  # of the time


def as_document(
    outcomes: Iterable[Outcome], compared: Iterable[Compared] = ()
) -> dict[str, object]:
    """The results in the form of ``--json``: one entry per measurement.

    Args:
        outcomes: The results.
        compared: Comparisons of some of them with an earlier result.
    """
    document: dict[str, object] = {
        "version": "v1",
        "results": [entry for outcome in outcomes for entry in entries(outcome)],
    }
    if against := [comparison.as_document() for comparison in compared]:
        document["against"] = against
    return document


def rows(outcomes: Iterable[Outcome]) -> Iterator[tuple[str, ...]]:
    """The results as rows under `COLUMNS`."""
    for outcome in outcomes:
        for measurement in outcome.measurements:
            rates = measurement.throughput
            yield (
                _name(outcome, measurement),
                str(measurement.nodes),
                _pods(measurement),
                f"{rates.average:.0f}",
                f"{measurement.busy_throughput:.0f}",
                f"{rates.p50:.0f}",
                f"{rates.p90:.0f}",
                f"{rates.p99:.0f}",
                f"{rates.window_seconds:.3g}s",
                f"{outcome.threshold:g}" if outcome.threshold else "-",
                _ratio_text(outcome, measurement),
                f"{measurement.attempt_seconds.p99 * 1000:.2f}ms",
                f"{outcome.peak_rss_bytes / 2**20:.0f}MiB",
            )


def waits(outcomes: Iterable[Outcome]) -> Iterator[str]:
    """Yield a sentence for each workload whose speed depends on its own waiting."""
    for outcome in outcomes:
        for measurement in outcome.measurements:
            waited = (
                1 - measurement.busy_seconds / measurement.seconds
                if measurement.seconds
                else 0.0
            )
            if waited >= _MUCH and outcome.run == 1:
                yield (
                    f"{_name(outcome, measurement)} is paced by its own definition: "
                    f"for {waited:.0%} of its {measurement.seconds:.3g} s there was "
                    "nothing to do but to wait for its operations, or for the ends of "
                    "pods; BUSY tells how fast the scheduler is"
                )


def is_beaten(outcome: Outcome) -> bool:
    """Whether all measurements are above the threshold, if there is one."""
    return all(
        not outcome.threshold or measurement.throughput.average > outcome.threshold
        for measurement in outcome.measurements
    )


def is_good(outcome: Outcome) -> bool:
    """Whether the workload was completed, and is above its threshold."""
    return outcome.status == DONE and is_beaten(outcome)


def are_all_good(outcomes: Sequence[Outcome]) -> bool:
    """Whether at least one workload was played and all played ones are good."""
    played = [outcome for outcome in outcomes if outcome.status != LEFT_OUT]
    return bool(played) and all(map(is_good, played))


def unfinished(outcomes: Iterable[Outcome]) -> Iterator[str]:
    """Explain per test case why its workloads are not done or left out."""
    workloads: dict[tuple[str, str, str], list[str]] = {}
    for outcome in outcomes:
        if outcome.status == DONE:
            continue
        case, _, size = outcome.workload.partition("/")
        is_left_out = outcome.status == LEFT_OUT
        name = case if is_left_out else outcome.workload
        sizes = workloads.setdefault((name, outcome.status, outcome.reason), [])
        if size not in sizes:
            sizes.append(size)
    for (name, status, reason), sizes in workloads.items():
        listed = f" ({', '.join(sizes)})" if status == LEFT_OUT else ""
        yield f"{name}{listed}: {status}: {reason}"


def _name(outcome: Outcome, measurement: Measurement) -> str:
    name = outcome.workload
    if len(outcome.measurements) > 1:
        name += f" ({measurement.name})"
    return name if outcome.run == 1 else f"{name} #{outcome.run}"


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


def entries(outcome: Outcome) -> Iterator[dict[str, object]]:
    """Yield the entry of each measurement, or one entry if nothing was measured."""
    common = {
        "workload": outcome.workload,
        "topic": outcome.topic,
        "run": outcome.run,
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
    for measurement in outcome.measurements:
        yield {**common, **_measured(outcome, measurement), **about}


def _measured(outcome: Outcome, measurement: Measurement) -> dict[str, object]:
    rates = measurement.throughput
    ratio = _ratio(outcome, measurement)
    return {
        "name": measurement.name,
        "nodes": measurement.nodes,
        "pods": measurement.pods,
        "scheduled": measurement.scheduled,
        "throughput": {
            "average": rates.average,
            "p50": rates.p50,
            "p90": rates.p90,
            "p99": rates.p99,
            "windowSeconds": rates.window_seconds,
            "rates": list(rates.rates),
        },
        "busyThroughput": measurement.busy_throughput,
        "seconds": measurement.seconds,
        "busySeconds": measurement.busy_seconds,
        "waitedShare": 1 - measurement.busy_seconds / measurement.seconds
        if measurement.seconds
        else 0.0,
        "ratio": ratio,
        "tenfold": None if ratio is None else ratio >= _TENFOLD,
        "attempts": dict(measurement.attempts),
        "attemptSeconds": _distribution(measurement.attempt_seconds),
        "podSchedulingSeconds": _distribution(measurement.pod_seconds),
    }


def _distribution(distribution: Distribution) -> dict[str, float]:
    return attrs.asdict(distribution)
