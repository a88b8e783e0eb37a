"""Prints a comparison, in the forms of ``compare -o``."""

import csv
import io
from collections.abc import Iterable, Mapping, Sequence, Set
from typing import Any, Final

import attrs

from quaymaster._base.errors import counted
from quaymaster._cli.explanations import details, plugin_headings, whole_reason
from quaymaster._cli.output import print_line, print_table, print_text
from quaymaster._cli.tables import Fit, Heading
from quaymaster._core.cycle.explanation import Explanation, NodeScores
from quaymaster._studies.comparing.comparing import Comparison, VariantResult
from quaymaster._studies.comparing.differences import (
    Difference,
    Divergence,
    MovedWorkload,
)
from quaymaster._studies.comparing.estimates import Estimate
from quaymaster._studies.comparing.outcome import Decision

__all__ = [
    "FIGURE_KEYS",
    "as_document",
    "figure_rows",
    "figures_table",
    "means_of",
    "print_comparison",
    "print_csv",
]

_MOVED: Final = 10
"""How many workloads are listed; all are in JSON and YAML."""
_NODES: Final = 4
_WAITING: Final = "(pending)"
FIGURE_KEYS: Final = ("variant", "seed", "figure", "value")
"""The columns of CSV."""

_UNITS: Final = {
    **dict.fromkeys(("pods", "placed", "pending", "preempted"), "pods"),
    "disruptions": "pods",
    "node_hours": "hours",
    "cost": "price of the nodes of the autoscaler",
    **dict.fromkeys(("skew", "skew_of_workloads"), "pods"),
    **dict.fromkeys(("wait_p50", "wait_p99", "wait_max", "makespan"), "seconds"),
    **dict.fromkeys(("nodes", "nodes_used", "nodes_added", "nodes_removed"), "nodes"),
    **dict.fromkeys(("pod_groups", "pod_groups_with_quorum"), "groups"),
    **dict.fromkeys(("utilization", "imbalance", "fragmentation"), "share, 0 to 1"),
    "attempts": "attempts",
    "price_per_hour": "per hour",
}
"""The unit of a figure, by the part of its name before the dot."""


def as_document(comparison: Comparison) -> dict[str, Any]:
    """The comparison as plain data, in the form of ``-o json``."""
    return {
        "seeds": list(comparison.seeds),
        "variants": [
            {
                "name": variant.name,
                "figures": _estimates(variant.figures),
                "runs": [
                    {"seed": each.seed, "figures": dict(each.figures)}
                    for each in variant.outcomes
                ],
            }
            for variant in comparison.variants
        ],
        "differences": [
            _difference(difference) for difference in comparison.differences
        ],
    }


def print_csv(
    comparison: Comparison, more: Iterable[tuple[str, int, str, str]] = ()
) -> None:
    """Print a line for each variant, seed and figure.

    Args:
        comparison: The comparison.
        more: More such lines.
    """
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(FIGURE_KEYS)
    for row in figure_rows(comparison):
        writer.writerow(
            (row["variant"], row["seed"], row["figure"], _number(row["value"]))
        )
    writer.writerows(more)
    print_text(text.getvalue())


def figure_rows(comparison: Comparison) -> list[dict[str, Any]]:
    """Return a row for each variant, seed and figure, as plain data."""
    return [
        {"variant": variant.name, "seed": outcome.seed, "figure": name, "value": value}
        for variant in comparison.variants
        for outcome in variant.outcomes
        for name, value in outcome.figures.items()
    ]


def print_comparison(comparison: Comparison, kept: int = 0) -> None:
    """Print a comparison as tables.

    Args:
        comparison: The comparison.
        kept: How many pods no variant decides, since they keep their nodes.
    """
    _print_figures(comparison)
    for difference in comparison.differences:
        print_line()
        if difference.divergence is None and not difference.moved:
            print_line(_same(comparison, difference.variant, kept))
        else:
            _print_difference(comparison, difference)


