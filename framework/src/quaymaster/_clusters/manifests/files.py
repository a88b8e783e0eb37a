"""Files of manifests: finds them, and reads them."""

import mmap
import os
import sys
from pathlib import Path
from typing import Final

from quaymaster._base.input.reading import read_file, read_stream
from quaymaster._clusters.manifests.unrendered import tell_folder

__all__ = ["STDIN", "files_below", "read_bytes"]

STDIN: Final = "-"

_SUFFIXES: Final = (".yaml", ".yml", ".json")


def files_below(directory: Path) -> tuple[list[Path], dict[Path, str]]:
    """The manifests in a directory and below; names that begin with a dot are skipped.

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
            if name.removesuffix(".gz").endswith(_SUFFIXES)
            and not name.startswith(".")
            and _may_be_read(Path(parent, name))
        ]
    return sorted(found), dict(sorted(unrendered.items()))


def read_bytes(name: str) -> bytes | mmap.mmap:
    """Read a file, or standard input, as UTF-8.

    Raises:
        OSError: It cannot be read.
        UnreadableError: It holds no text, or never ends.
    """
    return read_stream(sys.stdin.buffer) if name == STDIN else read_file(name)


def _may_be_read(path: Path) -> bool:
    """Whether a name in a directory is to be read: a file, or a broken link to tell."""
    return path.is_file() or not path.exists()
