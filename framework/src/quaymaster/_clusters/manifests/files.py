"""Finds and reads files of manifests."""

import mmap
import os
import sys
from pathlib import Path
from typing import Final

from quaymaster._base.input.reading import read_file, read_stream
from quaymaster._clusters.manifests.unrendered import folder_hint

__all__ = ["STDIN", "files_below", "read_bytes"]

STDIN: Final = "-"

_SUFFIXES: Final = (".yaml", ".yml", ".json")


def files_below(directory: Path) -> tuple[list[Path], dict[Path, str]]:
    """Find the manifests below a directory; names that begin with a dot are skipped.

    Returns:
        The files, in order, and the folders that must be rendered first: how to.
    """
    paths: list[Path] = []
    unrendered: dict[Path, str] = {}
    for parent, folders, files in os.walk(directory):
        message = folder_hint(Path(parent), files)
        if message:
            unrendered[Path(parent)] = message
            folders.clear()
            continue
        folders[:] = [name for name in folders if not name.startswith(".")]
        paths += [
            Path(parent, name)
            for name in files
            if name.removesuffix(".gz").endswith(_SUFFIXES)
            and not name.startswith(".")
            and _may_be_read(Path(parent, name))
        ]
    return sorted(paths), dict(sorted(unrendered.items()))


def read_bytes(name: str) -> bytes | mmap.mmap:
    """Read a file, or standard input, as UTF-8.

    Raises:
        OSError: The file cannot be read.
        UnreadableError: The file is not text, or never ends.
    """
    return read_stream(sys.stdin.buffer) if name == STDIN else read_file(name)


def _may_be_read(path: Path) -> bool:
    """Return whether to read a directory entry: a file, or a broken link to report."""
    return path.is_file() or not path.exists()
