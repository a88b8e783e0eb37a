"""Files of manifests: which there are, and what is in them."""

import mmap
import os
import sys
from pathlib import Path
from typing import Final

from quaymaster.manifests._unrendered import tell_folder

__all__ = ["STDIN", "files_below", "read_bytes"]

STDIN: Final = "-"

_SUFFIXES: Final = (".yaml", ".yml", ".json")
_MAPPED_FROM: Final = 1 << 25  # bytes: larger files are not copied into memory


def files_below(directory: Path) -> tuple[list[Path], dict[Path, str]]:
    """The manifests of a directory and all below, without what begins with a dot.

    Returns:
        The files, in order, and the folders that must be rendered first: how to.
    """
    found: list[Path] = []
    unrendered: dict[Path, str] = {}
    for parent, folders, files in os.walk(directory):
        message = tell_folder(Path(parent), files)
        if message:
            unrendered[Path(parent)] = message
            folders.clear()
            continue
        folders[:] = [name for name in folders if not name.startswith(".")]
        found += [
            Path(parent, name)
            for name in files
            if name.endswith(_SUFFIXES) and not name.startswith(".")
        ]
    return sorted(found), dict(sorted(unrendered.items()))


def read_bytes(name: str) -> bytes | mmap.mmap:
    """What a file, or standard input, holds."""
    if name == STDIN:
        return sys.stdin.buffer.read()
    with Path(name).open("rb") as file:
        if os.fstat(file.fileno()).st_size >= _MAPPED_FROM:
            return mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
        return file.read()
