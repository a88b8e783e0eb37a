"""Fits the columns of a table to the width of a terminal: one row stays one line.

As little as possible is taken away, in this order, until the table fits:

1. the gaps between columns become narrower;
2. names of nodes lose the suffix that all of them share, and names of domains the
   beginning;
3. long messages move below the table, each of them once;
4. columns that have the same value in every row are left out;
5. the widest names are shortened in the middle;
6. columns are left out by importance.

The result names everything that is missing.
"""

import enum
from collections.abc import Iterator, Sequence
from typing import Final

import attrs
from rich.cells import cell_len

from quaymaster._cli.domain_prefix import common_prefix, without_prefix
from quaymaster._cli.folding import longest_word
from quaymaster._cli.node_suffix import common_suffix, without_suffix

__all__ = ["Fit", "Fitted", "TextColumn", "fitted"]

_GAP: Final = "   "
_NARROW_GAP: Final = "  "
_NAME: Final = 24
"""The width down to which names are shortened before columns are left out."""
_SHORT_NAME: Final = 8
"""The width down to which names are shortened if nothing can be left out."""
_SENTENCE: Final = 20
"""A column of folded sentences is at least as wide, if its sentences are."""


class Fit(enum.Enum):
    """What may be done to the cells of a column that does not fit."""

    WHOLE = "whole"
    """Nothing: numbers and short words."""

    NAME = "name"
    """Shorten them in the middle."""

    NODE = "node"
    """They are names of nodes: drop their common suffix, or shorten them."""

    NODES = "nodes"
    """They are lists of nodes: drop the common suffix of the names, and fold them."""

    DOMAINS = "domains"
    """They are domains with numbers: drop the common beginning, or shorten them."""

    MESSAGE = "message"
    """List them below the table, each once; the cells have their numbers."""

    SENTENCE = "sentence"
    """Fold them between words."""


_EMPTY: Final = ("", "-")
"""Cells without a value."""

_SHORTENED: Final = (Fit.NAME, Fit.NODE, Fit.DOMAINS)
_FOLDED: Final = (Fit.SENTENCE, Fit.NODES)
_OF_NODES: Final = (Fit.NODE, Fit.NODES)


@attrs.frozen
class TextColumn:
    """A column of texts.

    Attributes:
        heading: The text above it.
        cells: A text for each row.
        fit: What may be done to the cells.
        importance: The lowest is left out first; None: never left out.
        messages: For each row of a column of messages what stays in the row, and the
            message that may be listed below the table; either may be empty.
        natural: The width of its widest text.
    """

    heading: str
    cells: Sequence[str]
    fit: Fit
    importance: int | None
    messages: Sequence[tuple[str, str]] = ()
    natural: int = attrs.field(init=False)

    @natural.default
    def _measured(self) -> int:
        return max(map(cell_len, (self.heading, *self.cells)))

    @property
    def may_be_shortened(self) -> bool:
        """Whether the middle of its cells may be left out."""
        return self.fit in _SHORTENED

    @property
    def may_be_folded(self) -> bool:
        """Whether its cells may have several lines."""
        return self.fit in _FOLDED

    @property
    def is_constant(self) -> bool:
        """Whether all rows have the same value."""
        return len(set(self.cells)) == 1

    def least(self, name: int) -> int:
        """Return the smallest width, if names may be cut to one."""
        if self.may_be_folded:
            words = max(map(longest_word, self.cells), default=0)
            least = max(words, _SENTENCE, cell_len(self.heading))
        elif self.may_be_shortened:
            least = max(name, cell_len(self.heading))
        else:
            return self.natural
        return min(least, self.natural)


@attrs.frozen
class Fitted:
    """Columns that fit, as far as possible.

    Attributes:
        columns: The columns that remain.
        widths: The width of each.
        gap: What is between two columns.
        messages: The messages that cells refer to by their number, from 1.
        notes: A sentence for everything else that is missing.
    """

    columns: Sequence[TextColumn]
    widths: Sequence[int]
    gap: str = _GAP
    messages: Sequence[str] = ()
    notes: list[str] = attrs.field(factory=list)


def fitted(columns: Sequence[TextColumn], width: int | None) -> Fitted:
    """Fit columns to a width; without one, nothing changes."""
    natural = [column.natural for column in columns]
    if width is None or _total(natural, _GAP) <= width:
        return Fitted(columns=columns, widths=natural)
    if _total(natural, _NARROW_GAP) <= width:
        return Fitted(columns=columns, widths=natural, gap=_NARROW_GAP)
    last = Fitted(columns=columns, widths=natural)
    for last in _attempts(columns, width):
        if _total(last.widths, last.gap) <= width:
            break
    return last


