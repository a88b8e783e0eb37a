"""Writes the page of ``capacity --report``."""

from collections.abc import Iterable, Sequence
from typing import Any

import attrs

from quaymaster._base.notices import Notice
from quaymaster._cli.closed_nodes import CLOSED
from quaymaster._cli.reports import write_report
from quaymaster._cli.rooms import group_table, headroom_table
from quaymaster._studies.capacity.calls import CapacityResult
from quaymaster._studies.capacity.prices import Prices
from quaymaster._studies.why.pending_groups import PendingSummary

__all__ = ["capacity_tables", "write_capacity_report"]


def write_capacity_report(
    measured: CapacityResult,
    file: str,
    prices: Prices,
    notices: Sequence[Notice],
    suggestions: PendingSummary | None = None,
) -> None:
    """Write the page: the state of the cluster, then the room of groups of nodes.

    Args:
        measured: The capacity, with the record of the run.
        file: The path of the page.
        prices: Prices of nodes without an annotation.
        notices: What was left out or assumed.
        suggestions: Changes that place the pending pods.
    """
    run = measured.observed
    assert run is not None, "the run was observed"
    run = attrs.evolve(run, result=attrs.evolve(run.result, notices=tuple(notices)))
    tables = capacity_tables(measured)
    write_report(
        file,
        [run],
        title="Capacity",
        tables=tables,
        prices=prices,
        suggestions=suggestions,
    )


def capacity_tables(measured: CapacityResult) -> list[Any]:
    """Return the tables of the page, each a `ReportTable`."""
    return list(_tables(measured))


def _tables(measured: CapacityResult) -> Iterable[Any]:
    # Imported only if a report is written.
    from quaymaster._surfaces.reporting.tables import ReportTable  # noqa: PLC0415

    headings, rows = group_table(measured.room)
    groups = [heading.text.capitalize() for heading in headings], rows
    for title, (columns, cells) in (
        ("How many more fit", headroom_table(measured)),
        ("Nodes that accept no pods", CLOSED.table(measured.room.closed_nodes)),
        ("Room by group of nodes", groups),
    ):
        if cells:
            yield ReportTable(
                title=title,
                columns=tuple(columns),
                rows=tuple(tuple(map(str, row)) for row in cells),
                is_last=True,
            )
