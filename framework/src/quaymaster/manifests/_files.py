"""Files of manifests: which there are, and what is in them."""

import mmap
import os
import sys
from pathlib import Path
from typing import Final

__all__ = ["STDIN", "files_below", "read_bytes"]

STDIN: Final = "-"

_SUFFIXES: Final = (".yaml", ".yml", ".json")
_MAPPED_FROM: Final = 1 << 25  # bytes: larger files are not copied into memory


def files_below(directory: Path) -> list[Path]:
    """The manifests of a directory and all below, without what begins with a dot."""
    found = []
    for parent, folders, files in os.walk(directory):
        folders[:] = [name for name in folders if not name.startswith(".")]
        found += [
            Path(parent, name)
            for name in files
            if name.endswith(_SUFFIXES) and not name.startswith(".")
        ]
    return sorted(found)


def read_bytes(name: str) -> bytes | mmap.mmap:
    """What a file, or standard input, holds."""
    if name == STDIN:
        return sys.stdin.buffer.read()
    with Path(name).open("rb") as file:
        if os.fstat(file.fileno()).st_size >= _MAPPED_FROM:
            return mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
        return file.read()
