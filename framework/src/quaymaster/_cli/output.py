"""What the commands print: tables for people, JSON and YAML for programs."""

import enum
import sys
from collections.abc import Callable, Iterable, Sequence
from typing import Any, TypeVar

import click
import msgspec
import yaml
from rich.console import Console
from rich.table import Table
from rich.text import Text

__all__ = [
    "OutputFormat",
    "output_option",
    "print_document",
    "print_line",
    "print_table",
    "stderr",
    "warn",
]

F = TypeVar("F", bound=Callable[..., Any])

_PIPE_WIDTH = 10_000


class OutputFormat(enum.StrEnum):
    """The forms of ``-o``."""

    TABLE = "table"
    JSON = "json"
    YAML = "yaml"


def print_document(document: object, form: OutputFormat) -> None:
    """Print plain data as JSON or YAML."""
    if form is OutputFormat.YAML:
        sys.stdout.write(yaml.safe_dump(document, sort_keys=False, allow_unicode=True))
        return
    encoded = msgspec.json.format(msgspec.json.encode(document), indent=2)
    sys.stdout.write(encoded.decode() + "\n")


def print_table(
    columns: Sequence[str], rows: Iterable[Sequence[object]], *, folds: bool = True
) -> None:
    """Print rows under headings; on a pipe no line is ever cut or wrapped.

    Args:
        columns: The headings.
        rows: The cells of each row.
        folds: Whether cells become narrow on a terminal that is; if not, lines go on
            in the next one, which suits rows of numbers.
    """
    table = Table(box=None, pad_edge=False, padding=(0, 3, 0, 0))
    for column in columns:
        table.add_column(column, overflow="fold")
    for row in rows:
        table.add_row(*(Text(str(cell)) for cell in row))
    console = _stdout() if folds else Console(highlight=False, width=_PIPE_WIDTH)
    console.print(table, soft_wrap=not folds or not console.is_terminal)


def print_line(text: str = "") -> None:
    """Print one line of text."""
    _stdout().print(Text(text))


def output_option(default: OutputFormat, *others: OutputFormat) -> Callable[[F], F]:
    """The option ``-o``, with the forms that a command knows."""
    return click.option(
        "-o",
        "--output",
        type=click.Choice([default, *others], case_sensitive=False),
        default=default,
        show_default=True,
        help="The form of the output.",
    )


def stderr() -> Console:
    """Where progress goes."""
    return Console(stderr=True)


def warn(text: str) -> None:
    """Print one line to standard error."""
    click.echo(text, err=True)


def _stdout() -> Console:
    console = Console(highlight=False)
    if not console.is_terminal:
        console = Console(highlight=False, width=_PIPE_WIDTH, soft_wrap=True)
    return console
