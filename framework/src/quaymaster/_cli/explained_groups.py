"""Prints an explained PodGroup, as tables or as plain data."""

from collections.abc import Iterable, Sequence
from typing import Final

from quaymaster._base.errors import counted, listed
from quaymaster._base.natural_order import natural_key
from quaymaster._cli.attempt_tables import print_attempts
from quaymaster._cli.columns import Column, Columns, Shown
from quaymaster._cli.csv_rows import print_csv
from quaymaster._cli.explanations import REJECTIONS
from quaymaster._cli.output import print_line, print_table
from quaymaster._cli.results import duration
from quaymaster._cli.tables import Fit, Heading
from quaymaster._core.cycle.explanation import NodeRejection
from quaymaster._core.engine.attempts import AttemptOutcome
from quaymaster._studies.simulation.explained_groups import (
    ExplainedGroup,
    GroupAttempt,
    GroupMember,
    GroupOutcome,
    TriedPlacement,
    UnplacedMember,
)

__all__ = [
    "group_document",
    "print_explained_group",
    "print_explained_group_csv",
    "print_group_decision",
]

_NAMED: Final = 3
"""How many nodes with the same reasons are listed by name."""


def print_explained_group(explained: ExplainedGroup, *, top: int, every: bool) -> None:
    """Print an explained group.

    Args:
        explained: The group.
        top: How many placements and pods are shown; 0: all.
        every: Whether every attempt is shown, or only the selected one.
    """
    _print_head(explained)
    shown = explained.shown
    attempts = explained.attempts if every else (shown,) if shown else ()
    for attempt in attempts:
        if len(explained.attempts) > 1:
            of = len(explained.attempts)
            print_line()
            print_line(
                f"attempt {attempt.number} of {of}, after {duration(attempt.at)}"
            )
        _print_attempt(attempt, explained, top)
    _print_members(explained, top)
    if not every:
        _print_others(explained)


def print_group_decision(explained: ExplainedGroup, *, top: int) -> None:
    """Print the decision about a group below that about one of its pods.

    Args:
        explained: The group.
        top: How many placements are shown; 0: all.
    """
    _print_head(explained)
    if explained.shown is not None:
        _print_attempt(explained.shown, explained, top)


def _print_head(explained: ExplainedGroup) -> None:
    """Print the state of a group in a few lines."""
    print_line(f"podgroup {explained.group}: {_WORDS[explained.outcome]}")
    if explained.message:
        print_line(explained.message)
    if explained.outcome is not GroupOutcome.MISSING:
        print_line(_policy(explained))
        _print_unlabelled(explained)
        print_line(_counts(explained))
        _print_parents(explained)
    if explained.outcome is GroupOutcome.WAITING:
        print_line(
            "it is tried once enough pods exist; until then, Kubernetes writes no "
            "condition and no event for it"
        )


_WORDS: Final = {
    GroupOutcome.SCHEDULED: "scheduled",
    GroupOutcome.PARTLY_SCHEDULED: "partly scheduled",
    GroupOutcome.UNSCHEDULABLE: "unschedulable",
    GroupOutcome.ERROR: "error",
    GroupOutcome.WAITING: "waits for its quorum",
    GroupOutcome.GATED: "gated",
    GroupOutcome.MISSING: "does not exist",
}


def _policy(explained: ExplainedGroup) -> str:
    least = explained.min_count
    if least is None:
        text = "basic: its pods are scheduled one by one, as many as fit"
    else:
        text = f"gang: at least {counted(least, 'pod')} must fit together (minCount)"
    if explained.topology_key:
        text += f", on nodes with the same {explained.topology_key}"
    return text


def _print_parents(explained: ExplainedGroup) -> None:
    """Print the groups above a group, which are placed as a whole."""
    for parent in explained.parents:
        line = f"below compositepodgroup {parent.group}, which is placed as a whole"
        if parent.min_group_count is not None:
            needed = counted(parent.min_group_count, "group")
            line += f": at least {needed} must fit together (minGroupCount)"
        print_line(line)
    if explained.misfits and not explained.is_quorate:
        shown = listed(explained.misfits, _NAMED)
        print_line(f"groups below it without a placement: {shown}")


def _print_unlabelled(explained: ExplainedGroup) -> None:
    """Print how many nodes the group cannot use for want of the topology key."""
    count, key = explained.unlabelled_nodes, explained.topology_key
    if count and count == explained.nodes:
        print_line(f"no node has a label {key}")
    elif count:
        nodes = counted(explained.nodes, "node")
        print_line(f"{count} of {nodes} cannot be used: no label {key}")


def _counts(explained: ExplainedGroup) -> str:
    count, placed = len(explained.members), explained.placed
    parts = [
        counted(count, "pod"),
        f"{placed} with a node",
        f"{count - placed} without",
    ]
    return ", ".join(parts)


