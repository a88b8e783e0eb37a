"""Prints what a replay came to, as tables or as plain data."""

from collections.abc import Iterable
from typing import Final

from quaymaster._base.errors import counted
from quaymaster._cli.explanations import scores_document
from quaymaster._cli.notices import notice_documents
from quaymaster._cli.output import print_line, print_table
from quaymaster._cli.results import duration
from quaymaster._core.cycle.explanation import NodeScores
from quaymaster._studies.recording.compared import (
    Agreement,
    ComparedDecision,
    Decided,
    ReplayResult,
)

__all__ = ["as_document", "print_replay"]

_DOUBTFUL: Final = (Agreement.ORDER, Agreement.REASONS, Agreement.DIFFERS)


def as_document(result: ReplayResult) -> dict[str, object]:
    """The result as plain data, in the form of ``-o json``; times are in seconds."""
    return {
        "decisions": [_decision(one) for one in result.decisions],
        "summary": {
            "decisions": len(result.decisions),
            **{one.value: count for one, count in result.counts().items()},
            "pods": result.pods,
            "withNode": result.with_node,
            "waiting": result.waiting,
            "seconds": result.seconds,
            "statesTried": result.tried(),
            "orderWidths": {str(key): num for key, num in result.widths().items()},
        },
        "otherSchedulers": dict(result.others),
        "unknown": list(result.unknown),
        "warnings": notice_documents(result.notices),
    }


def print_replay(result: ReplayResult, *, top: int) -> None:
    """Print the result.

    Args:
        result: The result.
        top: How many of the decisions that differ are shown; 0: all.
    """
    counts = result.counts()
    rows = [(count, one.value, one.meaning) for one, count in counts.items()]
    print_table(("DECISIONS", "", "MEANING"), rows, sentences=["MEANING"])
    print_line()
    print_line(
        f"{counted(len(result.decisions), 'decision')} about "
        f"{counted(result.pods, 'pod')} in {duration(result.seconds)}; "
        f"{result.with_node} came with a node, {result.waiting} still wait"
    )
    if result.tried():
        print_line(_supposed(result))
    for name, count in result.others.items():
        print_line(f"{counted(count, 'decision')} of {name}, which has no profile here")
    told = [
        one
        for one in result.decisions
        if one.agreement in (Agreement.DIFFERS, Agreement.REASONS)
    ]
    shown = told[:top] if top else told
    for one in shown:
        _print_decision(one)
    if len(shown) < len(told):
        print_line()
        print_line(f"and {len(told) - len(shown)} more; --top 0 shows all")
    if result.unknown and any(counts[one] for one in _DOUBTFUL):
        _print_unknown(result.unknown)


def _supposed(result: ReplayResult) -> str:
    """How many other states were tried, and how far from the record some led."""
    asked = [one for one in result.decisions if one.tried]
    told = (
        f"{counted(result.tried(), 'other state')} tried for "
        f"{counted(len(asked), 'decision')}"
    )
    widths = result.widths()
    if not widths:
        return told
    most = max(widths)
    far = (
        counted(most, "change")
        if len(widths) == 1
        else f"{min(widths)} to {most} changes"
    )
    return f"{told}; those of order are {far} away from the record"


def _print_unknown(sentences: Iterable[str]) -> None:
    print_line()
    print_line("what cannot be known from outside, and may be why:")
    for sentence in sentences:
        print_line(f"- {sentence}")


def _print_decision(one: ComparedDecision) -> None:
    print_line()
    print_line(f"pod {one.pod} ({one.scheduler}) after {duration(one.at)}")
    print_line(f"  theirs: {_told(one.theirs)}")
    print_line(f"  ours: {_told(one.ours)}")
    if one.rejection is not None:
        why = ", ".join(one.rejection.reasons) or "not looked at"
        plugin = one.rejection.plugin or "PreFilter"
        print_line(f"  {one.rejection.node} is left out here by {plugin}: {why}")
    rated = [scores for scores in (one.their_scores, one.our_scores) if scores]
    if rated and one.theirs.node != one.ours.node:
        _print_scores(rated, one.theirs.node)


def _print_scores(rated: list[NodeScores], theirs: str) -> None:
    plugins = list(dict.fromkeys(name for one in rated for name in one.plugins))
    rows = []
    for one in rated:
        cells = [
            f"{score.raw} -> {score.normalized} -> {score.weighted}"
            if (score := one.plugins.get(name))
            else "-"
            for name in plugins
        ]
        whose = "<- theirs" if one.node == theirs else "<- ours"
        rows.append((one.node, *cells, one.total, whose))
    print_table(("NODE", *plugins, "TOTAL", ""), rows)


def _told(decided: Decided) -> str:
    if decided.node:
        return f"on {decided.node}"
    parts = [f"no node: {decided.message}"]
    if decided.nominated_node:
        parts.append(f"nominated to {decided.nominated_node}")
    if decided.victims:
        parts.append(f"preempts {', '.join(decided.victims)}")
    return "; ".join(parts)


def _decision(one: ComparedDecision) -> dict[str, object]:
    document: dict[str, object] = {
        "pod": one.pod,
        "scheduler": one.scheduler,
        "at": one.at,
        "agreement": one.agreement.value,
        "theirs": _decided(one.theirs),
        "ours": _decided(one.ours),
        "best": one.best,
        "statesTried": one.tried,
        "orderWidth": one.width,
    }
    if one.their_scores is not None:
        document["theirScores"] = scores_document(one.their_scores)
    if one.our_scores is not None:
        document["ourScores"] = scores_document(one.our_scores)
    if one.rejection is not None:
        document["rejection"] = {
            "node": one.rejection.node,
            "plugin": one.rejection.plugin,
            "code": one.rejection.code.label,
            "reasons": list(one.rejection.reasons),
        }
    return document


def _decided(one: Decided) -> dict[str, object]:
    return {
        "node": one.node,
        "message": one.message,
        "nominatedNode": one.nominated_node,
        "victims": list(one.victims),
    }
