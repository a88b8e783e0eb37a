"""Prints a simulation's result, in the formats of ``simulate -o``."""

from datetime import timedelta
from typing import Final

from quaymaster._api.objects import Time
from quaymaster._base.errors import counted
from quaymaster._cli.columns import Column, Columns, Shown
from quaymaster._cli.csv_rows import print_csv
from quaymaster._cli.notices import notice_documents
from quaymaster._cli.output import print_line
from quaymaster._cli.pending_facts import of_pods, print_facts
from quaymaster._cli.tables import Fit
from quaymaster._core.config.duration import format_duration
from quaymaster._studies.simulation.results import (
    Placement,
    Preemption,
    SimulationResult,
    UnscheduledPod,
)

__all__ = [
    "PREEMPTED",
    "UNSCHEDULED",
    "as_document",
    "duration",
    "moment",
    "print_names",
    "print_pods_csv",
    "print_result",
]

_REASONS: Final = 10
"""How many reasons are listed; every pod may have a different one."""
_LONGEST: Final = timedelta.max.total_seconds() / 2
"""Longer times are shown as this one, which a timedelta can hold."""


def as_document(result: SimulationResult) -> dict[str, object]:
    """The result as plain data, in the form of ``-o json``; times are in seconds."""
    document: dict[str, object] = {
        "placements": _PLACED.documents(result.placements),
        "unscheduled": UNSCHEDULED.documents(result.unscheduled),
        "preempted": PREEMPTED.documents(result.preempted),
        "reasons": [
            {"pods": count, "reasons": list(reasons)}
            for reasons, count in result.reasons()
        ],
        "summary": {
            "pods": result.pods,
            "placed": len(result.placements),
            "unscheduled": len(result.unscheduled),
            "kept": result.kept,
            "nodes": result.nodes,
            "start": str(Time(result.started)),
            "makespan": result.makespan,
        },
        "warnings": notice_documents(result.notices),
    }
    if result.groups:
        from quaymaster._cli.pod_groups import POD_GROUPS  # noqa: PLC0415 - rarely

        document["podGroups"] = POD_GROUPS.documents(result.groups)
    return document


def print_pods_csv(result: SimulationResult) -> None:
    """Print a line of CSV for each pod: the placed ones, then the others."""
    placed = _PLACED.documents(result.placements)
    unscheduled = UNSCHEDULED.documents(result.unscheduled)
    keys = dict.fromkeys((*_PLACED.keys, *UNSCHEDULED.keys))
    print_csv([*placed, *unscheduled], list(keys))


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
    if result.kept:
        print_line(_state(result))
        if not result.pods:
            PREEMPTED.print_section(result.preempted, is_wide=wide)
            return
        print_line()
    _PLACED.print_section(result.placements, is_wide=wide)
    PREEMPTED.print_section(result.preempted, is_wide=wide)
    UNSCHEDULED.print_section(result.unscheduled, is_wide=wide)
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
    print_facts(of_pods(result.unscheduled))


def _state(result: SimulationResult) -> str:
    """How many pods of the cluster have a node: those of the input, and new ones."""
    having = result.kept + len(result.placements)
    state = f"{having} of {counted(result.kept + result.pods, 'pod')} have a node"
    if not result.pods:
        return f"{state}; all had it in the input, and no pod was pending"
    return f"{state}; {result.kept} had it in the input"


def duration(seconds: float) -> str:
    """A length of time such as ``1m30s``."""
    # Sums of seconds since 1970 are exact to a quarter of a microsecond only.
    rounded = round(min(seconds, _LONGEST), 3)
    return format_duration(timedelta(seconds=rounded))


def moment(seconds: float | None) -> str:
    """A length of time, or a dash."""
    return "-" if seconds is None else duration(seconds)


_PLACED: Final = Columns[Placement](
    Column("pod", fit=Fit.NAME),
    Column("node", fit=Fit.NODE),
    Column("scheduler", shown=Shown.WIDE),
    Column("attempts", shown=Shown.WIDE),
    Column("created", text=duration, shown=Shown.WIDE),
    Column("bound", text=duration, shown=Shown.WIDE),
    Column("finished", text=moment, shown=Shown.WIDE),
)

PREEMPTED: Final = Columns[Preemption](
    Column("pod", heading="Preempted", fit=Fit.NAME),
    Column("by", fit=Fit.NAME),
    Column("node", fit=Fit.NODE),
    Column("at", text=duration, shown=Shown.WIDE),
)

UNSCHEDULED: Final = Columns[UnscheduledPod](
    Column("pod", heading="Unscheduled", fit=Fit.NAME),
    Column("reason", importance=1),
    Column("scheduler", shown=Shown.WIDE),
    Column("attempts", shown=Shown.WIDE),
    Column("created", text=duration, shown=Shown.WIDE),
    Column("plugins", text=lambda names: ",".join(names) or "-", shown=Shown.WIDE),
    Column("message", fit=Fit.MESSAGE),
    *("reasons", "facts"),
)
"""Pods without a node; the command line has them in several results."""
