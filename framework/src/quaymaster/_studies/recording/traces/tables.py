"""Tables of traces: CSV files, compressed or not, with or without a heading."""

import csv
import gzip
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import IO, Final, TypeVar

import attrs

from quaymaster._studies.recording.files import RecordError

__all__ = ["Row", "Table", "find_tables"]

T = TypeVar("T")

_ENDINGS: Final = (".csv", ".csv.gz")


@attrs.frozen
class Row:
    """A row of a table.

    Attributes:
        where: The file and the line.
        cells: Column -> its text, or empty.
    """

    where: str
    cells: Mapping[str, str]

    def text(self, column: str) -> str:
        """Return a text, or empty."""
        return self.cells.get(column, "")

    def number(self, column: str, default: float | None = None) -> float:
        """Return a number from 0.

        Raises:
            RecordError: The text is not a number, or it is missing without a default.
        """
        text = self.text(column)
        if not text and default is not None:
            return default
        try:
            number = float(text)
        except ValueError:
            number = -1.0
        if not 0 <= number < float("inf"):
            message = f"{column}: expected a number from 0, got {text!r}"
            raise RecordError(self.where, message)
        return number


@attrs.frozen
class Table:
    """The file names and columns of a table.

    Attributes:
        stem: A part of the files' names.
        columns: The columns, in their order for files without a heading.
        optional: More columns, which may be missing.
        has_heading: Whether files begin with a heading.
    """

    stem: str
    columns: Sequence[str]
    optional: Sequence[str] = ()
    has_heading: bool = True

    def rows(self, paths: Sequence[Path]) -> Iterator[Row]:
        """Yield the rows of its files.

        Raises:
            RecordError: A file cannot be read, or has other columns.
        """
        for path in paths:
            try:
                with _opened(path) as file:
                    yield from self._rows(path, csv.reader(file))
            except (OSError, EOFError, UnicodeDecodeError, csv.Error) as error:
                raise RecordError(str(path), str(error)) from error

    def _rows(self, path: Path, lines: Iterator[list[str]]) -> Iterator[Row]:
        columns, before = [*self.columns, *self.optional], 0
        if self.has_heading:
            columns, before = next(lines, []), 1
            missing = [column for column in self.columns if column not in columns]
            if missing:
                message = (
                    f"expected the columns {', '.join(self.columns)}; "
                    f"{', '.join(missing)} is missing"
                )
                raise RecordError(f"{path}: line 1", message)
        least = len(columns) if self.has_heading else len(self.columns)
        for number, cells in enumerate(lines, before + 1):
            where = f"{path}: line {number}"
            if cells and len(cells) < least:
                message = f"expected {least} cells, got {len(cells)}"
                raise RecordError(where, message)
            if cells:
                yield Row(where, dict(zip(columns, cells, strict=False)))


def find_tables(
    paths: Sequence[str | Path], tables: Sequence[Table]
) -> Mapping[str, Sequence[Path]]:
    """Find the files of tables by their names.

    Args:
        paths: Files, and folders that have such.
        tables: The tables.

    Returns:
        Stem of a table -> its files, sorted.

    Raises:
        RecordError: A file or folder does not exist.
    """
    files: list[Path] = []
    for path in map(Path, paths):
        if path.is_dir():
            files += sorted(file for file in path.rglob("*") if _is_table(file))
        elif path.is_file():
            files.append(path)
        else:
            raise RecordError(str(path), "no such file or directory")
    return {
        table.stem: [file for file in files if table.stem in file.name]
        for table in tables
    }


def _is_table(path: Path) -> bool:
    return path.name.endswith(_ENDINGS) and path.is_file()


def _opened(path: Path) -> IO[str]:
    open_: Callable[..., IO[str]] = gzip.open if path.suffix == ".gz" else open
    return open_(path, "rt", encoding="utf-8-sig", newline="")
