"""Prints the answer to a what-if question."""

from collections.abc import Iterable

from quaymaster._base.errors import counted
from quaymaster._cli.notices import notice_documents
from quaymaster._cli.output import print_line, print_table
from quaymaster._cli.placements import (
    placed_documents,
    placed_rows,
    spread_documents,
    spread_rows,
)
from quaymaster._cli.results import duration, unscheduled_document
from quaymaster._cli.rollouts import print_stuck, stuck_documents
from quaymaster._studies.changes.change import RefusedEviction
from quaymaster._studies.planning.moves import Move
from quaymaster._studies.planning.what_if_results import (
    ClusterState,
    WhatIfResult,
    WhatIfStep,
)

__all__ = [
    "as_document",
    "changes_table",
    "pods_table",
    "print_answer",
    "spread_table",
]

_RESOURCES = ("cpu", "memory")


def as_document(result: WhatIfResult) -> dict[str, object]:
    """The answer as plain data, in the form of ``-o json``; times are in seconds."""
    return {
        "before": _state_document(result.before),
        "after": _state_document(result.after),
        "steps": [_step_document(step) for step in result.steps],
        "moved": [_move_document(move) for move in result.moved],
        "stuckRollouts": stuck_documents(result.stuck_rollouts),
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
    print_table([name.upper() for name in columns], rows)
    for columns, rows in (pods_table(result), spread_table(result)):
        if rows:
            print_line()
            print_table([name.upper() for name in columns], rows, sentences=["WHY"])
    for step in result.steps:
        for note in step.notes:
            print_line(f"{step.change}: {note}")
    print_stuck(
        ((step.change, step.stuck_rollouts) for step in result.steps),
        result.stuck_rollouts,
    )
    print_line()
    print_line(_in_all(result))


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
    columns = ["Change", "What", "Pod", "From", "To", "Why"]
    return columns, [row for step in result.steps for row in _happened(step)]


def spread_table(result: WhatIfResult) -> tuple[list[str], list[list[str]]]:
    """The columns, and a row for each workload whose pods came or went."""
    columns = ["Change", "Workload", "Topology key", "Before", "After"]
    return columns, [
        [step.change, *row] for step in result.steps for row in spread_rows(step.spread)
    ]


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


def _happened(step: WhatIfStep) -> Iterable[list[str]]:
    """The rows about single pods: moved, refused, lost, preempted and deleted."""
    for refused in step.refused:
        what = "refused" if refused.is_gone else "not evicted"
        why = f"{_times(refused)}: {refused.message} {refused.cause}".rstrip()
        yield [step.change, what, refused.pod, refused.node, "-", why]
    for move in step.moved:
        why = "" if move.pod == move.was else f"in place of {move.was}"
        yield [step.change, "moved", move.pod, move.source, move.target, why]
    moved = {move.pod for move in step.moved}
    for pod_key, node in placed_rows(step.placed, moved):
        yield [step.change, "placed", pod_key, "-", node, ""]
    for eviction in step.timed_out:
        later = duration(eviction.at - step.at)
        why = f"deleted at {duration(eviction.at)}, {later} later"
        if eviction.pod in step.stayed:
            why += f"; {step.stayed[eviction.pod]}"
        yield [step.change, "lost", eviction.pod, eviction.node, "-", why]
    for victim in step.preempted:
        why = f"for {victim.by}"
        yield [step.change, "preempted", victim.pod, victim.node, "-", why]
    for key in step.unmanaged:
        yield [step.change, "gone", key, "-", "-", "nothing creates it again"]
    for pod in step.pending:
        yield [step.change, "pending", pod.pod, "-", "-", pod.message]
    for pod in step.still_pending:
        yield [step.change, "still pending", pod.pod, "-", "-", pod.message]


def _times(refused: RefusedEviction) -> str:
    first, last = duration(refused.first), duration(refused.last)
    if refused.times == 1:
        return f"once, at {first}"
    return f"{refused.times} times, from {first} to {last}"


def _state_document(state: ClusterState) -> dict[str, object]:
    return {
        "at": state.at,
        "placed": state.placed,
        "pending": [unscheduled_document(pod) for pod in state.pending],
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
    return {
        "change": step.change,
        "at": step.at,
        "ended": step.ended,
        "objects": list(step.objects),
        "evicted": [
            {"pod": eviction.pod, "node": eviction.node, "at": eviction.at}
            for eviction in step.evicted
        ],
        "refused": [
            {
                "pod": eviction.pod,
                "node": eviction.node,
                "message": eviction.message,
                "cause": eviction.cause,
                "times": eviction.times,
                "first": eviction.first,
                "last": eviction.last,
                "isGone": eviction.is_gone,
            }
            for eviction in step.refused
        ],
        "stayed": dict(step.stayed),
        "lost": list(step.lost),
        "timedOut": [
            {"pod": eviction.pod, "node": eviction.node, "at": eviction.at}
            for eviction in step.timed_out
        ],
        "unmanaged": list(step.unmanaged),
        "preempted": [
            {"pod": victim.pod, "by": victim.by, "node": victim.node, "at": victim.at}
            for victim in step.preempted
        ],
        "moved": [_move_document(move) for move in step.moved],
        "placed": placed_documents(step.placed),
        "spread": spread_documents(step.spread),
        "pending": [unscheduled_document(pod) for pod in step.pending],
        "stillPending": [unscheduled_document(pod) for pod in step.still_pending],
        "stuckRollouts": stuck_documents(step.stuck_rollouts),
        "notes": list(step.notes),
        "after": _state_document(step.after),
    }


def _move_document(move: Move) -> dict[str, object]:
    return {
        "workload": move.workload,
        "pod": move.pod,
        "was": move.was,
        "from": move.source,
        "to": move.target,
    }
