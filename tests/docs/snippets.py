"""Finds the files and the commands of a documentation page.

A fenced block after ``<!-- file: NAME -->`` is a file. In a ``console`` block, lines
that begin with ``$ `` are commands. The lines after a command are its output. A command
without such lines may print anything.
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
    """A command line, and its output on the page."""

    line: str
    output: str


@attrs.frozen
class Page:
    """The commands and files of a page."""

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