def _attempts(columns: Sequence[TextColumn], width: int) -> Iterator[Fitted]:
    """Yield tables from which more and more is taken away."""
    columns, suffix = _without_common_suffix(columns)
    notes = [f"names of nodes end in {suffix}"] if suffix else []
    columns, prefix = _without_common_prefix(columns)
    notes += [f"names of domains begin with {prefix}"] if prefix else []
    yield _spread(columns, width, (), notes, name=width)
    columns, messages = _with_numbers(columns, width)
    yield _spread(columns, width, messages, notes, name=width)
    left_out: list[TextColumn] = []
    for column in _droppable(columns):
        if not column.is_constant:
            yield _spread(columns, width, messages, _notes(left_out, width) + notes)
        # Identity: columns may be equal.
        columns = [each for each in columns if each is not column]
        left_out.append(column)
        name = width if column.is_constant else _NAME
        yield _spread(columns, width, messages, _notes(left_out, width) + notes, name)
    notes = _notes(left_out, width) + notes
    yield _spread(columns, width, messages, notes, name=_SHORT_NAME)


def _without_common_suffix(
    columns: Sequence[TextColumn],
) -> tuple[Sequence[TextColumn], str]:
    """Return the columns without what ends all names of nodes, and that suffix."""
    nodes = [column for column in columns if column.fit in _OF_NODES]
    suffix = common_suffix(cell for column in nodes for cell in column.cells)
    if not suffix:
        return columns, ""
    return [
        attrs.evolve(
            column, cells=[without_suffix(each, suffix) for each in column.cells]
        )
        if column.fit in _OF_NODES
        else column
        for column in columns
    ], suffix


def _without_common_prefix(
    columns: Sequence[TextColumn],
) -> tuple[Sequence[TextColumn], str]:
    """Return the columns without what begins all names of domains, and that prefix."""
    domains = [column for column in columns if column.fit is Fit.DOMAINS]
    prefix = common_prefix(cell for column in domains for cell in column.cells)
    return [
        attrs.evolve(
            column, cells=[without_prefix(each, prefix) for each in column.cells]
        )
        if column.fit is Fit.DOMAINS
        else column
        for column in columns
    ], prefix


def _spread(
    columns: Sequence[TextColumn],
    width: int,
    messages: Sequence[str],
    notes: list[str],
    name: int = _NAME,
) -> Fitted:
    """Share out the width; the widest columns get less than they need."""
    room = width - len(_NARROW_GAP) * (len(columns) - 1)
    least = [column.least(name) for column in columns]

    def widths(most: int) -> list[int]:
        return [
            min(column.natural, max(most, smallest))
            for column, smallest in zip(columns, least, strict=True)
        ]

    fitting = (most for most in range(room, 0, -1) if sum(widths(most)) <= room)
    return Fitted(
        columns=columns,
        widths=widths(next(fitting, 0)),
        gap=_NARROW_GAP,
        messages=messages,
        notes=notes,
    )


def _with_numbers(
    columns: Sequence[TextColumn], width: int
) -> tuple[Sequence[TextColumn], Sequence[str]]:
    """Replace long messages by numbers; return the messages as well."""
    numbers: dict[str, int] = {}
    changed = []
    for column in columns:
        if column.fit is Fit.MESSAGE and column.natural > width // 2:
            cells = []
            for brief, message in column.messages:
                number = numbers.setdefault(message, len(numbers) + 1) if message else 0
                cells.append(f"{brief} ({number})".lstrip() if number else brief)
            changed.append(attrs.evolve(column, cells=cells))
        else:
            changed.append(column)
    return changed, list(numbers)


def _droppable(columns: Sequence[TextColumn]) -> list[TextColumn]:
    """Return the columns that may be left out, in this order.

    Those that are the same in all rows come first, since one note says it all.
    """
    droppable = [column for column in columns if column.importance is not None]
    return sorted(
        droppable, key=lambda column: (not column.is_constant, column.importance)
    )


def _notes(left_out: Sequence[TextColumn], width: int) -> list[str]:
    same = [
        f"{column.heading} {column.cells[0]}"
        for column in left_out
        if column.is_constant and column.cells[0] not in _EMPTY
    ]
    others = [column.heading for column in left_out if not column.is_constant]
    where = "in every row" if left_out and len(left_out[0].cells) > 1 else "also"
    notes = [f"{where}: {', '.join(same)}"] if same else []
    if others:
        notes.append(f"left out to fit {width} columns: {', '.join(others)}")
    return notes


def _total(widths: Sequence[int], gap: str) -> int:
    return sum(widths) + len(gap) * (len(widths) - 1)
