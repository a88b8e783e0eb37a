"""Prints a simulation's result, in the formats of ``simulate -o``."""

from datetime import timedelta
from typing import Final

from quaymaster._api.objects import Time
from quaymaster._base.errors import counted
from quaymaster._cli.notices import notice_documents
from quaymaster._cli.output import print_line, print_table
from quaymaster._core.config.duration import format_duration
from quaymaster._studies.simulation.results import (
    Placement,
    SimulationResult,
    UnscheduledPod,
)

__all__ = [
    "as_document",
    "duration",
    "print_names",
    "print_result",
    "unscheduled_document",
]

_REASONS: Final = 10
"""How many reasons are listed; every pod may have a different one."""
_LONGEST: Final = timedelta.max.total_seconds() / 2
"""Longer times are shown as this one, which a timedelta can hold."""


def as_document(result: SimulationResult) -> dict[str, object]:
    """The result as plain data, in the form of ``-o json``; times are in seconds."""
    return {
        "placements": [_placement(placement) for placement in result.placements],
        "unscheduled": [unscheduled_document(pod) for pod in result.unscheduled],
        "preempted": [
            {"pod": victim.pod, "by": victim.by, "node": victim.node, "at": victim.at}
            for victim in result.preempted
        ],
        "reasons": [
            {"pods": count, "reasons": list(reasons)}
            for reasons, count in result.reasons()
        ],
        "summary": {
            "pods": result.pods,
            "placed": len(result.placements),
            "unscheduled": len(result.unscheduled),
            "nodes": result.nodes,
            "start": str(Time(result.started)),
            "makespan": result.makespan,
        },
        "warnings": notice_documents(result.notices),
    }


def print_names(result: SimulationResult) -> None:
    """Print each pod as kubectl names it; placed pods come first."""
    keys = [placement.pod for placement in result.placements]
    keys += [pod.pod for pod in result.unscheduled]
    for key in keys:
        print_line(f"pod/{key.rpartition('/')[2]}")


def print_result(result: SimulationResult, *, wide: bool) -> None:
    """Print the result as tables.

    Args:
        result: The result.
        wide: Whether to print more columns for each pod.
    """
    _print_placements(result, wide)
    _print_preempted(result, wide)
    _print_unscheduled(result, wide)
    print_line(
        f"{len(result.placements)} of {result.pods} pods placed on "
        f"{counted(result.nodes, 'node')}, {len(result.unscheduled)} unscheduled"
    )
    reasons = result.reasons()
    for names, count in reasons[:_REASONS]:
        print_line(f"{counted(count, 'pod')}: {', '.join(names)}")
    if len(reasons) > _REASONS:
        rest = sum(count for _, count in reasons[_REASONS:])
        print_line(f"{counted(rest, 'pod')}: other reasons")
    if result.makespan:
        print_line(f"makespan: {duration(result.makespan)} of virtual time")


def duration(seconds: float) -> str:
    """A length of time such as ``1m30s``."""
    return format_duration(timedelta(seconds=min(seconds, _LONGEST)))


def _print_placements(result: SimulationResult, wide: bool) -> None:
    columns = ["POD", "NODE"]
    rows = [[placement.pod, placement.node] for placement in result.placements]
    if wide:
        columns += ["SCHEDULER", "ATTEMPTS", "CREATED", "BOUND", "FINISHED"]
        for row, placement in zip(rows, result.placements, strict=True):
            finished = (
                "-" if placement.finished is None else duration(placement.finished)
            )
            times = [duration(placement.created), duration(placement.bound), finished]
            row += [placement.scheduler, str(placement.attempts), *times]
    if rows:
        print_table(columns, rows)
        print_line()


def _print_preempted(result: SimulationResult, wide: bool) -> None:
    columns = ["PREEMPTED", "BY", "NODE"]
    rows = [[victim.pod, victim.by, victim.node] for victim in result.preempted]
    if wide:
        columns.append("AT")
        for row, victim in zip(rows, result.preempted, strict=True):
            row.append(duration(victim.at))
    if rows:
        print_table(columns, rows)
        print_line()


def _print_unscheduled(result: SimulationResult, wide: bool) -> None:
    columns = ["UNSCHEDULED", "REASON", "MESSAGE"]
    rows = [[pod.pod, pod.reason, pod.message] for pod in result.unscheduled]
    if wide:
        columns[2:2] = ["SCHEDULER", "ATTEMPTS", "CREATED", "PLUGINS"]
        for row, pod in zip(rows, result.unscheduled, strict=True):
            plugins = ",".join(pod.plugins) or "-"
            created = duration(pod.created)
            row[2:2] = [pod.scheduler, str(pod.attempts), created, plugins]
    if rows:
        print_table(columns, rows, sentences=["MESSAGE"])
        print_line()


def _placement(placement: Placement) -> dict[str, object]:
    return {
        "pod": placement.pod,
        "node": placement.node,
        "scheduler": placement.scheduler,
        "created": placement.created,
        "bound": placement.bound,
        "finished": placement.finished,
        "attempts": placement.attempts,
    }


def unscheduled_document(pod: UnscheduledPod) -> dict[str, object]:
    """A pod that got no node, as plain data."""
    return {
        "pod": pod.pod,
        "reason": pod.reason,
        "message": pod.message,
        "plugins": list(pod.plugins),
        "scheduler": pod.scheduler,
        "created": pod.created,
        "attempts": pod.attempts,
        "reasons": list(pod.reasons),
    }
