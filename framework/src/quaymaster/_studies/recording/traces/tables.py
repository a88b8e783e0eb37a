"""Tables of traces: CSV files, compressed or not, with or without a heading."""

import csv
import gzip
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from itertools import chain
from pathlib import Path
from typing import IO, Final, TypeAlias, TypeVar

import attrs

from quaymaster._studies.recording.files import RecordError

__all__ = ["AnyTable", "JsonTable", "Row", "Table", "find_tables"]

T = TypeVar("T")

_ENDINGS: Final = (".csv", ".csv.gz")


@attrs.frozen
class Row:
    """A row of a table.

    Attributes:
        where: The file and the line.
        cells: Column -> its text, or empty.
        values: Key -> the value, for a row of a `JsonTable`.
    """

    where: str
    cells: Mapping[str, str]
    values: Mapping[str, object] = attrs.field(factory=dict)

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

    def moment(self, column: str, layout: str = "%Y-%m-%d %H:%M:%S") -> float:
        """Return a moment in seconds since 1970; the time zone is taken for UTC.

        Raises:
            RecordError: The text is not such a moment.
        """
        text = self.text(column)
        try:
            return datetime.strptime(text, layout).replace(tzinfo=UTC).timestamp()
        except ValueError:
            example = datetime(2017, 10, 7, 1, 12, 9, tzinfo=UTC).strftime(layout)
            message = f"{column}: expected a time such as {example}, got {text!r}"
            raise RecordError(self.where, message) from None


@attrs.frozen
class Table:
    """The file names and columns of a table.

    Attributes:
        stem: A part of the files' names.
        columns: The columns, in their order for files without a heading.
        optional: More columns, which may be missing.
        has_heading: Whether files begin with a heading; None if some do.
    """

    stem: str
    columns: Sequence[str]
    optional: Sequence[str] = ()
    has_heading: bool | None = True

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
        first = next(lines, [])
        if self._is_heading(first):
            columns, before = [cell.strip() for cell in first], 1
            missing = [column for column in self.columns if column not in columns]
            if missing:
                message = (
                    f"expected the columns {', '.join(self.columns)}; "
                    f"{', '.join(missing)} is missing"
                )
                raise RecordError(f"{path}: line 1", message)
            least = len(columns)
        else:
            lines = chain([first], lines)
            least = len(self.columns)
        for number, cells in enumerate(lines, before + 1):
            where = f"{path}: line {number}"
            if cells and len(cells) < least:
                message = f"expected {least} cells, got {len(cells)}"
                raise RecordError(where, message)
            if cells:
                yield Row(where, dict(zip(columns, cells, strict=False)))

    def _is_heading(self, cells: Sequence[str]) -> bool:
        if self.has_heading is not None:
            return self.has_heading
        return bool(cells) and cells[0].strip() in self.columns


@attrs.frozen
class JsonTable:
    """The file names and keys of a table that is an array of objects in JSON.

    Attributes:
        stem: A part of the files' names.
        columns: The keys of each object.
    """

    stem: str
    columns: Sequence[str]

    def rows(self, paths: Sequence[Path]) -> Iterator[Row]:
        """Yield the objects of its files, with their texts as cells.

        Raises:
            RecordError: A file cannot be read, or an object lacks a key.
        """
        for path in paths:
            try:
                with _opened(path) as file:
                    entries = json.load(file)
            except (OSError, EOFError, ValueError) as error:
                raise RecordError(str(path), str(error)) from error
            if not isinstance(entries, list):
                raise RecordError(str(path), "expected an array of objects")
            for number, entry in enumerate(entries, 1):
                yield self._row(f"{path}: entry {number}", entry)

    def _row(self, where: str, entry: object) -> Row:
        if not isinstance(entry, dict):
            raise RecordError(where, f"expected an object, got {entry!r}")
        missing = [column for column in self.columns if column not in entry]
        if missing:
            message = (
                f"expected the keys {', '.join(self.columns)}; "
                f"{', '.join(missing)} is missing"
            )
            raise RecordError(where, message)
        cells = {
            key: str(value)
            for key, value in entry.items()
            if isinstance(value, (str, int, float))
        }
        return Row(where, cells, entry)


AnyTable: TypeAlias = Table | JsonTable
"""A table of a trace."""


def find_tables(
    paths: Sequence[str | Path], tables: Sequence[AnyTable]
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
            files += sorted(file for file in path.rglob("*") if _is_table(file, tables))
        elif path.is_file():
            files.append(path)
        else:
            raise RecordError(str(path), "no such file or directory")
    return {
        table.stem: [file for file in files if table.stem in file.name]
        for table in tables
    }


def _is_table(path: Path, tables: Sequence[AnyTable]) -> bool:
    # Some traces are published as files without an ending.
    endings = {*_ENDINGS, *(table.stem for table in tables)}
    if any(isinstance(table, JsonTable) for table in tables):
        endings |= {".json", ".json.gz"}
    return path.name.endswith(tuple(endings)) and path.is_file()


def _opened(path: Path) -> IO[str]:
    open_: Callable[..., IO[str]] = gzip.open if path.suffix == ".gz" else open
    # A byte order mark would be part of the first column's name.
    return open_(path, "rt", encoding="utf-8-sig", newline="")