def _print_attempt(attempt: GroupAttempt, explained: ExplainedGroup, top: int) -> None:
    """Print the placements of an attempt.

    Args:
        attempt: The attempt.
        explained: Its group.
        top: How many placements are shown; 0: all.
    """
    if attempt.message and attempt.message != explained.message:
        print_line(attempt.message)
    ordered = _ordered(attempt.placements)
    shown = ordered[:top] if top else ordered
    if shown:
        print_line()
        print_table(_placement_headings(shown, explained), _rows(shown, attempt))
    if len(shown) < len(ordered):
        print_line(f"and {counted(len(ordered) - len(shown), 'more placement')}")
    if any(placement.scores for placement in shown):
        print_line("scores: raw -> normalized -> weighted")
    _print_stoppers(shown)
    if attempt.preempted:
        print_line()
        print_line(f"preempts {', '.join(attempt.preempted)}")
        nominated = [f"{pod} on {node}" for pod, node in attempt.nominated.items()]
        print_line(f"keeps room for {', '.join(nominated)}")


def _ordered(placements: Iterable[TriedPlacement]) -> list[TriedPlacement]:
    """Return the chosen placement first, then the others by total and number."""

    def rank(placement: TriedPlacement) -> tuple[bool, int, int, object]:
        return (
            not placement.is_chosen,
            -(placement.total or 0),
            -len(placement.assigned),
            natural_key(placement.name),
        )

    return sorted(placements, key=rank)


def _plugins(placements: Sequence[TriedPlacement]) -> list[str]:
    return list(dict.fromkeys(name for each in placements for name in each.scores))


def _placement_headings(
    placements: Sequence[TriedPlacement], explained: ExplainedGroup
) -> list[str | Heading]:
    title = explained.topology_key.rpartition("/")[2].upper() or "PLACEMENT"
    headings: list[str | Heading] = [Heading(title, Fit.NODE), "NODES", "PODS THAT FIT"]
    plugins = _plugins(placements)
    if plugins:
        headings += [*(Heading(name, Fit.NAME) for name in plugins), "TOTAL"]
    return [*headings, Heading("RESULT", Fit.MESSAGE)]


def _rows(
    placements: Sequence[TriedPlacement], attempt: GroupAttempt
) -> list[tuple[object, ...]]:
    plugins = _plugins(placements)
    rows: list[tuple[object, ...]] = []
    for placement in placements:
        scores: list[object] = []
        for name in plugins:
            score = placement.scores.get(name)
            scores.append(
                f"{score.raw} -> {score.normalized} -> {score.weighted}"
                if score
                else ""
            )
        if plugins:
            scores.append("" if placement.total is None else placement.total)
        fit = f"{len(placement.assigned)} of {len(attempt.tried)}"
        name = placement.name or "all nodes"
        rows.append((name, placement.nodes, fit, *scores, _result(placement, attempt)))
    return rows


def _result(placement: TriedPlacement, attempt: GroupAttempt) -> str:
    if placement.is_feasible:
        if not placement.is_chosen:
            return "feasible"
        if attempt.outcome is AttemptOutcome.SCHEDULED:
            return "feasible, chosen"
        return "feasible"
    stopper = placement.stopper
    if stopper is None:
        return placement.message
    return f"{stopper.pod}: {stopper.message}"


def _print_stoppers(placements: Sequence[TriedPlacement]) -> None:
    """Print why the nodes were rejected for the pods that stop the group."""
    rows: list[tuple[object, ...]] = []
    for placement in placements:
        shown = placement.unplaced[:1] if placement.is_feasible else ()
        stopper = placement.stopper or (shown[0] if shown else None)
        if stopper is not None:
            rows += _grouped(placement, stopper)
    if rows:
        print_line()
        print_table(
            (
                *(Heading("PLACEMENT", Fit.NODE), Heading("POD", Fit.NAME), "NODES"),
                *("REJECTED BY", Heading("REASONS", Fit.MESSAGE)),
                Heading("SUCH AS", Fit.NODE, importance=1),
            ),
            rows,
        )


def _grouped(
    placement: TriedPlacement, stopper: UnplacedMember
) -> list[tuple[object, ...]]:
    """Return a row for each plugin and its reasons, the most frequent first."""
    groups: dict[tuple[str, str], list[NodeRejection]] = {}
    for rejection in stopper.rejections:
        groups.setdefault(_cause(rejection), []).append(rejection)
    ordered = sorted(groups.items(), key=lambda group: -len(group[1]))
    name = placement.name or "all nodes"
    return [
        (name, stopper.pod, len(alike), plugin, why, _such_as(alike))
        for (plugin, why), alike in ordered
    ]


def _such_as(rejections: Sequence[NodeRejection]) -> str:
    """Name a few nodes, with the facts about each."""
    return ", ".join(
        rejection.node
        + (f" ({'; '.join(rejection.details[1:])})" if rejection.details[1:] else "")
        for rejection in rejections[:_NAMED]
    )


