"""Tables of text: complete on a pipe, fitted to the width of a terminal."""

from collections.abc import Iterable, Sequence

import attrs
from rich.cells import cell_len

from quaymaster._base.errors import escaped
from quaymaster._cli.fitting import Fit, Fitted, TextColumn, fitted
from quaymaster._cli.folding import folded, shortened

__all__ = ["Fit", "Heading", "Message", "PrintedTable", "Table", "headings_of"]


@attrs.frozen
class Heading:
    """The heading of a column, and how the column is fitted to a terminal.

    Attributes:
        text: What is printed above the column; may be empty.
        fit: What may be done to its cells.
        importance: If the terminal is too narrow, the column with the lowest number
            is left out first. A column without a number is never left out.
    """

    text: str
    fit: Fit = Fit.WHOLE
    importance: int | None = None


@attrs.frozen
class Message:
    """A cell of a column of messages, if rows differ in more than the message.

    Attributes:
        text: The whole text.
        brief: What remains in the row if the message is listed below the table.
        message: The message, which several rows may have.
    """

    text: str
    brief: str
    message: str

    def __str__(self) -> str:
        return self.text


@attrs.frozen
class PrintedTable:
    """The lines of a table.

    Attributes:
        headings: The lines of the headings.
        body: The lines of the rows.
        messages: Long messages, which the cells of the rows refer to.
        notes: What the cells lack: columns that were left out, ends of names.
    """

    headings: list[str]
    body: list[str]
    messages: list[str]
    notes: list[str]


class Table:
    """Rows under headings.

    Args:
        columns: The headings.
        rows: The cells of each row.
    """

    def __init__(
        self, columns: Sequence[str | Heading], rows: Iterable[Sequence[object]]
    ) -> None:
        headings = headings_of(columns)
        rows = list(rows)
        self._columns = [
            TextColumn(
                heading=heading.text,
                cells=[escaped(str(row[index])) for row in rows],
                fit=heading.fit,
                importance=heading.importance,
                messages=[_message(row[index]) for row in rows]
                if heading.fit is Fit.MESSAGE
                else (),
            )
            for index, heading in enumerate(headings)
        ]

    def lines(self, width: int | None) -> PrintedTable:
        """Return the lines of the table.

        Args:
            width: How many columns a line has; None: no limit, and nothing is changed.
        """
        table = fitted(self._columns, width)
        rows = zip(*(column.cells for column in table.columns), strict=True)
        return PrintedTable(
            headings=_row([column.heading for column in table.columns], table),
            body=[line for row in rows for line in _row(row, table)],
            messages=_numbered(table.messages, width),
            notes=table.notes,
        )


def headings_of(columns: Iterable[str | Heading]) -> list[Heading]:
    """Return headings; those that are texts are never fitted."""
    return [
        Heading(column) if isinstance(column, str) else column for column in columns
    ]


def _message(cell: object) -> tuple[str, str]:
    """Return what stays in the row, and what may be listed below the table."""
    if isinstance(cell, Message):
        return escaped(cell.brief), escaped(cell.message)
    return "", escaped(str(cell))


def _row(cells: Sequence[str], table: Fitted) -> list[str]:
    """Return a row, which has one line unless it has folded sentences."""
    columns = [
        folded(cell, size)
        if column.may_be_folded
        else [shortened(cell, size) if column.may_be_shortened else cell]
        for cell, size, column in zip(cells, table.widths, table.columns, strict=True)
    ]
    lines = []
    for index in range(max(map(len, columns), default=0)):
        parts = [
            _padded(column[index] if index < len(column) else "", size)
            for column, size in zip(columns, table.widths, strict=True)
        ]
        lines.append(table.gap.join(parts).rstrip())
    return lines


def _numbered(messages: Sequence[str], width: int | None) -> list[str]:
    lines = []
    for number, message in enumerate(messages, 1):
        head = f"({number}) "
        first, *rest = folded(message, None if width is None else width - len(head))
        lines += [head + first, *(" " * len(head) + line for line in rest)]
    return lines


def _padded(text: str, width: int) -> str:
    return text + " " * (width - cell_len(text))
