"""Selects workloads by name and by label."""

import fnmatch
from collections.abc import Iterable, Sequence

from quaymaster._base.errors import Problem
from quaymaster._base.suggestions import did_you_mean
from quaymaster._studies.perf.errors import PerfErrors
from quaymaster._studies.perf.load import Workload

__all__ = ["select"]


def select(
    workloads: Iterable[Workload], names: Sequence[str], labels: Sequence[str]
) -> list[Workload]:
    """Return the workloads that names and labels select.

    Args:
        workloads: All workloads.
        names: Names, names of test cases, or patterns such as ``*/5Nodes``; empty for
            all.
        labels: What labels they must have, or with a leading ``-`` must not have, as
            upstream's ``-perf-scheduling-label-filter`` has it; commas separate them.

    Raises:
        PerfErrors: No workload matches.
    """
    available = list(workloads)
    required = [part for label in labels for part in label.split(",") if part]
    problems = [
        Problem(where=name, message=f"no such workload{_hint(name, available)}")
        for name in names
        if not any(_is_named(workload, name) for workload in available)
    ]
    chosen = [
        workload
        for workload in available
        if (not names or any(_is_named(workload, name) for name in names))
        and all(_has(workload, label) for label in required)
    ]
    if not chosen and not problems:
        message = f"no workload has the labels {', '.join(required)}"
        problems.append(Problem(message=message))
    if problems:
        raise PerfErrors(problems)
    return chosen


def _is_named(workload: Workload, name: str) -> bool:
    case, _, _ = workload.name.partition("/")
    return name in (workload.name, case) or fnmatch.fnmatchcase(workload.name, name)


def _has(workload: Workload, label: str) -> bool:
    return (label.lstrip("+-") in workload.labels) is not label.startswith("-")


def _hint(name: str, workloads: Sequence[Workload]) -> str:
    return did_you_mean(name, [workload.name for workload in workloads])
