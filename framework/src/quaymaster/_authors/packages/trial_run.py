"""Builds and starts plugins in a process of its own, while all connections fail.

This is the program of that process. It prints which plugins cannot be built, and which
files the plugins have read.
"""

import importlib
import json
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from os import fsdecode
from types import FrameType
from typing import Final

from quaymaster._authors.testing.contract.offline import offline
from quaymaster._authors.testing.contract.replacing import replacing
from quaymaster._authors.testing.harness import PluginHarness

__all__ = ["main"]

_SECONDS: Final = 3601
"""Enough for timers that run each hour."""

_IMPORTS: Final = "<frozen importlib._bootstrap>"
"""The frames of Python that load a module."""


def main(entries: Sequence[str]) -> None:
    """Build and start plugins, and print what they do.

    Args:
        entries: The locations of the plugins: ``package.module:Class``.
    """
    packages = frozenset(entry.partition(":")[0].partition(".")[0] for entry in entries)
    files: dict[str, None] = {}
    sys.addaudithook(_noting_files(packages, files))
    failures = dict(_failures(entries))
    # Plugins may have printed a part of a line.
    sys.stdout.write("\n" + json.dumps({"failures": failures, "files": [*files]}))


def _failures(entries: Sequence[str]) -> Iterator[tuple[str, str]]:
    for entry in entries:
        try:
            kit = PluginHarness(_loaded(entry))
        except Exception as error:
            yield entry, f"{type(error).__name__}: {error}"
        else:
            _let_fail(kit)


def _loaded(entry: str) -> type:
    module, _, path = entry.partition(":")
    value: object = importlib.import_module(module)
    for part in filter(None, path.split(".")):
        value = getattr(value, part)
    assert isinstance(value, type)
    return value


def _let_fail(kit: PluginHarness) -> None:
    """Run the timers and tasks of a plugin without a network.

    It may fail in any way: it need not do so without its arguments and servers.
    """
    with offline(), replacing(time, "sleep", _no_sleep), suppress(Exception):
        kit.start()
        kit.clock.advance(_SECONDS)
        kit.close()


def _no_sleep(_seconds: float) -> None:
    """Return at once."""


def _noting_files(
    packages: frozenset[str], files: dict[str, None]
) -> Callable[[str, tuple[object, ...]], None]:
    """Return an audit hook that notes which files the packages open.

    Args:
        packages: The names of the packages.
        files: Gets the names of the files.
    """

    def note(event: str, details: tuple[object, ...]) -> None:
        if event == "open" and _is_reading(details[1]) and _is_of(packages):
            path = details[0]
            if isinstance(path, str | bytes):
                files[fsdecode(path)] = None

    return note


def _is_reading(mode: object) -> bool:
    return not isinstance(mode, str) or not set(mode) & set("wax")


def _is_of(packages: frozenset[str]) -> bool:
    """Return whether a function of a package runs, and not an import by it."""
    frame: FrameType | None = sys._getframe(2)
    while frame is not None:
        if frame.f_code.co_filename == _IMPORTS:
            return False
        name = str(frame.f_globals.get("__name__", ""))
        if name.partition(".")[0] in packages:
            return True
        frame = frame.f_back
    return False


if __name__ == "__main__":
    main(sys.argv[1:])
