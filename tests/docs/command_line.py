"""Generates the commands' reference page, and the texts of ``--help``.

``python -m tests.docs.command_line`` writes both; tests check that they are up to date.
"""

import json
import re
from collections.abc import Iterator

import click

from tests.docs.reference import ROOT
from tests.kit.internals.cli import HELP_PAGES, app, help_page

__all__ = ["PAGE", "command_line", "help_pages"]

PAGE = ROOT / "docs" / "reference" / "command-line.md"

MARK = (
    "<!-- What follows is made from the commands: "
    "python -m tests.docs.command_line -->\n"
)


def command_line() -> str:
    """Return the whole page; the part before the mark is written by hand."""
    head = PAGE.read_text(encoding="utf-8").partition(MARK)[0]
    settings = app.context_settings
    context = click.Context(app, info_name="quaymaster", **settings)
    return head + MARK + "\n" + "\n".join(_sections(app, context))


def help_pages() -> str:
    """Return the file from which ``--help`` is printed."""
    context = click.Context(app, info_name="quaymaster", **app.context_settings)
    pages = {}
    for name in app.list_commands(context):
        command = app.get_command(context, name)
        assert command is not None
        inner = click.Context(command, context, info_name=name)
        pages[name] = help_page(command, inner)
    return json.dumps(pages, indent=1) + "\n"


def _sections(command: click.Command, context: click.Context) -> Iterator[str]:
    yield _section(command, context)
    if isinstance(command, click.Group):
        for name in command.list_commands(context):
            below = command.get_command(context, name)
            assert below is not None
            inner = click.Context(below, info_name=name, parent=context)
            yield from _sections(below, inner)


def _section(command: click.Command, context: click.Context) -> str:
    parts = [f"## `{context.command_path}`"]
    if not isinstance(command, click.Group):
        usage = " ".join([context.command_path, *command.collect_usage_pieces(context)])
        parts.append(f"```text\n{usage}\n```")
    parts += _paragraphs(command.help or "")
    if isinstance(command, click.Group):
        parts.append(_commands(command, context))
    options = _options(command, context)
    if options:
        rows = "\n".join(options)
        parts.append(f"| option | meaning |\n| --- | --- |\n{rows}")
    return "\n\n".join(parts) + "\n"


def _paragraphs(text: str) -> list[str]:
    return [" ".join(part.split()) for part in re.split(r"\n\n+", text.strip())]


def _commands(group: click.Group, context: click.Context) -> str:
    rows = []
    for name in group.list_commands(context):
        below = group.get_command(context, name)
        assert below is not None
        first = " ".join((below.help or "").split("\n\n")[0].split())
        path = f"{context.command_path} {name}"
        rows.append(f"| [`{name}`](#{path.replace(' ', '-')}) | {first} |")
    return "| command | what it does |\n| --- | --- |\n" + "\n".join(rows)


def _options(command: click.Command, context: click.Context) -> list[str]:
    rows = []
    for option in command.params:
        record = option.get_help_record(context)
        if isinstance(option, click.Option) and record is not None:
            name, meaning = (part.replace("|", "\\|") for part in record)
            rows.append(f"| `{name}` | {' '.join(meaning.split())} |")
    return rows


if __name__ == "__main__":
    PAGE.write_text(command_line(), encoding="utf-8")
    HELP_PAGES.write_text(help_pages(), encoding="utf-8")
