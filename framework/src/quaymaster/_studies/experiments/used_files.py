"""Hashes the files that a run has used, to see later whether they have changed."""

import hashlib
import os
from collections.abc import Iterable, Mapping
from pathlib import Path

__all__ = ["UsedFiles"]


class UsedFiles:
    """Hashes files, each once while it does not change.

    Args:
        folder: The folder of the experiment: files in it are named relative to it, so
            that a study may be moved.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = Path(os.path.normpath(folder.absolute()))
        self._hashes: dict[Path, tuple[tuple[int, int], str]] = {}

    def hashes(self, files: Iterable[str | Path]) -> dict[str, str]:
        """Return the names and the hashes of files; folders are left out."""
        paths = sorted(
            {Path(os.path.normpath(Path(file).absolute())) for file in files}
        )
        return {
            self._name(path): self._hash(path) for path in paths if not path.is_dir()
        }

    def changed(self, hashes: Mapping[str, str]) -> str:
        """Return the first file whose hash differs, or an empty text."""
        for name, digest in hashes.items():
            if self._hash(self._folder / name) != digest:
                return name
        return ""

    def _name(self, path: Path) -> str:
        if path.is_relative_to(self._folder):
            path = path.relative_to(self._folder)
        return path.as_posix()

    def _hash(self, path: Path) -> str:
        """Return the hash of a file; empty if it does not exist."""
        try:
            stat = path.stat()
            # All runs of a sweep use mostly the same files.
            version = stat.st_mtime_ns, stat.st_size
            entry = self._hashes.get(path)
            if entry is None or entry[0] != version:
                digest = hashlib.sha256(path.read_bytes()).hexdigest()
                entry = self._hashes[path] = version, digest
        except OSError:
            return ""
        return entry[1]
