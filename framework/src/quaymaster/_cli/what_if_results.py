"""Prints the answer to a what-if question."""

import functools
import sys
from collections.abc import Iterator
from operator import attrgetter
from typing import Final

import attrs

from quaymaster._base.errors import counted
from quaymaster._cli.columns import Column, Columns
from quaymaster._cli.group_effects import GROUP_EFFECTS, print_group_effects
from quaymaster._cli.notices import notice_documents
from quaymaster._cli.output import print_hint, print_line, print_table
from quaymaster._cli.pending_facts import fact_table, of_pods, print_facts
from quaymaster._cli.pending_rows import MOST_KINDS, pending_rows
from quaymaster._cli.placements import (
    MOST_PODS,
    PLACED,
    SPREAD,
    placed_rows,
    spread_rows,
)
from quaymaster._cli.results import PREEMPTED, UNSCHEDULED, duration
from quaymaster._cli.rollouts import STUCK, print_stuck
from quaymaster._cli.tables import Fit, Heading, Message
from quaymaster._studies.changes.change import Evicted, RefusedEviction
from quaymaster._studies.planning.moves import Move
from quaymaster._studies.planning.what_if_results import (
    ClusterState,
    WhatIfResult,
    WhatIfStep,
)
from quaymaster._studies.simulation.results import UnscheduledPod

__all__ = [
    "as_document",
    "changes_table",
    "facts_table",
    "pods_table",
    "print_answer",
    "print_events_csv",
    "spread_table",
]

_RESOURCES = ("cpu", "memory")
_IMPORTANCE: Final = {
    **dict.fromkeys(("At", "Preempted", "Refused"), 1),
    **dict.fromkeys(("Took", "Used", "Evicted"), 2),
    **dict.fromkeys(("Memory", "Price/h", "Moved"), 3),
    "CPU": 4,
}
"""Which columns about the cluster are left out first on a narrow terminal."""


def as_document(result: WhatIfResult) -> dict[str, object]:
    """The answer as plain data, in the form of ``-o json``; times are in seconds."""
    return {
        "before": _state_document(result.before),
        "after": _state_document(result.after),
        "steps": [_step_document(step) for step in result.steps],
        "moved": _MOVED.documents(result.moved),
        "stuckRollouts": STUCK.documents(result.stuck_rollouts),
        "summary": {
            "evicted": len(result.evicted),
            "refused": len(result.refused),
            "left": list(result.left),
            "preempted": len(result.preempted),
            "moved": len(result.moved),
        },
        "warnings": notice_documents(result.notices),
    }


def print_answer(result: WhatIfResult) -> None:
    """Print the answer as tables: the cluster after each change, then its pods."""
    columns, rows = changes_table(result)
    headings = [
        Heading(name.upper(), importance=_IMPORTANCE.get(name)) for name in columns[1:]
    ]
    print_table([Heading(columns[0].upper(), Fit.NAME), *headings], rows)
    _print_events(result)
    print_facts(of_pods(_pending(result)))
    print_group_effects(result)
    columns, rows = spread_table(result)
    if rows:
        print_line()
        headings = [Heading(name.upper(), Fit.NAME) for name in columns[:3]]
        headings[0] = attrs.evolve(headings[0], importance=1)
        headings[2] = attrs.evolve(headings[2], importance=2)
        sides = [Heading(name.upper(), Fit.DOMAINS) for name in columns[3:]]
        print_table([*headings, *sides], rows)
    for step in result.steps:
        for note in step.notes:
            print_line(f"{step.change}: {note}")
    print_stuck(
        ((step.change, step.stuck_rollouts) for step in result.steps),
        result.stuck_rollouts,
    )
    print_line()
    print_line(_in_all(result))


def _print_events(result: WhatIfResult) -> None:
    """Print the table of pods, and whether pods share rows."""
    events = [
        event for step in result.steps for event in _events(step, most_kinds=MOST_KINDS)
    ]
    if not events:
        return
    print_line()
    _EVENTS.print(events)
    rows = {(event.change, event.what, event.pod) for event in events}
    if any(
        (event.change, event.what, event.pod) not in rows
        for event in _all_events(result)
    ):
        print_hint("not every pod has a row: -o csv and -o json list all")


