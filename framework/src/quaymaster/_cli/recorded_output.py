"""Output that is recorded as blocks and rows instead of printed.

What prints a result describes its tables once. Notebooks, rich consoles and data frames
get the same tables: they record the output of the same function.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TypeAlias

import msgspec

from quaymaster._cli.recorder import RECORDER
from quaymaster._cli.tables import Heading

__all__ = [
    "Block",
    "MapBlock",
    "MappedNode",
    "RecordedOutput",
    "TableBlock",
    "TextBlock",
    "recorded_output",
]


# Structs: an attrs class takes forty times as long to define, and each command imports
# all of these.
class TableBlock(msgspec.Struct, frozen=True):
    """A table.

    Attributes:
        headings: The headings of its columns.
        rows: The cells of each row.
    """

    headings: Sequence[Heading]
    rows: Sequence[Sequence[object]]


class TextBlock(msgspec.Struct, frozen=True):
    """A line of text.

    Attributes:
        text: The line; empty between paragraphs.
        is_command: Whether people paste it into a shell.
        is_warning: Whether it is a warning.
    """

    text: str
    is_command: bool = False
    is_warning: bool = False


class MappedNode(msgspec.Struct, frozen=True, kw_only=True):
    """A node on a map.

    Attributes:
        name: Its name.
        group: Its group; may be empty.
        share: The requested share of its scarcest resource, from 0 to 1.
        is_open: Whether it accepts pods.
        details: What else a reader wants to know about it.
    """

    name: str
    group: str
    share: float
    is_open: bool
    details: str


class MapBlock(msgspec.Struct, frozen=True):
    """A map of nodes.

    Attributes:
        nodes: The nodes, by group.
    """

    nodes: tuple[MappedNode, ...]


Block: TypeAlias = TableBlock | TextBlock | MapBlock


class RecordedOutput(msgspec.Struct, eq=False):
    """The output of a function.

    Attributes:
        blocks: What it has printed for people.
        documents: The rows that it has printed as CSV.
        keys: The keys of these rows.
    """

    blocks: list[Block] = []
    documents: list[Mapping[str, object]] = []
    keys: list[str] = []

    def add_table(
        self, headings: Sequence[Heading], rows: Sequence[Sequence[object]]
    ) -> None:
        """Record a table."""
        self.blocks.append(TableBlock(headings, rows))

    def add_text(
        self, text: str, *, is_command: bool = False, is_warning: bool = False
    ) -> None:
        """Record a line of text; see `TextBlock`."""
        self.blocks.append(TextBlock(text, is_command, is_warning))

    def add_rows(
        self, documents: Sequence[Mapping[str, object]], keys: Sequence[str]
    ) -> None:
        """Record rows of CSV."""
        self.documents += documents
        self.keys = list(dict.fromkeys((*self.keys, *keys)))


@contextmanager
def recorded_output() -> Iterator[RecordedOutput]:
    """Record the output of a block instead of printing it.

    Yields:
        What was recorded.
    """
    output = RecordedOutput()
    token = RECORDER.set(output)
    try:
        yield output
    finally:
        RECORDER.reset(token)
