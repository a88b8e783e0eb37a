"""The table of the PodGroups of a run: one row for each group."""

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Final

from quaymaster._studies.simulation.explained_groups import ExplainedGroup
from quaymaster._studies.simulation.observed import ObservedRun
from quaymaster._surfaces.reporting.tables import ReportTable

__all__ = ["group_tables"]

_COLUMNS: Final = (
    *("PodGroup", "State", "Pods", "With a node", "Quorum", "Domains", "Nodes"),
    "Why",
)
_NAMED: Final = 8
"""How many nodes of a group are named."""


def group_tables(runs: Sequence[ObservedRun]) -> Iterator[ReportTable]:
    """Yield a table for each run that has PodGroups.

    Args:
        runs: The runs of a page.
    """
    for run in runs:
        groups = run.result.groups
        if not groups:
            continue
        title = f"PodGroups, {run.name}" if run.name and len(runs) > 1 else "PodGroups"
        failed = [row for row, group in enumerate(groups) if not group.is_quorate]
        yield ReportTable(
            title=title,
            columns=_COLUMNS,
            rows=tuple(map(_row, groups)),
            failed=tuple(failed),
        )


def _row(group: ExplainedGroup) -> tuple[str | int | None, ...]:
    domains = [f"{name} ({count})" for name, count in sorted(group.domains.items())]
    counts = Counter(member.node for member in group.members if member.node)
    nodes = [f"{node} ({count})" for node, count in counts.most_common(_NAMED)]
    if len(counts) > _NAMED:
        nodes.append(f"and {len(counts) - _NAMED} more")
    return (
        group.group,
        group.outcome.value,
        len(group.members),
        group.placed,
        group.min_count,
        ", ".join(domains),
        ", ".join(nodes),
        group.message,
    )