def _same(comparison: Comparison, variant: str, kept: int) -> str:
    """Describe that two variants do not differ, and in what."""
    first = comparison.variants[0]
    if not kept:
        return f"{variant} makes the same decisions as {first.name}"
    decided = max(int(outcome.figures["pods"]) for outcome in first.outcomes)
    keep = "keeps its node" if kept == 1 else "keep their nodes"
    undecided = f"{counted(kept, 'pod')} of the input {keep}"
    if not decided:
        return f"nothing was compared: no pod is pending, and {undecided}"
    pods = "pod" if decided == 1 else f"{decided} pods"
    same = f"{variant} decides the {pods} without a node as {first.name} does"
    return f"{same}; {undecided} and were not compared"


def figures_table(
    comparison: Comparison,
) -> tuple[tuple[str, ...], tuple[tuple[str, ...], ...]]:
    """Return the columns and rows of the figures, with their units, for a page."""
    columns, rows = _figures(comparison)
    figure, *variants = columns
    with_units = tuple((name, _unit(name), *values) for name, *values in rows)
    heads = (figure.capitalize(), "Unit", *variants)
    if len(comparison.variants) == 2:
        heads = (*heads[:-1], heads[-1].capitalize())
    return heads, with_units


def _unit(figure: str) -> str:
    return _UNITS.get(figure.partition(".")[0], "")


def _print_figures(comparison: Comparison) -> None:
    print_table(*_figures(comparison))
    if len(comparison.seeds) > 1:
        print_line(means_of(comparison))


def means_of(comparison: Comparison) -> str:
    """Return a sentence that explains the figures of several seeds."""
    return (
        f"means of {len(comparison.seeds)} seeds with 95 % confidence intervals; "
        "* marks differences that chance does not explain"
    )


def _figures(comparison: Comparison) -> tuple[list[str], list[list[str]]]:
    variants = comparison.variants
    names = dict.fromkeys(
        name
        for variant in variants
        for name in variant.figures
        if "." not in name or any(_is_there(each, name) for each in variants)
    )
    is_pair = len(variants) == 2
    columns = ["FIGURE", *(variant.name for variant in variants)]
    if is_pair:
        columns.append("DIFFERENCE")
    rows = []
    for name in names:
        row = [name, *(_shown(variant.figures.get(name)) for variant in variants)]
        if is_pair:
            row.append(_signed(comparison.differences[0].figures.get(name)))
        rows.append(row)
    return columns, rows


def _is_there(variant: VariantResult, figure: str) -> bool:
    """Whether a figure is not zero: resources without requests get no row."""
    statistic = variant.figures.get(figure)
    return statistic is not None and bool(statistic.mean or statistic.half_width)


def _print_difference(comparison: Comparison, difference: Difference) -> None:
    first = comparison.variants[0].name
    pods = sum(workload.pods for workload in difference.moved)
    print_line(f"{counted(pods, 'pod')} placed on other nodes by {difference.variant}")
    if difference.moved:
        shown = difference.moved[:_MOVED]
        print_table(
            (
                Heading("WORKLOAD", Fit.NAME),
                "PODS",
                Heading(first, Fit.NODES),
                Heading(difference.variant, Fit.NODES),
            ),
            [
                (
                    workload.workload,
                    workload.pods,
                    _nodes(workload.first),
                    _nodes(workload.other),
                )
                for workload in shown
            ],
        )
        if len(difference.moved) > len(shown):
            left = counted(len(difference.moved) - len(shown), "more workload")
            print_line(f"and {left}")
    if difference.divergence is not None:
        print_line()
        _print_divergence(first, difference.variant, difference.divergence)


def _print_divergence(first: str, other: str, divergence: Divergence) -> None:
    print_line(f"the first decision that differs is number {divergence.number}:")
    print_line(f"  {first}: {_decided(divergence.first)}")
    print_line(f"  {other}: {_decided(divergence.other)}")
    nodes = [
        decision.node
        for decision in (divergence.first, divergence.other)
        if decision and decision.node
    ]
    explained = (
        (first, divergence.first_explanation),
        (other, divergence.other_explanation),
    )
    rows = [
        (name, node, explanation)
        for name, explanation in explained
        if explanation is not None
        for node in dict.fromkeys(nodes)
    ]
    _print_rows(rows)


