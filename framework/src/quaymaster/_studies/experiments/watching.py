"""Watches which files and modules a run uses, so that a changed one repeats it.

Python reports each opened file to audit hooks. Files that libraries in C open
themselves, and those that other processes open, are not seen.
"""

import os
import sys
import threading
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final, TypeVar

from quaymaster._studies.experiments.code_locations import (
    OWN_PACKAGES,
    is_installed,
    local_modules,
)

__all__ = ["FileWatch", "loaded_files", "watch_files"]

T = TypeVar("T")

_EVENTS: Final = frozenset({"open", "sqlite3.connect"})
_CODE: Final = (".py", ".pyc", ".so", ".pyd")
_SYSTEM: Final = ("/proc/", "/sys/", "/dev/", "/etc/", "/usr/share/zoneinfo/")
_METADATA: Final = (".dist-info", ".egg-info")


class FileWatch:
    """The files that one thread, and the threads that it starts, open for reading.

    Attributes:
        input_files: The files that the input of a run reads.
        other_files: The files that plugins and metrics read.
    """

    def __init__(self) -> None:
        self.input_files: set[str] = set()
        self.other_files: set[str] = set()
        # Threads of the caller, such as those of a Dask worker, open other files. They
        # are kept as objects, since the number of a thread that has ended is reused.
        self._others = set(threading.enumerate()) - {threading.current_thread()}
        self._in_input = False
        self._own = _own_folders()

    @contextmanager
    def input_reads(self) -> Iterator[None]:
        """Count the files that are opened in the block as those of the input."""
        self._in_input = True
        try:
            yield
        finally:
            self._in_input = False

    def arrivals(self, arrivals: Iterable[T]) -> Iterator[T]:
        """Yield arrivals, which an input may make one by one."""
        iterator = iter(arrivals)
        while True:
            with self.input_reads():
                try:
                    arrival = next(iterator)
                except StopIteration:
                    return
            yield arrival

    def note(self, file: object, mode: object, flags: object) -> None:
        """Note that a file is about to be opened."""
        if threading.current_thread() in self._others or _only_writes(mode, flags):
            return
        if not isinstance(file, str | bytes | os.PathLike):
            return  # an open file descriptor
        path = os.path.normpath(Path(os.fsdecode(file)).absolute())
        if path.endswith(_CODE) or path.startswith((*_SYSTEM, *self._own)):
            return
        if is_installed(Path(path)) or any(mark in path for mark in _METADATA):
            return
        (self.input_files if self._in_input else self.other_files).add(path)


_watches: tuple[FileWatch, ...] = ()
"""The watches in progress, of all threads: replaced as a whole, so that the hook reads
it without a lock."""

_is_hooked = False
_changing: Final = threading.Lock()
_loaded: dict[str, Path] = {}
"""Module -> file, for the modules that runs in this process have imported."""


@contextmanager
def watch_files() -> Iterator[FileWatch]:
    """Watch the files that are opened in the block, and the modules it imports."""
    watch = FileWatch()
    before = set(sys.modules)
    _change(add=watch)
    try:
        yield watch
    finally:
        _change(remove=watch)
        modules = local_modules()
        _loaded.update((name, file) for name, file in modules if name not in before)


def loaded_files(folder: Path) -> Iterator[Path]:
    """Return the files of modules that runs have imported, or that are in a folder."""
    yield from _loaded.values()
    inside = folder.absolute()
    yield from (file for _, file in local_modules() if file.is_relative_to(inside))


def _change(*, add: FileWatch | None = None, remove: FileWatch | None = None) -> None:
    """Begin or end a watch; the hook is installed once, since none can be removed."""
    global _watches, _is_hooked  # noqa: PLW0603 - see `_watches`
    with _changing:
        if not _is_hooked:
            sys.addaudithook(_opened)
            _is_hooked = True
        # Identity: each watch is an object of its own.
        kept = [watch for watch in _watches if watch is not remove]
        _watches = tuple(kept if add is None else [*kept, add])


def _opened(event: str, arguments: tuple[object, ...]) -> None:
    if not _watches or event not in _EVENTS:
        return
    file, mode, flags = (*arguments, None, None)[:3]
    for watch in _watches:
        watch.note(file, mode, flags)


def _only_writes(mode: object, flags: object) -> bool:
    if isinstance(mode, str):
        return "+" not in mode and "r" not in mode
    return isinstance(flags, int) and flags & os.O_ACCMODE == os.O_WRONLY


def _own_folders() -> tuple[str, ...]:
    """Return the folders of this project's packages, which may not be installed."""
    folders = []
    for name, module in tuple(sys.modules.items()):
        if "." not in name and name.startswith(OWN_PACKAGES):
            file = getattr(module, "__file__", None)
            if isinstance(file, str):
                folders.append(f"{Path(file).parent}{os.sep}")
    return tuple(folders)
