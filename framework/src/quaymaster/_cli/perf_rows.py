"""Prints the results of ``perf`` as CSV."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final

from quaymaster._base.versions.kubernetes import Kubernetes
from quaymaster._cli.csv_rows import print_csv
from quaymaster._studies.perf.against import Compared
from quaymaster._studies.perf.left_out import why_left_out
from quaymaster._studies.perf.load import Workload
from quaymaster._studies.perf.report import entries
from quaymaster._studies.perf.runner import Outcome

__all__ = ["print_results_csv", "print_workloads_csv"]

_KEYS: Final = (
    *("workload", "topic", "run", "status", "reason", "name", "nodes", "pods"),
    *("scheduled", "throughput", "busyThroughput", "seconds", "busySeconds"),
    *("waitedShare", "ratio", "tenfold", "attempts", "attemptSeconds"),
    *("podSchedulingSeconds", "threshold", "peakRssBytes", "ignoredFeatureGates"),
    *("notes", "against"),
)
_MEASUREMENT: Final = ("workload", "name")


def print_results_csv(
    outcomes: Sequence[Outcome], compared: Sequence[Compared]
) -> None:
    """Print a line of CSV for each measurement of each run.

    Args:
        outcomes: The results.
        compared: Their comparisons with an earlier result.
    """
    print_csv(_rows(outcomes, compared), _KEYS)


def print_workloads_csv(workloads: Iterable[Workload], kubernetes: Kubernetes) -> None:
    """Print a line of CSV for each workload of ``--list``."""
    documents = [
        {
            "workload": workload.name,
            "threshold": workload.threshold or None,
            "labels": list(workload.labels),
            "file": str(workload.file),
            "leftOut": why_left_out(workload, kubernetes) or None,
        }
        for workload in workloads
    ]
    print_csv(documents, ("workload", "threshold", "labels", "file", "leftOut"))


def _rows(
    outcomes: Sequence[Outcome], compared: Iterable[Compared]
) -> Iterator[Mapping[str, object]]:
    comparisons = {}
    for comparison in compared:
        document = comparison.as_document()
        key = tuple(document.pop(name) for name in _MEASUREMENT)
        comparisons[key] = document
    for outcome in outcomes:
        for entry in entries(outcome):
            key = tuple(entry.get(name) for name in _MEASUREMENT)
            yield {**entry, "against": comparisons.get(key)}
