"""The table of the attempts at a pod or a group."""

from collections.abc import Sequence
from typing import Final

from quaymaster._cli.output import print_hint, print_line, print_table
from quaymaster._cli.tables import Heading

__all__ = ["print_attempts"]

_MOST: Final = 10


def print_attempts(
    headings: Sequence[str | Heading], rows: Sequence[Sequence[object]]
) -> None:
    """Print a row for each attempt; of many, only the first ones and the last.

    A single attempt needs no table, so nothing is printed.
    """
    if len(rows) < 2:
        return
    listed = rows if len(rows) <= _MOST else [*rows[: _MOST - 1], rows[-1]]
    print_line()
    print_table(headings, listed)
    if len(listed) < len(rows):
        print_line(f"and {len(rows) - len(listed)} more before the last one")
    print_hint("--attempt N, or --attempt all, shows the others")
