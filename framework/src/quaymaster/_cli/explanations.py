"""Prints an explained pod, as tables or as plain data."""

from collections.abc import Iterable, Sequence
from typing import Final

from quaymaster._base.errors import counted
from quaymaster._base.natural_order import natural_key
from quaymaster._cli.attempt_tables import print_attempts
from quaymaster._cli.columns import Column, Columns, Shown
from quaymaster._cli.csv_rows import print_csv
from quaymaster._cli.output import print_line, print_table
from quaymaster._cli.results import duration
from quaymaster._cli.tables import Fit, Heading
from quaymaster._core.config.model import RANDOM
from quaymaster._core.cycle.explanation import Explanation, NodeRejection, NodeScores
from quaymaster._core.engine.attempts import Attempt, AttemptOutcome
from quaymaster._studies.simulation.explained import ExplainedPod

__all__ = [
    "REJECTIONS",
    "WHY",
    "as_document",
    "details",
    "plugin_headings",
    "print_explained",
    "print_explained_csv",
    "print_explanation",
    "print_explanation_csv",
    "scores_document",
    "whole_reason",
]

_NAMED: Final = 3
"""How many nodes with the same reasons are listed by name."""


def as_document(explained: ExplainedPod, top: int = 0) -> dict[str, object]:
    """The explained pod, in the form of ``-o json``.

    Args:
        explained: The pod.
        top: The maximum number of nodes with scores; 0: all.
    """
    return {
        "pod": explained.pod,
        "scheduler": explained.scheduler,
        "outcome": explained.outcome.value,
        "node": explained.node,
        "message": explained.message,
        **details(explained.explanation, top),
        "attempt": explained.attempt,
        "attempts": [
            {
                "attempt": attempt.number,
                "at": attempt.at,
                "outcome": attempt.outcome.value,
                "node": attempt.node,
                "nominatedNode": attempt.nominated_node,
                "message": attempt.message,
                "preempted": list(attempt.preempted),
                **(details(attempt.explanation, top) if attempt.explanation else {}),
            }
            for attempt in explained.attempts
        ],
        "terminating": explained.terminating,
    }


def print_explained(explained: ExplainedPod, *, top: int, every: bool) -> None:
    """Print an explained pod.

    Args:
        explained: The pod.
        top: How many nodes are shown; 0: all.
        every: Whether every attempt is shown, or only the selected one.
    """
    shown = [
        attempt
        for attempt in explained.attempts
        if every or _is_shown(explained, attempt)
    ]
    if not shown:
        _print_untried(explained)
    for attempt in shown:
        # Identity: an equal attempt is not this attempt.
        if attempt is not shown[0]:
            print_line()
        _print_attempt(explained, attempt, top)
    if not every:
        _print_others(explained)


def _is_shown(explained: ExplainedPod, attempt: Attempt) -> bool:
    return attempt.number == explained.attempt


def _print_untried(explained: ExplainedPod) -> None:
    where = f" on {explained.node}" if explained.node else ""
    print_line(f"{explained.pod}: {explained.outcome}{where}")
    if explained.message:
        print_line(explained.message)
    if explained.outcome is AttemptOutcome.HAS_NODE:
        print_line(
            "it had this node in the input; --unbind shows the decision without it"
        )


def _print_attempt(explained: ExplainedPod, attempt: Attempt, top: int) -> None:
    print_line(f"{explained.pod}: {_outcome(attempt)}")
    if attempt.message:
        print_line(attempt.message)
    if len(explained.attempts) > 1:
        print_line(
            f"attempt {attempt.number} of {len(explained.attempts)}, "
            f"after {duration(attempt.at)}{_beside(explained, attempt)}"
        )
    if attempt.explanation is not None:
        _print_verdicts(attempt.explanation, attempt.node, top)


