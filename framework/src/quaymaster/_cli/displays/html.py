"""Recorded output as HTML for notebooks: escaped, without scripts and without colours.

Text and maps take the colour of the page, so that they are readable in light and in
dark themes. Jupyter has its own style for the class ``dataframe``.
"""

from collections.abc import Iterable, Sequence
from html import escape
from itertools import groupby
from operator import attrgetter
from typing import Final

from quaymaster._base.errors import escaped as without_controls
from quaymaster._cli.displays.cutting import cut_note, first
from quaymaster._cli.recorded_output import (
    Block,
    MapBlock,
    MappedNode,
    TableBlock,
    TextBlock,
)

__all__ = ["html_of_blocks"]

_MOST_ROWS: Final = 60
_MOST_NODES: Final = 2_000
_SIDE: Final = 14
"""The width and height of the square of a node, in pixels."""
_PER_ROW: Final = 50


def html_of_blocks(blocks: Sequence[Block], kind: str) -> str:
    """Return blocks as one HTML element.

    Args:
        blocks: The blocks.
        kind: The name of the class of the result, for notes about rows left out.
    """
    parts = [_html(block, kind) for block in blocks]
    return f"<div>\n{''.join(parts)}</div>"


def _html(block: Block, kind: str) -> str:
    if isinstance(block, TableBlock):
        return _table(block, kind)
    if isinstance(block, MapBlock):
        return _map(block, kind)
    return _line(block)


def _line(block: TextBlock) -> str:
    if not block.text.strip():
        return ""
    text = escape(block.text)
    if block.is_command:
        return f"<pre>{text}</pre>\n"
    if block.is_warning:
        return f"<p><em>{text}</em></p>\n"
    # An indented line belongs to the one above it.
    style = "margin: 0; white-space: pre-wrap"
    return f'<p style="{style}">{text}</p>\n'


def _table(block: TableBlock, kind: str) -> str:
    shown, left_out = first(block.rows, _MOST_ROWS)
    heads = "".join(
        f'<th scope="col">{escape(heading.text)}</th>' for heading in block.headings
    )
    rows = "".join(f"<tr>{_cells(row)}</tr>\n" for row in shown)
    table = (
        '<table class="dataframe" border="1">\n'
        f"<thead><tr>{heads}</tr></thead>\n<tbody>\n{rows}</tbody>\n</table>\n"
    )
    note = cut_note(left_out, len(block.rows), "rows", kind)
    return table + (f"<p><em>{escape(note)}</em></p>\n" if note else "")


def _cells(row: Iterable[object]) -> str:
    return "".join(f"<td>{escape(without_controls(str(cell)))}</td>" for cell in row)


def _map(block: MapBlock, kind: str) -> str:
    shown, left_out = first(block.nodes, _MOST_NODES)
    groups = groupby(shown, key=attrgetter("group"))
    parts = [_squares(group, list(nodes)) for group, nodes in groups]
    note = cut_note(left_out, len(block.nodes), "nodes", kind)
    legend = "each square is a node; the darker, the more of it is requested"
    lines = [legend, *([note] if note else [])]
    return "".join(parts) + "".join(
        f"<p><em>{escape(text)}</em></p>\n" for text in lines
    )


def _squares(group: str, nodes: Sequence[MappedNode]) -> str:
    """Draw the nodes of a group as an image with a heading."""
    columns = min(len(nodes), _PER_ROW)
    lines = -(-len(nodes) // _PER_ROW)
    squares = "".join(_square(node, number) for number, node in enumerate(nodes))
    label = escape(f"{len(nodes)} nodes{' of ' + group if group else ''}", quote=True)
    heading = f'<p style="margin: 0">{escape(group)}</p>\n' if group else ""
    return (
        f'{heading}<svg role="img" aria-label="{label}" '
        f'width="{columns * _SIDE}" height="{lines * _SIDE}">{squares}</svg>\n'
    )


def _square(node: MappedNode, number: int) -> str:
    line, column = divmod(number, _PER_ROW)
    dashes = "" if node.is_open else ' stroke-dasharray="2"'
    # From 0.05, so that an empty node can be seen, to 0.9.
    opacity = 0.05 + 0.85 * min(max(node.share, 0.0), 1.0)
    title = escape(f"{node.name}: {node.details}")
    return (
        f'<rect x="{column * _SIDE + 1}" y="{line * _SIDE + 1}" '
        f'width="{_SIDE - 2}" height="{_SIDE - 2}" '
        f'fill="currentColor" fill-opacity="{opacity:.2f}" '
        f'stroke="currentColor" stroke-opacity="0.6"{dashes}>'
        f"<title>{title}</title></rect>"
    )
