"""Finds the files and the commands that a page of documentation shows.

A fenced block behind ``<!-- file: NAME -->`` is a file. In a ``console`` block, lines
that begin with ``$ `` are commands; what follows one is its output, unless nothing
follows: then the output is not shown, and anything will do.
"""

import re
from pathlib import Path

import attrs

__all__ = ["Command", "Page", "read_page"]

_FENCE = re.compile(
    r"(?:<!-- file: (?P<file>\S+) -->\n)?```(?P<language>\w+)\n(?P<text>.*?)```\n",
    re.DOTALL,
)


@attrs.frozen
class Command:
    """A command line, and the output that the page shows for it."""

    line: str
    output: str


@attrs.frozen
class Page:
    """What a reader would type and save."""

    files: dict[str, str]
    commands: list[Command]


def read_page(path: Path) -> Page:
    """Collect a page's files and commands, in order."""
    files: dict[str, str] = {}
    commands: list[Command] = []
    for block in _FENCE.finditer(path.read_text(encoding="utf-8")):
        if block["file"]:
            files[block["file"]] = block["text"]
        elif block["language"] == "console":
            for part in re.split(r"^\$ ", block["text"], flags=re.MULTILINE)[1:]:
                line, _, output = part.partition("\n")
                commands.append(Command(line, output))
    return Page(files, commands)
