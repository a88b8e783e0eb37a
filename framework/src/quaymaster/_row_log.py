"""The rows of a table that changed, in order."""

from typing import Final

__all__ = ["RowLog"]

_LIMIT: Final = 1 << 16


class RowLog:
    """Rows, in the order in which something happened to them; only the last ones.

    Attributes:
        start: How many came before those that are kept.
        rows: The others.
    """

    __slots__ = ("rows", "start")

    def __init__(self) -> None:
        self.start = 0
        self.rows: list[int] = []

    @property
    def position(self) -> int:
        """How many rows there have been."""
        return self.start + len(self.rows)

    def note(self, row: int, capacity: int) -> None:
        """Add a row; ``capacity`` is how many rows there are."""
        rows = self.rows
        rows.append(row)
        if len(rows) > _LIMIT and len(rows) > 4 * capacity:
            dropped = len(rows) // 2
            del rows[:dropped]
            self.start += dropped

    def since(self, position: int) -> set[int] | None:
        """The rows after an earlier position; None if some are no longer kept."""
        start = position - self.start
        return None if start < 0 else set(self.rows[start:])
