"""The help of each command, printed without importing the command.

Commands import what they run, and take up to half a second for it. ``--help`` needs
their options only, so these are read from a file that is generated from the commands:
``python -m tests.docs.command_line``. A test compares both.
"""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import click

from quaymaster._cli.groups import SuggestingGroup

__all__ = ["HELP_PAGES", "described_command", "help_page"]

HELP_PAGES: Final = Path(__file__).with_name("help_pages.json")
"""The file: the page of each command by name."""

_HELP_OPTIONS: Final = ("-h", "--help")


class _DescribedCommand(click.Command):
    """A command that prints its help and does nothing else.

    Args:
        name: The name of the command.
        page: What `help_page` has returned for the real command.
    """

    def __init__(self, name: str, page: Mapping[str, Any]) -> None:
        super().__init__(name, help=page["help"], short_help=page["summary"])
        self._usage: list[str] = page["usage"]
        self._options = [(option, text) for option, text in page["options"]]

    def collect_usage_pieces(self, _ctx: click.Context) -> list[str]:
        """Return the words of the usage line after the name."""
        return self._usage

    def format_options(
        self, _ctx: click.Context, formatter: click.HelpFormatter
    ) -> None:
        """Write the options."""
        with formatter.section("Options"):
            formatter.write_dl(self._options)


def described_command(args: Sequence[str]) -> click.Command | None:
    """Return the command whose help is requested, described by its page.

    Args:
        args: The arguments of ``quaymaster``.

    Returns:
        None unless the arguments are names of commands and one ``--help``. Anything
        else, such as ``--config --help``, is left to the command itself.
    """
    *path, last = args
    if last not in _HELP_OPTIONS or not path:
        return None
    pages = json.loads(HELP_PAGES.read_text(encoding="utf-8"))
    page = {"commands": pages}
    for name in path:
        page = page.get("commands", {}).get(name)
        if page is None:
            return None
    return _command(path[0], pages[path[0]])


def _command(name: str, page: Mapping[str, Any]) -> click.Command:
    if "commands" not in page:
        return _DescribedCommand(name, page)
    return SuggestingGroup(
        name,
        help=page["help"],
        short_help=page["summary"],
        commands={
            below: _command(below, inner) for below, inner in page["commands"].items()
        },
    )


def help_page(command: click.Command, context: click.Context) -> dict[str, Any]:
    """Return what the help of a command consists of, as plain data.

    Args:
        command: The command.
        context: Its context.
    """
    page: dict[str, Any] = {"help": command.help, "summary": command.short_help}
    if isinstance(command, click.Group):
        page["commands"] = {
            name: help_page(below, click.Context(below, context, info_name=name))
            for name, below in command.commands.items()
        }
        return page
    records = (
        option.get_help_record(context)
        for option in command.get_params(context)
        if isinstance(option, click.Option)
    )
    return page | {
        "usage": command.collect_usage_pieces(context),
        "options": [list(record) for record in records if record is not None],
    }
