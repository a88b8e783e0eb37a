"""Prints why an attempt did not choose one node."""

from typing import Final

from quaymaster._cli.columns import Column, Columns
from quaymaster._cli.explanations import WHY
from quaymaster._cli.output import print_line, print_table
from quaymaster._core.config.model import RANDOM
from quaymaster._core.cycle.explanation import NodeRejection, NodeScores
from quaymaster._studies.simulation.explained import ExplainedPod, NodeFate, WhyNot

__all__ = ["print_why_not", "why_not_document"]


def print_why_not(explained: ExplainedPod) -> None:
    """Print why an attempt did not choose the node of ``--why-not``."""
    why_not = explained.why_not
    if why_not is None:
        print_line("no attempt was made, so there is no verdict about any node")
        return
    print_line(f"{explained.pod} on {why_not.node}: {_FATES[why_not.fate]}")
    if len(explained.attempts) > 1:
        of = len(explained.attempts)
        print_line(f"attempt {explained.attempt} of {of}; --attempt N shows the others")
    if why_not.rejections:
        print_line()
        _REJECTIONS.print(why_not.rejections)
    if why_not.nominated:
        print_line(f"room has to be left for: {', '.join(why_not.nominated)}")
    if why_not.preemption:
        print_line(why_not.preemption)
    _print_scores(why_not, explained.node)


_REJECTIONS: Final = Columns[NodeRejection](
    Column("plugin", heading="Rejected by", text=lambda name: name or "-"),
    Column("code", heading="Verdict", value=lambda rejection: rejection.code.label),
    *WHY,
)

_FATES = {
    NodeFate.CHOSEN: "it was chosen",
    NodeFate.FEASIBLE: "it was feasible, but another node was chosen",
    NodeFate.REJECTED: "it was rejected",
    NodeFate.NOT_LOOKED_AT: "it was not evaluated, though it was feasible",
    NodeFate.UNKNOWN: "there is no such node",
}


def _print_scores(why_not: WhyNot, winner: str) -> None:
    own, best = why_not.scores, why_not.winner
    if own is None or best is None or why_not.fate is NodeFate.CHOSEN:
        return
    print_line()
    rows: list[tuple[object, ...]] = [
        (name, _score(own, name), _score(best, name), _behind(own, best, name))
        for name in best.plugins
    ]
    rows.append(("TOTAL", own.total, best.total, f"{own.total - best.total:+}"))
    print_table(("PLUGIN", why_not.node, winner, "DIFFERENCE"), rows)
    print_line("scores: raw -> normalized -> weighted")
    if own.total == best.total:
        who = why_not.tie_breaker
        chooser = "the draw" if who == RANDOM else f"tieBreaker {who}"
        print_line(f"both have the same total: {chooser} chose the other one")


def _score(scores: NodeScores, plugin: str) -> str:
    score = scores.plugins[plugin]
    return f"{score.raw} -> {score.normalized} -> {score.weighted}"


def _behind(own: NodeScores, best: NodeScores, plugin: str) -> str:
    return f"{own.plugins[plugin].weighted - best.plugins[plugin].weighted:+}"


def why_not_document(why_not: WhyNot) -> dict[str, object]:
    """The answer as plain data, in the form of ``-o json``."""
    return {
        "node": why_not.node,
        "fate": why_not.fate.value,
        "rejections": _REJECTIONS.documents(why_not.rejections),
        "nominated": list(why_not.nominated),
        "total": why_not.scores.total if why_not.scores else None,
        "winnerTotal": why_not.winner.total if why_not.winner else None,
        "preemption": why_not.preemption,
    }
