"""Prints output: tables for people, JSON and YAML for programs."""

import enum
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Final, TypeVar

import click

from quaymaster._base.errors import QuaymasterError, escaped
from quaymaster._cli.folding import folded
from quaymaster._cli.progress import progress_bar, scheduling_in, trying_in
from quaymaster._cli.recorder import recorder
from quaymaster._cli.tables import Heading, Table, headings_of
from quaymaster._cli.terminal import bold, line_width

__all__ = [
    "OutputClosedError",
    "OutputError",
    "OutputFormat",
    "announce",
    "output_option",
    "print_command",
    "print_document",
    "print_hint",
    "print_line",
    "print_table",
    "print_text",
    "progress_bar",
    "scheduling_in",
    "trying_in",
    "warn",
]

_NOTES: Final = f"{__name__}.notes"
"""The key of the notes below tables, in the context of a command."""

F = TypeVar("F", bound=Callable[..., Any])


class OutputError(QuaymasterError):
    """Standard output cannot be written to."""


class OutputClosedError(Exception):
    """The reader of standard output, such as ``head``, has closed it."""


class OutputFormat(enum.StrEnum):
    """The formats of ``-o``."""

    TABLE = "table"
    WIDE = "wide"
    NAME = "name"
    CSV = "csv"
    JSON = "json"
    YAML = "yaml"


def print_document(document: object, form: OutputFormat) -> None:
    """Print plain data as JSON or YAML."""
    # Tables and --help need neither of these imports.
    if form is OutputFormat.YAML:
        import yaml  # noqa: PLC0415 - above

        print_text(yaml.safe_dump(document, sort_keys=False, allow_unicode=True))
        return
    import msgspec  # noqa: PLC0415 - above

    encoded = msgspec.json.format(msgspec.json.encode(document), indent=2)
    print_text(encoded.decode() + "\n")


def print_table(
    columns: Sequence[str | Heading],
    rows: Iterable[Sequence[object]],
    *,
    is_fitted: bool = True,
) -> None:
    """Print rows under headings: whole on a pipe, fitted to the width of a terminal.

    Args:
        columns: The headings.
        rows: The cells of each row.
        is_fitted: Whether the table is fitted to a terminal at all.
    """
    recording = recorder()
    if recording is not None:
        recording.add_table(headings_of(columns), list(rows))
        return
    out = sys.stdout
    width = line_width(out) if is_fitted else None
    table = Table(columns, rows).lines(width)
    lines = [*(bold(line, out) for line in table.headings), *table.body]
    print_text("".join(f"{line}\n" for line in (*lines, *table.messages)))
    for note in _unprinted(table.notes):
        print_line(note)


def _unprinted(notes: Iterable[str]) -> Iterator[str]:
    """Yield the notes that this command has not printed below another table."""
    context = click.get_current_context(silent=True)
    printed = context.meta.setdefault(_NOTES, set()) if context else set()
    for note in notes:
        if note not in printed:
            printed.add(note)
            yield note


def print_line(text: str = "") -> None:
    """Print one line of text, folded to the width of a terminal.

    If the text is indented, the lines that follow are indented further.
    """
    text = "\n".join(map(escaped, text.split("\n")))
    recording = recorder()
    if recording is not None:
        recording.add_text(text)
        return
    indent = " " * (len(text) - len(text.lstrip(" ")))
    hanging, width = f"{indent}  " if indent else "", line_width(sys.stdout)
    first, *rest = folded(text, width)
    if rest and width is not None:
        # The first words keep their line; the others have less room.
        rest = folded(" ".join(rest), width - len(hanging))
    print_text("".join(f"{line}\n" for line in (first, *map(hanging.__add__, rest))))


def print_command(text: str) -> None:
    """Print a line that people paste into a shell: it is not folded."""
    recording = recorder()
    if recording is not None:
        recording.add_text(escaped(text), is_command=True)
        return
    print_text(f"{escaped(text)}\n")


def print_hint(text: str) -> None:
    """Print a line about options of a command, which recorded output does not need."""
    if recorder() is None:
        print_line(text)


def announce(text: str) -> None:
    """Print a line and flush it, so that a reader of the pipe gets it at once.

    Raises:
        OutputClosedError: The reader has closed the output.
        OutputError: Writing failed for another reason.
    """
    print_line(text)
    with _reported_errors():
        sys.stdout.flush()


def output_option(default: OutputFormat, *others: OutputFormat) -> Callable[[F], F]:
    """The option ``-o``, with the formats of a command."""
    return click.option(
        "-o",
        "--output",
        type=click.Choice([default.value, *others], case_sensitive=False),
        default=default.value,
        show_default=True,
        callback=lambda _context, _option, value: OutputFormat(value),
        help="The format of the output.",
    )


def print_text(text: str) -> None:
    """Print a text without changes.

    Raises:
        OutputClosedError: The reader has closed the output.
        OutputError: Writing failed for another reason.
    """
    with _reported_errors():
        sys.stdout.write(text)


@contextmanager
def _reported_errors() -> Iterator[None]:
    try:
        yield
    except BrokenPipeError as error:
        raise OutputClosedError from error
    except OSError as error:
        raise OutputError(f"standard output: {error.strerror}") from error


def warn(text: str) -> None:
    """Print one line to standard error."""
    recording = recorder()
    if recording is not None:
        recording.add_text(escaped(text), is_warning=True)
        return
    click.echo(text, err=True)
