"""Finds the plugin in which the engine's thread is, even if it does not run Python.

The I/O process sends a signal, for which ``faulthandler`` writes the stack of the main
thread to a pipe. That needs no lock of the interpreter.
"""

import faulthandler
import os
import re
import select
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import attrs

__all__ = ["SIGNAL", "Place", "StackReader", "StackWriter", "place_in"]

SIGNAL: Final = getattr(signal, "SIGRTMIN", signal.SIGUSR1) + (
    7 if hasattr(signal, "SIGRTMIN") else 0
)
"""The signal for it: one that no program uses, where the system has such ones."""

_SECONDS_TO_BEGIN: Final = 1.0
_SECONDS_TO_GO_ON: Final = 0.25
"""The writer may have to wait for a processor between two parts."""

_BYTES: Final = 65_536
_FRAME: Final = re.compile(r'  File "([^"]*)", line (\d+) in (.*)\n')
_GUARD: Final = "<quaymaster "
_OWN: Final = f"{os.sep}quaymaster{os.sep}_"


@attrs.frozen
class Place:
    """Where the engine's thread is.

    Attributes:
        plugin: The plugin, or empty.
        hook: Its hook, or empty.
        line: Its innermost line in Python, such as ``plugin.py:12``; or empty.
    """

    plugin: str = ""
    hook: str = ""
    line: str = ""

    def __str__(self) -> str:
        where = f" ({self.line})" if self.line else ""
        if self.plugin:
            return f"in {self.hook} of plugin {self.plugin!r}{where}"
        return f"in the scheduler{where}"


class StackWriter:
    """The engine's end: writes the stack when the signal arrives.

    Attributes:
        descriptor: The end of the pipe that the I/O process inherits.
    """

    def __init__(self) -> None:
        self.descriptor, self._writer = os.pipe()
        os.set_blocking(self._writer, False)
        faulthandler.register(SIGNAL, file=self._writer, all_threads=False)

    def close(self) -> None:
        """Handle the signal no longer; the I/O process must have ended."""
        faulthandler.unregister(SIGNAL)
        os.close(self._writer)
        os.close(self.descriptor)


class StackReader:
    """The I/O process's end.

    Args:
        engine: The id of the engine's process, the parent of this one.
        descriptor: The inherited descriptor.
    """

    def __init__(self, engine: int, descriptor: int) -> None:
        self._engine = engine
        self._descriptor = descriptor
        os.set_blocking(descriptor, False)

    def place(self) -> Place:
        """Return where the main thread of the engine is right now."""
        if os.getppid() != self._engine:
            return Place()
        self._read()
        os.kill(self._engine, SIGNAL)
        return place_in("".join(self._parts()))

    def _parts(self) -> Iterator[str]:
        """Read what is written, until it names a plugin or nothing follows.

        ``faulthandler`` makes a system call for each name and number, and writes no
        end mark. So a single read often returns only the first frames.
        """
        text = ""
        seconds = _SECONDS_TO_BEGIN
        while not place_in(text).plugin:
            ready, _, _ = select.select([self._descriptor], [], [], seconds)
            if not ready or not (part := self._read()):
                return
            yield part
            text += part
            seconds = _SECONDS_TO_GO_ON

    def _read(self) -> str:
        try:
            return os.read(self._descriptor, _BYTES).decode(errors="replace")
        except BlockingIOError:
            return ""


def place_in(stack: str) -> Place:
    """Find the plugin in a stack, whose innermost frame comes first."""
    line = ""
    for file, number, function in _FRAME.findall(stack):
        if file.startswith(_GUARD):
            hook, of, plugin = function.partition(" of ")
            if of:
                return Place(plugin, hook, line)
            continue
        if not line and _OWN not in file:
            line = f"{Path(file).name}:{number}"
    return Place(line=line)
