"""The tables of an autoscaler: its nodes, and what they cost each workload."""

from collections.abc import Iterator, Sequence
from datetime import timedelta
from typing import Final

import numpy as np

from quaymaster._core.config.duration import format_duration
from quaymaster._studies.simulation.autoscaler import AutoscaledNode
from quaymaster._studies.simulation.observed import ObservedRun
from quaymaster._studies.simulation.scaled_costs import ScaledCourse, WorkloadCourse
from quaymaster._surfaces.reporting.tables import ReportTable

__all__ = ["scaled_tables"]

_NODES: Final = (
    *("Node", "Group", "Ordered", "Ready", "Removed", "Hours", "Cost"),
    *("Added for", "Removed for"),
)
_WORKLOADS: Final = (
    *("Workload", "Pods", "Cost", "% of all", "Pending"),
    *("Waited, mean", "Waited, 99 of 100", "Waited, most"),
)
_UNUSED: Final = "(requested by no pod)"


def scaled_tables(runs: Sequence[ObservedRun]) -> Iterator[ReportTable]:
    """Yield the tables of each run that has an autoscaler.

    Args:
        runs: The runs of a page.
    """
    for run in runs:
        if run.scaled is None or not run.scaled.nodes:
            continue
        of_run = f", {run.name}" if run.name and len(runs) > 1 else ""
        yield ReportTable(
            title=f"Nodes of the autoscaler{of_run}",
            columns=_NODES,
            rows=tuple(map(_node, run.scaled.nodes)),
        )
        yield ReportTable(
            title=f"Cost and waiting time of workloads{of_run}",
            columns=_WORKLOADS,
            rows=tuple(_workloads(run.scaled)),
        )


def _node(node: AutoscaledNode) -> tuple[str | float | None, ...]:
    return (
        node.node,
        node.group,
        _time(node.ordered),
        _time(node.ready),
        _time(node.removed),
        round(node.hours, 2),
        _money(node.cost),
        node.added_for,
        node.removed_for,
    )


def _workloads(
    course: ScaledCourse,
) -> Iterator[tuple[str | int | float | None, ...]]:
    costs = [each.cost for each in course.workloads if each.cost is not None]
    total = sum(costs) + (course.unused or 0.0)
    for each in course.workloads:
        yield _workload(each, total)
    if course.unused is not None:
        share = _percent(course.unused, total)
        yield _UNUSED, None, _money(course.unused), share, None, None, None, None


def _workload(
    course: WorkloadCourse, total: float
) -> tuple[str | int | float | None, ...]:
    waits = course.waits
    p99 = float(np.percentile(waits, 99, method="higher"))
    return (
        course.workload,
        course.pods,
        _money(course.cost),
        _percent(course.cost, total),
        course.pending,
        _time(sum(waits) / len(waits)),
        _time(p99),
        _time(max(waits)),
    )


def _percent(part: float | None, total: float) -> float | None:
    return None if part is None or not total else round(100 * part / total, 1)


def _money(cost: float | None) -> float | None:
    return None if cost is None else round(cost, 4)


def _time(seconds: float | None) -> str | None:
    if seconds is None:
        return None
    return format_duration(timedelta(seconds=round(seconds, 3)))
