"""Recorded output as what rich consoles print."""

from collections.abc import Iterable, Sequence
from itertools import groupby
from operator import attrgetter
from typing import Final

import attrs
from rich.console import (
    Console,
    ConsoleOptions,
    Group,
    RenderableType,
    RenderResult,
)
from rich.text import Text

from quaymaster._cli.displays.cutting import cut_note, first
from quaymaster._cli.recorded_output import (
    Block,
    MapBlock,
    MappedNode,
    TableBlock,
    TextBlock,
)
from quaymaster._cli.tables import Table

__all__ = ["renderable_of_blocks"]

_MOST_ROWS: Final = 60
_MOST_NODES: Final = 2_000
_LEVELS: Final = "·░▒▓█"


def renderable_of_blocks(blocks: Sequence[Block], kind: str) -> RenderableType:
    """Return blocks for a rich console.

    Args:
        blocks: The blocks.
        kind: The name of the class of the result, for notes about rows left out.
    """
    return Group(*(part for block in blocks for part in _parts(block, kind)))


def _parts(block: Block, kind: str) -> Iterable[RenderableType]:
    if isinstance(block, TableBlock):
        yield from _table(block, kind)
    elif isinstance(block, MapBlock):
        yield from _map(block, kind)
    else:
        yield _line(block)


def _line(block: TextBlock) -> Text:
    # Text and not a string: rich would read markup in names and messages.
    return Text(block.text, style="italic" if block.is_warning else "")


def _table(block: TableBlock, kind: str) -> Iterable[RenderableType]:
    shown, left_out = first(block.rows, _MOST_ROWS)
    yield _FittedTable(Table(block.headings, shown))
    note = cut_note(left_out, len(block.rows), "rows", kind)
    if note:
        yield Text(note, style="italic")


@attrs.frozen
class _FittedTable:
    """A table that is fitted to the width of the console, as commands do it."""

    table: Table

    def __rich_console__(
        self, _console: Console, options: ConsoleOptions
    ) -> RenderResult:
        printed = self.table.lines(options.max_width)
        for line in printed.headings:
            yield Text(line, style="bold")
        for line in (*printed.body, *printed.messages):
            yield Text(line)
        for line in printed.notes:
            yield Text(line, style="italic")


def _map(block: MapBlock, kind: str) -> Iterable[RenderableType]:
    shown, left_out = first(block.nodes, _MOST_NODES)
    for group, nodes in groupby(shown, key=attrgetter("group")):
        head = f"{group} " if group else ""
        yield Text(head + "".join(map(_character, nodes)), overflow="fold")
    yield Text("each character is a node, from · (empty) to █ (full); x: closed")
    note = cut_note(left_out, len(block.nodes), "nodes", kind)
    if note:
        yield Text(note, style="italic")


def _character(node: MappedNode) -> str:
    if not node.is_open:
        return "x"
    # More may be requested than a node offers, as on a node that has become smaller.
    share = min(max(node.share, 0.0), 1.0)
    return _LEVELS[round(share * (len(_LEVELS) - 1))]
