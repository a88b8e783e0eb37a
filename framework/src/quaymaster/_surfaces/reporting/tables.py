"""A table of a report."""

import attrs

__all__ = ["ReportTable"]


@attrs.frozen(kw_only=True)
class ReportTable:
    """A table that a report shows beside what it shows of the runs.

    Attributes:
        title: Its heading.
        columns: The headings of its columns.
        rows: The cells of each row: texts and numbers.
        failed: The numbers of the rows about failures, from 0.
        is_last: Whether it comes after what the page shows of the runs.
    """

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str | int | float | None, ...], ...]
    failed: tuple[int, ...] = ()
    is_last: bool = False