def print_explanation(explanation: Explanation, *, top: int) -> None:
    """Print the verdicts on each node for a pod that is not placed here.

    Args:
        explanation: The explanation.
        top: How many nodes are shown; 0: all.
    """
    fit = counted(len(explanation.scores), "node")
    rejected = len({rejection.node for rejection in explanation.rejections})
    print_line(f"{explanation.pod}: {fit} fit, {rejected} rejected")
    if explanation.status is not None:
        print_line(explanation.status.message)
    if explanation.message:
        print_line(explanation.message)
    _print_verdicts(explanation, "", top)


def print_explanation_csv(explanation: Explanation) -> None:
    """Print a line of CSV for each node: those that fit, then the others."""
    print_csv(_node_rows(explanation, 0), _NODE_KEYS)


def _print_verdicts(explanation: Explanation, winner: str, top: int) -> None:
    _print_scores(explanation.scores, winner, top)
    _print_tie(explanation, winner)
    _print_rejections(explanation.rejections, top)


def _beside(explained: ExplainedPod, attempt: Attempt) -> str:
    """The note that a decision was made while pods were terminating, or empty."""
    if not explained.terminating or attempt.number > 1:
        return ""
    pods = counted(explained.terminating, "terminating pod")
    return f": the decision with {pods}"


def _outcome(attempt: Attempt) -> str:
    parts = [attempt.outcome + (f" on {attempt.node}" if attempt.node else "")]
    if attempt.nominated_node and not attempt.node:
        parts.append(f"nominated to {attempt.nominated_node}")
    if attempt.preempted:
        parts.append(f"preempts {', '.join(attempt.preempted)}")
    return ", ".join(parts)


def _print_others(explained: ExplainedPod) -> None:
    rows = [
        (
            attempt.number,
            duration(attempt.at),
            _outcome(attempt),
            "<- shown" if _is_shown(explained, attempt) else "",
        )
        for attempt in explained.attempts
    ]
    print_attempts(("ATTEMPT", "AFTER", Heading("OUTCOME", Fit.SENTENCE), ""), rows)


def _print_rejections(rejections: Sequence[NodeRejection], top: int) -> None:
    if not rejections:
        return
    print_line()
    if not top or len(rejections) <= top:
        REJECTIONS.print(_by_node(rejections))
        return
    print_table(
        (
            *("NODES", "REJECTED BY", Heading("REASONS", Fit.MESSAGE)),
            Heading("SUCH AS", Fit.NODE, importance=1),
        ),
        _grouped(rejections),
    )


def _by_node(rejections: Iterable[NodeRejection]) -> list[NodeRejection]:
    return sorted(rejections, key=lambda rejection: natural_key(rejection.node))


def _grouped(rejections: Iterable[NodeRejection]) -> list[tuple[object, ...]]:
    """A row for each plugin and its reasons, the most frequent first.

    The first detail is the same for all nodes with these reasons.
    """
    groups: dict[tuple[str, str], list[str]] = {}
    for rejection in rejections:
        why = _why(rejection)
        groups.setdefault((rejection.plugin or "-", why), []).append(rejection.node)
    ordered = sorted(groups.items(), key=lambda group: -len(group[1]))
    return [
        (len(nodes), plugin, why, ", ".join(nodes[:_NAMED]))
        for (plugin, why), nodes in ordered
    ]


def _why(rejection: NodeRejection) -> str:
    """Return the reasons, with the facts that similar nodes have in common."""
    # A nominated pod is tried on its node first, and on other nodes only if that fails.
    said = ", ".join(rejection.reasons) or "not evaluated"
    return "; ".join((said, *rejection.details[:1], *rejection.post_filter[:1]))


def whole_reason(rejection: NodeRejection) -> str:
    """Return the reasons of a rejection, with all facts."""
    reasons = ", ".join(rejection.reasons) or "not evaluated"
    return "; ".join((reasons, *rejection.details, *rejection.post_filter))


def _here(rejection: NodeRejection) -> str:
    """Return the facts about this node."""
    return "; ".join((*rejection.details[1:], *rejection.post_filter[1:]))


