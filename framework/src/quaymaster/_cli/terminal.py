"""Styles and widths of a terminal.

The rules are those of https://no-color.org and https://bixense.com/clicolors:
``NO_COLOR``, ``CLICOLOR=0`` and ``TERM=dumb`` disable escape sequences, and
``FORCE_COLOR`` or ``CLICOLOR_FORCE`` enable them on a pipe too. None of them changes
where lines are folded.
"""

import os
import shutil
from typing import TYPE_CHECKING, Final, Protocol, TextIO

if TYPE_CHECKING:
    from rich.console import Console

__all__ = [
    "Stream",
    "bold",
    "is_styled",
    "line_width",
    "progress_console",
    "shows_progress",
]

_BOLD: Final = "\x1b[1m"
_NORMAL: Final = "\x1b[0m"
_OFF: Final = ("", "0", "false")


class Stream(Protocol):
    """A stream that text is written to."""

    def isatty(self) -> bool:
        """Whether it is a terminal."""


def is_styled(stream: Stream) -> bool:
    """Whether text for a stream may be bold or coloured."""
    environment = os.environ
    if environment.get("NO_COLOR"):
        return False
    for name in ("FORCE_COLOR", "CLICOLOR_FORCE"):
        if environment.get(name, "").lower() not in _OFF:
            return True
    if environment.get("CLICOLOR") == "0" or environment.get("FORCE_COLOR") == "0":
        return False
    return stream.isatty() and environment.get("TERM") != "dumb"


def bold(text: str, stream: Stream) -> str:
    """The text, in bold if the stream may have styles."""
    return f"{_BOLD}{text}{_NORMAL}" if text and is_styled(stream) else text


def line_width(stream: Stream) -> int | None:
    """How many columns a line has; None if the stream is not a terminal."""
    return shutil.get_terminal_size().columns if stream.isatty() else None


def shows_progress(stream: Stream) -> bool:
    """Whether progress is shown: on terminals that can rewrite a line."""
    return stream.isatty() and os.environ.get("TERM") != "dumb"


def progress_console(stream: TextIO) -> "Console":
    """Return the console that shows progress on a stream."""
    from rich.console import Console  # noqa: PLC0415 - commands without a bar

    return Console(
        file=stream,
        force_terminal=stream.isatty(),
        no_color=not is_styled(stream),
    )