def print_events_csv(result: WhatIfResult) -> None:
    """Print a line of CSV for each event of a pod; placed pods are all listed."""
    _EVENTS.print_csv(_all_events(result))


def changes_table(result: WhatIfResult) -> tuple[list[str], list[list[str]]]:
    """The columns, and a row with the state of the cluster after each change."""
    columns = ["Change", "At", "Took", "Placed", "Pending", "Moved", "Evicted"]
    columns += ["Refused", "Preempted", "Nodes", "Used", "CPU", "Memory", "Price/h"]
    rows = [["(before)", "-", "-", *_figures(result.before, None)]]
    for step in result.steps:
        times = [duration(step.at), duration(step.ended - step.at)]
        rows.append([step.change, *times, *_figures(step.after, step)])
    states = (result.before, *(step.after for step in result.steps))
    if all(state.room.price_per_hour is None for state in states):
        return columns[:-1], [row[:-1] for row in rows]
    return columns, rows


def pods_table(result: WhatIfResult) -> tuple[list[str], list[list[str]]]:
    """The columns, and a row for each event of a pod."""
    return _EVENTS.table(event for step in result.steps for event in _events(step))


def spread_table(result: WhatIfResult) -> tuple[list[str], list[list[str]]]:
    """The columns, and a row for each workload whose pods came or went."""
    columns = ["Change", "Workload", "Topology key", "Before", "After"]
    return columns, [
        [step.change, *row] for step in result.steps for row in spread_rows(step.spread)
    ]


def facts_table(result: WhatIfResult) -> tuple[list[str], list[list[str]]]:
    """The columns, and a row for each fact about pods that are or were pending."""
    return fact_table(of_pods(_pending(result)))


def _pending(result: WhatIfResult) -> Iterator[UnscheduledPod]:
    """Yield the pods that each step left pending, or pending for another reason."""
    for step in result.steps:
        yield from step.pending
        yield from step.still_pending


def _in_all(result: WhatIfResult) -> str:
    before, after = result.before, result.after
    parts = [
        f"placed {before.placed} -> {after.placed}",
        f"pending {len(before.pending)} -> {len(after.pending)}",
        f"nodes {before.nodes} -> {after.nodes}",
        f"nodes used {before.nodes_used} -> {after.nodes_used}",
        f"{counted(len(result.moved), 'pod')} moved",
    ]
    if result.left:
        parts.append(f"{counted(len(result.left), 'pod')} not drained")
    return "in total: " + ", ".join(parts)


def _figures(state: ClusterState, step: WhatIfStep | None) -> list[str]:
    figures = ["-"] * 4
    if step is not None:
        lists = (step.moved, step.evicted, step.refused, step.preempted)
        figures = [str(len(pods)) for pods in lists]
    shares = [
        f"{room.utilization:.0%}" if room is not None else "-"
        for room in map(state.room.resources.get, _RESOURCES)
    ]
    price = state.room.price_per_hour
    return [
        str(state.placed),
        str(len(state.pending)),
        *figures,
        str(state.nodes),
        str(state.nodes_used),
        *shares,
        "-" if price is None else f"{price:g}",
    ]


@attrs.frozen
class _Event:
    """What happened to a pod.

    Attributes:
        change: The change that caused it.
        what: A word for it.
        pod: The key of the pod.
        source: The node before, if any.
        target: The node afterwards, if any.
        why: The reason, for people; may be empty.
        was: The key of the pod that it replaces, if any.
    """

    change: str
    what: str
    pod: str
    source: str = ""
    target: str = ""
    why: str | Message = ""
    was: str = ""


def _all_events(result: WhatIfResult) -> Iterator[_Event]:
    """Yield every event of every pod."""
    for step in result.steps:
        yield from _events(step, most=sys.maxsize)