def _cause(rejection: NodeRejection) -> tuple[str, str]:
    """Return the plugin and its reasons, with the fact that similar nodes share."""
    reasons = ", ".join(rejection.reasons) or "not evaluated"
    return rejection.plugin or "-", "; ".join((reasons, *rejection.details[:1]))


def _print_members(explained: ExplainedGroup, top: int) -> None:
    members = explained.members
    if not explained.placed:
        return
    print_line()
    shown = members[: max(top, 1)] if top else members
    _MEMBERS.print(shown)
    if len(shown) < len(members):
        print_line(f"and {counted(len(members) - len(shown), 'more pod')}")


def _print_others(explained: ExplainedGroup) -> None:
    rows = [
        (
            attempt.number,
            duration(attempt.at),
            len(attempt.tried),
            _attempt_outcome(attempt),
            "<- shown" if attempt.number == explained.attempt else "",
        )
        for attempt in explained.attempts
    ]
    headings = ("ATTEMPT", "AFTER", "PODS", Heading("OUTCOME", Fit.SENTENCE), "")
    print_attempts(headings, rows)


def _attempt_outcome(attempt: GroupAttempt) -> str:
    text = str(attempt.outcome)
    decisive = attempt.decisive
    if decisive is not None and decisive.is_chosen and decisive.name:
        text += f" in {decisive.name}"
    if attempt.preempted:
        text += f", preempts {counted(len(attempt.preempted), 'pod')}"
    return text


def print_explained_group_csv(explained: ExplainedGroup, *, every: bool) -> None:
    """Print a line of CSV for each placement.

    Args:
        explained: The group.
        every: Whether every attempt is shown, or only the selected one.
    """
    shown = explained.shown
    attempts = explained.attempts if every else (shown,) if shown else ()
    documents = [
        {"attempt": attempt.number, **_PLACEMENTS.document(placement)}
        for attempt in attempts
        for placement in attempt.placements
    ]
    print_csv(documents, ["attempt", *_PLACEMENTS.keys])


def group_document(explained: ExplainedGroup) -> dict[str, object]:
    """The explained group, in the form of ``-o json``."""
    shown = explained.shown
    return {
        "group": explained.group,
        "outcome": explained.outcome.value,
        "message": explained.message,
        "minCount": explained.min_count,
        "topologyKey": explained.topology_key,
        "nodes": explained.nodes,
        "unlabelledNodes": explained.unlabelled_nodes,
        "parents": [
            {"group": each.group, "minGroupCount": each.min_group_count}
            for each in explained.parents
        ],
        "misfits": list(explained.misfits),
        "missing": explained.missing,
        "pods": _MEMBERS.documents(explained.members),
        "placements": _PLACEMENTS.documents(shown.placements if shown else ()),
        "attempt": explained.attempt,
        "attempts": [_attempt_document(attempt) for attempt in explained.attempts],
    }


def _attempt_document(attempt: GroupAttempt) -> dict[str, object]:
    return {
        "attempt": attempt.number,
        "at": attempt.at,
        "outcome": attempt.outcome.value,
        "message": attempt.message,
        "pods": list(attempt.tried),
        "scheduled": attempt.scheduled,
        "placements": _PLACEMENTS.documents(attempt.placements),
        "preempted": list(attempt.preempted),
        "nominated": dict(attempt.nominated),
    }


def _unplaced_document(unplaced: UnplacedMember) -> dict[str, object]:
    return {
        "pod": unplaced.pod,
        "message": unplaced.message,
        "rejections": REJECTIONS.documents(unplaced.rejections),
    }


_MEMBERS: Final = Columns[GroupMember](
    Column("pod", fit=Fit.NAME),
    Column("node", fit=Fit.NODE),
    Column("domain", is_optional=True),
    Column("nominatedNode", is_optional=True),
    Column("message", fit=Fit.MESSAGE, is_optional=True),
)

_PLACEMENTS: Final = Columns[TriedPlacement](
    Column("name", shown=Shown.NEVER),
    Column("nodes", shown=Shown.NEVER),
    Column("feasible", value=lambda each: each.is_feasible, shown=Shown.NEVER),
    Column("chosen", value=lambda each: each.is_chosen, shown=Shown.NEVER),
    Column("message", shown=Shown.NEVER),
    Column("assigned", value=lambda each: dict(each.assigned), shown=Shown.NEVER),
    Column(
        "unplaced",
        value=lambda each: [_unplaced_document(pod) for pod in each.unplaced],
        shown=Shown.NEVER,
    ),
    Column("untried", shown=Shown.NEVER),
    Column(
        "stoppedBy",
        value=lambda each: each.stopper.pod if each.stopper else "",
        shown=Shown.NEVER,
    ),
    Column(
        "plugins",
        value=lambda each: {
            name: {
                "raw": score.raw,
                "normalized": score.normalized,
                "weighted": score.weighted,
            }
            for name, score in each.scores.items()
        },
        shown=Shown.NEVER,
    ),
    Column("total", shown=Shown.NEVER),
)
