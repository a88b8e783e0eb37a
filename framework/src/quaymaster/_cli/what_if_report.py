"""The tables of the page of ``what-if --report``."""

from typing import Any

from quaymaster._cli.group_effects import group_effects_table
from quaymaster._cli.what_if_results import (
    changes_table,
    facts_table,
    pods_table,
    spread_table,
)
from quaymaster._studies.planning.what_if_results import WhatIfResult

__all__ = ["what_if_tables"]


def what_if_tables(result: WhatIfResult) -> list[Any]:
    """Return the tables of the page, each a `ReportTable`."""
    # Imported only if a report is written.
    from quaymaster._surfaces.reporting.tables import ReportTable  # noqa: PLC0415

    return [
        ReportTable(title=title, columns=tuple(columns), rows=tuple(map(tuple, rows)))
        for title, (columns, rows) in (
            ("Changes", changes_table(result)),
            ("What happened to pods", pods_table(result)),
            ("PodGroups", group_effects_table(result)),
            ("Pods per topology domain", spread_table(result)),
            ("Facts about pending pods", facts_table(result)),
        )
        if rows
    ]