def _print_scores(scores: Sequence[NodeScores], winner: str, top: int) -> None:
    if not scores:
        return
    shown = scores[:top] if top else scores
    print_line()
    print_table(
        (Heading("NODE", Fit.NODE), *plugin_headings(shown), "TOTAL", ""),
        [
            (
                node_scores.node,
                *(
                    f"{score.raw} -> {score.normalized} -> {score.weighted}"
                    for score in node_scores.plugins.values()
                ),
                node_scores.total,
                "<- winner" if node_scores.node == winner else "",
            )
            for node_scores in shown
        ],
    )
    if len(shown) < len(scores):
        print_line(f"and {len(scores) - len(shown)} more nodes that fit")
    print_line("scores: raw -> normalized -> weighted")


def plugin_headings(scores: Sequence[NodeScores]) -> list[Heading]:
    """Return a heading for each plugin; those whose scores differ least go first.

    Profiles may differ in their plugins, so not every node has a score of each.
    """
    headings = []
    for name in dict.fromkeys(plugin for row in scores for plugin in row.plugins):
        weighted = [row.plugins[name].weighted for row in scores if name in row.plugins]
        spread = max(weighted) - min(weighted)
        headings.append(Heading(name, Fit.NAME, importance=spread))
    return headings


def _print_tie(explanation: Explanation, winner: str) -> None:
    tied, chooser = explanation.tied_with(winner), explanation.tie_breaker
    if tied > 1 and chooser != RANDOM:
        print_line(f"tieBreaker {chooser}: {winner}, of {tied} with the highest total")


def details(explanation: Explanation | None, top: int = 0) -> dict[str, object]:
    """The verdicts of an attempt about each node, as plain data.

    Args:
        explanation: The explanation of the attempt.
        top: The maximum number of nodes with scores; 0: all.
    """
    scores = explanation.scores if explanation else ()
    return {
        "rejections": REJECTIONS.documents(
            explanation.rejections if explanation else ()
        ),
        "scores": [
            scores_document(node_scores)
            for node_scores in (scores[:top] if top else scores)
        ],
        "tieBreaker": explanation.tie_breaker if explanation else None,
    }


def print_explained_csv(explained: ExplainedPod, *, top: int, every: bool) -> None:
    """Print a line of CSV for each node of an attempt: those that fit, then the others.

    Args:
        explained: The pod.
        top: The maximum number of nodes with scores; 0: all.
        every: Whether every attempt is shown, or only the selected one.
    """
    documents = []
    for attempt in explained.attempts:
        if every or _is_shown(explained, attempt):
            rows = _node_rows(attempt.explanation, top) if attempt.explanation else []
            documents += [{"attempt": attempt.number, **row} for row in rows]
    print_csv(documents, ["attempt", *_NODE_KEYS])


def _node_rows(explanation: Explanation, top: int) -> list[dict[str, object]]:
    scores = explanation.scores
    return [
        *map(scores_document, scores[:top] if top else scores),
        *REJECTIONS.documents(_by_node(explanation.rejections)),
    ]


def scores_document(scores: NodeScores) -> dict[str, object]:
    """The scores of a node as plain data."""
    return {
        "node": scores.node,
        "total": scores.total,
        "plugins": {
            name: {
                "raw": score.raw,
                "normalized": score.normalized,
                "weighted": score.weighted,
            }
            for name, score in scores.plugins.items()
        },
    }


WHY: Final[Sequence[Column[NodeRejection] | str]] = (
    *("reasons", "details", "postFilter"),
    Column(heading="Reasons", value=_why, fit=Fit.MESSAGE),
    Column(heading="On this node", value=_here, fit=Fit.SENTENCE, is_optional=True),
)
"""The last columns about a rejection."""

REJECTIONS: Final = Columns[NodeRejection](
    Column("node", fit=Fit.NODE),
    Column("plugin", heading="Rejected by", text=lambda name: name or "-"),
    Column("code", value=lambda rejection: rejection.code.label, shown=Shown.NEVER),
    *WHY,
)
"""What an attempt found out about the nodes that did not fit."""

_NODE_KEYS: Final = list(dict.fromkeys(("node", "total", "plugins", *REJECTIONS.keys)))
"""The keys of the rows of nodes."""
