"""Prints the result of a replay, as tables or as plain data."""

from collections.abc import Iterable, Sequence
from typing import Final

from quaymaster._base.errors import counted
from quaymaster._cli.csv_rows import print_csv
from quaymaster._cli.explanations import scores_document
from quaymaster._cli.notices import notice_documents
from quaymaster._cli.output import print_line, print_table
from quaymaster._cli.results import duration
from quaymaster._cli.tables import Fit, Heading
from quaymaster._core.cycle.explanation import NodeScores
from quaymaster._studies.recording.compared import (
    Agreement,
    ComparedDecision,
    Decided,
    ReplayResult,
)

__all__ = ["as_document", "print_decisions_csv", "print_replay"]

_ROW: Final[Sequence[str]] = (
    *("pod", "scheduler", "at", "agreement", "theirs", "ours", "best"),
    *("statesTried", "orderWidth", "rejection"),
)
"""The keys of a decision that CSV has; each side has its own scores of each node."""
_DOUBTFUL: Final = (Agreement.ORDER, Agreement.REASONS, Agreement.DIFFERS)


def as_document(result: ReplayResult) -> dict[str, object]:
    """The result as plain data, in the form of ``-o json``; times are in seconds."""
    return {
        "decisions": [_decision(decision) for decision in result.decisions],
        "summary": {
            "decisions": len(result.decisions),
            **{agreement.value: count for agreement, count in result.counts().items()},
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


def print_decisions_csv(result: ReplayResult) -> None:
    """Print a line of CSV for each decision, without the scores of nodes."""
    documents = [_decision(decision) for decision in result.decisions]
    rows = [
        {key: document[key] for key in _ROW if key in document}
        for document in documents
    ]
    print_csv(rows, _ROW)


def print_replay(result: ReplayResult, *, top: int) -> None:
    """Print the result.

    Args:
        result: The result.
        top: How many of the decisions that differ are shown; 0: all.
    """
    counts = result.counts()
    rows = [
        (count, agreement.value, agreement.meaning)
        for agreement, count in counts.items()
    ]
    print_table(("DECISIONS", "", Heading("MEANING", Fit.SENTENCE)), rows)
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
    differing = [
        decision
        for decision in result.decisions
        if decision.agreement in (Agreement.DIFFERS, Agreement.REASONS)
    ]
    shown = differing[:top] if top else differing
    for decision in shown:
        _print_decision(decision)
    if len(shown) < len(differing):
        print_line()
        print_line(f"and {len(differing) - len(shown)} more; --top 0 shows all")
    if result.unknown and any(counts[agreement] for agreement in _DOUBTFUL):
        _print_unknown(result.unknown)


def _supposed(result: ReplayResult) -> str:
    """How many other states were tried, and how far some are from the record."""
    searched = [decision for decision in result.decisions if decision.tried]
    summary = (
        f"{counted(result.tried(), 'other state')} tried for "
        f"{counted(len(searched), 'decision')}"
    )
    widths = result.widths()
    if not widths:
        return summary
    most = max(widths)
    far = (
        counted(most, "change")
        if len(widths) == 1
        else f"{min(widths)} to {most} changes"
    )
    return f"{summary}; those of order are {far} away from the record"


def _print_unknown(sentences: Iterable[str]) -> None:
    print_line()
    print_line("what the record cannot show, and may be the cause:")
    for sentence in sentences:
        print_line(f"- {sentence}")


def _print_decision(decision: ComparedDecision) -> None:
    print_line()
    print_line(
        f"pod {decision.pod} ({decision.scheduler}) after {duration(decision.at)}"
    )
    print_line(f"  theirs: {_outcome(decision.theirs)}")
    print_line(f"  ours: {_outcome(decision.ours)}")
    if decision.rejection is not None:
        why = ", ".join(decision.rejection.reasons) or "not evaluated"
        plugin = decision.rejection.plugin or "PreFilter"
        print_line(f"  {decision.rejection.node} is rejected here by {plugin}: {why}")
    rated = [
        scores for scores in (decision.their_scores, decision.our_scores) if scores
    ]
    if rated and decision.theirs.node != decision.ours.node:
        _print_scores(rated, decision.theirs.node)


def _print_scores(rated: list[NodeScores], theirs: str) -> None:
    plugins = list(
        dict.fromkeys(name for node_scores in rated for name in node_scores.plugins)
    )
    rows = []
    for node_scores in rated:
        cells = [
            f"{score.raw} -> {score.normalized} -> {score.weighted}"
            if (score := node_scores.plugins.get(name))
            else "-"
            for name in plugins
        ]
        whose = "<- theirs" if node_scores.node == theirs else "<- ours"
        rows.append((node_scores.node, *cells, node_scores.total, whose))
    print_table(("NODE", *plugins, "TOTAL", ""), rows)


def _outcome(decided: Decided) -> str:
    if decided.node:
        return f"on {decided.node}"
    parts = [f"no node: {decided.message}"]
    if decided.nominated_node:
        parts.append(f"nominated to {decided.nominated_node}")
    if decided.victims:
        parts.append(f"preempts {', '.join(decided.victims)}")
    return "; ".join(parts)


def _decision(decision: ComparedDecision) -> dict[str, object]:
    document: dict[str, object] = {
        "pod": decision.pod,
        "scheduler": decision.scheduler,
        "at": decision.at,
        "agreement": decision.agreement.value,
        "theirs": _decided(decision.theirs),
        "ours": _decided(decision.ours),
        "best": decision.best,
        "statesTried": decision.tried,
        "orderWidth": decision.width,
    }
    if decision.their_scores is not None:
        document["theirScores"] = scores_document(decision.their_scores)
    if decision.our_scores is not None:
        document["ourScores"] = scores_document(decision.our_scores)
    if decision.rejection is not None:
        document["rejection"] = {
            "node": decision.rejection.node,
            "plugin": decision.rejection.plugin,
            "code": decision.rejection.code.label,
            "reasons": list(decision.rejection.reasons),
        }
    return document


def _decided(decided: Decided) -> dict[str, object]:
    return {
        "node": decided.node,
        "message": decided.message,
        "nominatedNode": decided.nominated_node,
        "victims": list(decided.victims),
    }
