"""One description of the rows of a result, for its tables, JSON, YAML and CSV."""

import enum
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from operator import attrgetter
from typing import Any, Final, Generic, TypeVar

import attrs

from quaymaster._cli.csv_rows import print_csv
from quaymaster._cli.output import print_line, print_table
from quaymaster._cli.tables import Fit, Heading

__all__ = ["Column", "Columns", "Shown", "plain"]

T = TypeVar("T")

_CAPITAL: Final = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")

_SCALARS: Final = (str, int, float)


class Shown(enum.Enum):
    """Which tables have a column. JSON, YAML and CSV have all that have a key."""

    ALWAYS = "always"
    WIDE = "wide"
    NEVER = "never"


def _text(value: object) -> str:
    """Write a value for people."""
    if isinstance(value, Sequence) and not isinstance(value, str):
        return ", ".join(map(str, value)) or "-"
    return "-" if value is None else str(value)


@attrs.frozen
class Column(Generic[T]):
    """What a result has about each of its rows.

    Attributes:
        key: The key in JSON; empty: a table alone has it.
        value: Returns the value for a row; by default the attribute that is called
            like the key.
        text: How a table writes the value.
        heading: The heading, by default the words of the key.
        shown: Which tables have it.
        fit: What may be done to its cells on a narrow terminal.
        importance: The lowest is left out first on a narrow terminal; None: never.
        is_optional: Whether printed tables lack it if all of its cells are empty.
    """

    key: str = ""
    value: Callable[[T], object] | None = attrs.field(default=None, kw_only=True)
    text: Callable[[Any], object] = attrs.field(default=_text, kw_only=True)
    heading: str = attrs.field(default="", kw_only=True)
    shown: Shown = attrs.field(default=Shown.ALWAYS, kw_only=True)
    fit: Fit = attrs.field(default=Fit.WHOLE, kw_only=True)
    importance: int | None = attrs.field(default=None, kw_only=True)
    is_optional: bool = attrs.field(default=False, kw_only=True)

    def getter(self) -> Callable[[T], object]:
        """Return the function that returns the value for a row."""
        return self.value or attrgetter("_".join(self._words()))

    @property
    def title(self) -> str:
        """The heading in a page, such as ``Failed at``."""
        return self.heading or " ".join(self._words()).capitalize()

    def _words(self) -> list[str]:
        return [word.lower() for word in _CAPITAL.split(self.key)]


class Columns(Generic[T]):
    """The columns of some rows.

    Args:
        columns: In the order of tables. A key alone is a column that tables lack.
    """

    def __init__(self, *columns: Column[T] | str) -> None:
        self._columns: list[Column[T]] = [
            Column(column, shown=Shown.NEVER) if isinstance(column, str) else column
            for column in columns
        ]
        self._values = {
            column.key: column.getter() for column in self._columns if column.key
        }

    @property
    def keys(self) -> list[str]:
        """The keys that documents have."""
        return list(self._values)

    def document(self, row: T) -> dict[str, object]:
        """Return a row as plain data."""
        return {key: plain(value_of(row)) for key, value_of in self._values.items()}

    def documents(self, rows: Iterable[T]) -> list[dict[str, object]]:
        """Return rows as plain data."""
        return list(map(self.document, rows))

    def table(self, rows: Iterable[T]) -> tuple[list[str], list[list[str]]]:
        """Return headings and cells, for a page."""
        shown = self._shown(is_wide=False)
        cells = [list(map(str, row)) for row in _cells(shown, rows)]
        return [column.title for column in shown], cells

    def print(
        self, rows: Iterable[T], *, is_wide: bool = False, is_fitted: bool = True
    ) -> None:
        """Print rows as a table.

        Args:
            rows: The rows.
            is_wide: Whether the table has more columns. It is not fitted then.
            is_fitted: Whether the table is fitted to a terminal.
        """
        rows = list(rows)
        shown = [
            column
            for column in self._shown(is_wide=is_wide)
            if not column.is_optional or any(map(column.getter(), rows))
        ]
        headings = [
            Heading(column.title.upper(), column.fit, column.importance)
            for column in shown
        ]
        print_table(headings, _cells(shown, rows), is_fitted=is_fitted and not is_wide)

    def print_section(self, rows: Sequence[T], *, is_wide: bool = False) -> None:
        """Print rows, if there are any, as a table and an empty line."""
        if rows:
            self.print(rows, is_wide=is_wide)
            print_line()

    def print_csv(self, rows: Iterable[T]) -> None:
        """Print rows as CSV."""
        print_csv(self.documents(rows), self.keys)

    def _shown(self, *, is_wide: bool) -> list[Column[T]]:
        kinds = (Shown.ALWAYS, Shown.WIDE) if is_wide else (Shown.ALWAYS,)
        return [column for column in self._columns if column.shown in kinds]


def _cells(columns: Sequence[Column[T]], rows: Iterable[T]) -> Iterable[list[object]]:
    cells = [(column.text, column.getter()) for column in columns]
    for row in rows:
        yield [text(value_of(row)) for text, value_of in cells]


def plain(value: object) -> object:
    """Return a value as JSON and YAML have it."""
    if value is None or (
        isinstance(value, _SCALARS) and not isinstance(value, enum.Enum)
    ):
        return value
    if isinstance(value, enum.Enum):
        return value.value
    if isinstance(value, Mapping):
        return {str(key): plain(inner) for key, inner in value.items()}
    if isinstance(value, Iterable) and not isinstance(value, str):
        return list(map(plain, value))
    return value