def _print_rows(rows: Sequence[tuple[str, str, Explanation]]) -> None:
    """Print the scores of nodes side by side, and why others were rejected."""
    scored = [
        (name, node, _scores_of(node, explanation)) for name, node, explanation in rows
    ]
    plugins = dict.fromkeys(
        plugin for _, _, scores in scored if scores for plugin in scores.plugins
    )
    table = [
        (name, node, *(_weighted(scores, plugin) for plugin in plugins), scores.total)
        for name, node, scores in scored
        if scores is not None
    ]
    if table:
        headings = plugin_headings([scores for _, _, scores in scored if scores])
        print_table(("VARIANT", Heading("NODE", Fit.NODE), *headings, "TOTAL"), table)
    for name, node, explanation in rows:
        for rejection in explanation.rejections:
            if rejection.node == node:
                by = f" by {rejection.plugin}" if rejection.plugin else ""
                why = whole_reason(rejection)
                print_line(f"{name}: {node} was rejected{by}: {why}")


def _scores_of(node: str, explanation: Explanation) -> NodeScores | None:
    return next((scores for scores in explanation.scores if scores.node == node), None)


def _weighted(scores: NodeScores, plugin: str) -> str:
    score = scores.plugins.get(plugin)
    return "-" if score is None else str(score.weighted)


def _decided(decision: Decision | None) -> str:
    if decision is None:
        return "nothing more to decide"
    where = f"to {decision.node}" if decision.node else "gets no node"
    return f"{decision.pod} {where}"


def _nodes(nodes: Mapping[str, int]) -> str:
    listed = [
        (name or _WAITING) + (f" x{count}" if count > 1 else "")
        for name, count in sorted(nodes.items(), key=lambda item: (-item[1], item[0]))
    ]
    more = [f"{len(listed) - _NODES} more"] if len(listed) > _NODES else []
    return ", ".join([*listed[:_NODES], *more]) or "-"


def _shown(estimate: Estimate | None) -> str:
    if estimate is None:
        return "-"
    # A single seed, or the same value with all seeds.
    if not estimate.half_width:
        return _number(estimate.mean)
    return f"{_number(estimate.mean)} ± {_number(estimate.half_width)}"


def _signed(estimate: Estimate | None) -> str:
    if estimate is None:
        return "-"
    sign = "+" if estimate.mean > 0 else ""
    return sign + _shown(estimate) + (" *" if estimate.is_certain else "")


def _number(value: float) -> str:
    return f"{value:.3f}".rstrip("0").rstrip(".") if value % 1 else f"{value:.0f}"


def _estimates(figures: Mapping[str, Estimate]) -> dict[str, dict[str, float]]:
    return {
        name: {"mean": estimate.mean}
        | ({} if estimate.half_width is None else {"halfWidth": estimate.half_width})
        for name, estimate in figures.items()
    }


def _difference(difference: Difference) -> dict[str, Any]:
    return {
        "variant": difference.variant,
        "figures": _estimates(difference.figures),
        "moved": [_moved(each) for each in difference.moved],
        "firstDifference": None
        if difference.divergence is None
        else _divergence(difference.divergence),
    }


def _moved(workload: MovedWorkload) -> dict[str, Any]:
    return {
        "workload": workload.workload,
        "pods": workload.pods,
        "first": dict(workload.first),
        "other": dict(workload.other),
    }


def _divergence(divergence: Divergence) -> dict[str, Any]:
    nodes = {
        decision.node for decision in (divergence.first, divergence.other) if decision
    }
    return {
        "number": divergence.number,
        "first": _decision(divergence.first, divergence.first_explanation, nodes),
        "other": _decision(divergence.other, divergence.other_explanation, nodes),
    }


def _decision(
    decision: Decision | None, explanation: Explanation | None, nodes: Iterable[str]
) -> dict[str, Any] | None:
    if decision is None:
        return None
    document: dict[str, Any] = {"pod": decision.pod, "node": decision.node}
    if explanation is not None:
        document |= details(_only(explanation, set(nodes)))
    return document


def _only(explanation: Explanation, nodes: Set[str]) -> Explanation:
    """The part of the explanation that is about these nodes."""
    return attrs.evolve(
        explanation,
        rejections=tuple(
            rejection for rejection in explanation.rejections if rejection.node in nodes
        ),
        scores=tuple(scores for scores in explanation.scores if scores.node in nodes),
    )
