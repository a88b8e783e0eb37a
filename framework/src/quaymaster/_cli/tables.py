"""Tables of text, folded to the width of a terminal without breaking words."""

from collections.abc import Iterable, Sequence
from typing import Final

from rich.cells import cell_len

from quaymaster._base.errors import escaped

__all__ = ["Table", "folded"]

_GAP: Final = "   "


class Table:
    """Rows under headings.

    Args:
        columns: The headings; one may be empty.
        rows: The cells of each row.
        sentences: The headings of the columns whose cells may be folded.
    """

    def __init__(
        self,
        columns: Sequence[str],
        rows: Iterable[Sequence[object]],
        *,
        sentences: Iterable[str] = (),
    ) -> None:
        self._columns = columns
        self._rows = [[escaped(str(cell)) for cell in row] for row in rows]
        self._folds = [column in frozenset(sentences) for column in columns]

    def lines(self, width: int | None) -> tuple[list[str], list[str]]:
        """The lines of the headings, and those of the rows.

        Cells that are too wide are folded between words. If that is not enough, the
        table has no headings, and each row becomes a block of lines: heading, cell.

        Args:
            width: How many columns a line has; None: no limit.
        """
        widths = self._widths(width)
        if widths is None:
            assert width is not None, "everything fits without a limit"
            return [], self._blocks(width)
        body = [line for row in self._rows for line in _row(row, widths)]
        return _row(self._columns, widths), body

    def _widths(self, width: int | None) -> list[int] | None:
        """The width of each column, or None if they do not fit."""
        natural = [cell_len(column) for column in self._columns]
        least = list(natural)
        for row in self._rows:
            for index, cell in enumerate(row):
                length = cell_len(cell)
                if length > natural[index]:
                    natural[index] = length
        if width is None:
            return natural
        room = width - len(_GAP) * (len(natural) - 1)
        if sum(natural) <= room:
            return natural
        for index, folds in enumerate(self._folds):
            cells = [row[index] for row in self._rows]
            longest = max(map(_longest_word, cells), default=0)
            least[index] = max(least[index], longest) if folds else natural[index]
        return _shared_out(natural, least, room)

    def _blocks(self, width: int) -> list[str]:
        indent = max(map(cell_len, self._columns)) + len(_GAP)
        found: list[str] = []
        for row in self._rows:
            if found:
                found.append("")
            for column, cell in zip(self._columns, row, strict=True):
                if cell:
                    first, *rest = folded(cell, width - indent)
                    found.append(_padded(column, indent) + first)
                    found += [" " * indent + line for line in rest]
        return found


def folded(text: str, width: int | None) -> list[str]:
    """Fold a text into lines of a width, between words only.

    A word that is longer than a line gets its own line.
    """
    if width is None or cell_len(text) <= width:
        return [text]
    lines: list[str] = []
    for word in text.split(" "):
        if lines and cell_len(lines[-1]) + 1 + cell_len(word) <= width:
            lines[-1] += f" {word}"
        else:
            lines.append(word)
    return lines


def _shared_out(
    natural: Sequence[int], least: Sequence[int], room: int
) -> list[int] | None:
    """Widths between the least and the natural ones that fill the room."""
    left = room - sum(least)
    if left < 0:
        return None
    widths = list(least)
    wanting = sorted(range(len(least)), key=lambda index: natural[index] - least[index])
    for count, index in enumerate(wanting):
        extra = min(natural[index] - least[index], left // (len(wanting) - count))
        widths[index] += extra
        left -= extra
    return widths


def _row(cells: Sequence[str], widths: Sequence[int]) -> list[str]:
    """A row, in as many lines as its highest cell has."""
    columns = [folded(cell, size) for cell, size in zip(cells, widths, strict=True)]
    height = max(map(len, columns), default=0)
    lines = []
    for index in range(height):
        parts = [
            _padded(column[index] if index < len(column) else "", size)
            for column, size in zip(columns, widths, strict=True)
        ]
        lines.append(_GAP.join(parts).rstrip())
    return lines


def _padded(text: str, width: int) -> str:
    return text + " " * (width - cell_len(text))


def _longest_word(text: str) -> int:
    return max(map(cell_len, text.split(" ")))