def _events(
    step: WhatIfStep, most: int = MOST_PODS, most_kinds: int | None = None
) -> Iterator[_Event]:
    """Yield what happened to pods: first what went wrong, then where pods are now.

    Args:
        step: The step.
        most: How many placed pods of a workload have an event of their own.
        most_kinds: How many events there may be about pending pods, which then share
            events; by default each pod has its own.
    """
    event = functools.partial(_Event, step.change)
    for refused in step.refused:
        what = "refused" if refused.is_gone else "not evicted"
        yield event(what, refused.pod, refused.node, "", _refusal(refused))
    for what, pods in ("pending", step.pending), ("still pending", step.still_pending):
        for pod, message in pending_rows(pods, step.workloads, most_kinds):
            yield event(what, pod, why=message)
    for eviction in step.timed_out:
        later = duration(eviction.at - step.at)
        why = f"deleted at {duration(eviction.at)}, {later} later"
        if eviction.pod in step.stayed:
            why += f"; {step.stayed[eviction.pod]}"
        yield event("lost", eviction.pod, eviction.node, "", why)
    for victim in step.preempted:
        yield event("preempted", victim.pod, victim.node, "", f"for {victim.by}")
    for key in step.unmanaged:
        yield event("gone", key, why="nothing creates it again")
    for move in step.moved:
        was = "" if move.pod == move.was else move.was
        yield event("moved", move.pod, move.source, move.target, was=was)
    moved = {move.pod for move in step.moved}
    for pod_key, node in placed_rows(step.placed, moved, most):
        yield event("placed", pod_key, "", node)


def _refusal(refused: RefusedEviction) -> Message:
    message = f"{refused.message} {refused.cause}".rstrip()
    times = "once" if refused.times == 1 else f"{refused.times} times"
    return Message(f"{_times(refused)}: {message}", times, message)


def _node(name: str) -> str:
    return name or "-"


def _times(refused: RefusedEviction) -> str:
    first, last = duration(refused.first), duration(refused.last)
    if refused.times == 1:
        return f"once, at {first}"
    return f"{refused.times} times, from {first} to {last}"


def _state_document(state: ClusterState) -> dict[str, object]:
    return {
        "at": state.at,
        "placed": state.placed,
        "pending": UNSCHEDULED.documents(state.pending),
        "nodes": state.nodes,
        "nodesUsed": state.nodes_used,
        "pricePerHour": state.room.price_per_hour,
        "resources": {
            name: {
                "allocatable": room.allocatable,
                "requested": room.requested,
                "free": room.free,
                "utilization": room.utilization,
            }
            for name, room in state.room.resources.items()
        },
    }


def _step_document(step: WhatIfStep) -> dict[str, object]:
    document: dict[str, object] = {
        "change": step.change,
        "at": step.at,
        "ended": step.ended,
        "objects": list(step.objects),
        "evicted": _EVICTED.documents(step.evicted),
        "refused": _REFUSED.documents(step.refused),
        "stayed": dict(step.stayed),
        "lost": list(step.lost),
        "timedOut": _EVICTED.documents(step.timed_out),
        "unmanaged": list(step.unmanaged),
        "preempted": PREEMPTED.documents(step.preempted),
        "moved": _MOVED.documents(step.moved),
        "placed": PLACED.documents(step.placed),
        "spread": SPREAD.documents(step.spread),
        "pending": UNSCHEDULED.documents(step.pending),
        "stillPending": UNSCHEDULED.documents(step.still_pending),
        "stuckRollouts": STUCK.documents(step.stuck_rollouts),
        "notes": list(step.notes),
        "after": _state_document(step.after),
    }
    if step.groups:
        document["podGroups"] = GROUP_EFFECTS.documents(step.groups)
    return document


_EVENTS: Final = Columns[_Event](
    Column("change", fit=Fit.NAME, importance=0),
    Column("what"),
    Column("pod", fit=Fit.NAME),
    Column("from", value=attrgetter("source"), text=_node, fit=Fit.NODE, importance=1),
    Column("to", value=attrgetter("target"), text=_node, fit=Fit.NODE, importance=4),
    Column("was", heading="In place of", fit=Fit.NAME, importance=0, is_optional=True),
    Column("why", text=lambda why: why, fit=Fit.MESSAGE),
)

_MOVED: Final = Columns[Move](
    *("workload", "pod", "was"),
    Column("from", value=attrgetter("source")),
    Column("to", value=attrgetter("target")),
)

_EVICTED: Final = Columns[Evicted]("pod", "node", "at")
_REFUSED: Final = Columns[RefusedEviction](
    *("pod", "node", "message", "cause", "times", "first", "last", "isGone")
)
