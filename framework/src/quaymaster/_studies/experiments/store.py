"""Stores the results of runs in a folder, one file each."""

import csv
import io
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Final

import msgspec

from quaymaster._base.files import write_whole
from quaymaster._studies.experiments.running import RunResult
from quaymaster._studies.experiments.used_files import UsedFiles

__all__ = ["ResultStore", "write_csv"]

_FOLDER: Final = "done"


class _Used(msgspec.Struct):
    """The part of a result that says what its run used."""

    used: dict[str, str] = msgspec.field(default_factory=dict)


class ResultStore:
    """The finished runs, each under the hash of its parts.

    Files are written atomically, so a sweep may be ended at any moment.

    Args:
        folder: The folder of the sweep; created if it is missing.
        files: Hashes the files that runs have used.

    Attributes:
        folder: The folder of the finished runs.
    """

    def __init__(self, folder: Path, files: UsedFiles) -> None:
        self._files = files
        self.folder = folder / _FOLDER
        self.folder.mkdir(parents=True, exist_ok=True)

    def has(self, key: str) -> bool:
        """Whether a run is done, and what it used has not changed since."""
        try:
            content = self._file(key).read_bytes()
        except FileNotFoundError:
            return False
        return not self.changed(msgspec.json.decode(content, type=_Used).used)

    def changed(self, used: Mapping[str, str]) -> str:
        """Return a file that a run used and that has changed, or an empty text."""
        return self._files.changed(used)

    def read(self, key: str) -> RunResult:
        """Return the result of a finished run."""
        return msgspec.json.decode(self._file(key).read_bytes(), type=RunResult)

    def write(self, key: str, result: RunResult) -> None:
        """Store the result of a run."""
        write_whole(self._file(key), msgspec.json.encode(result))

    def _file(self, key: str) -> Path:
        return self.folder / f"{key}.json"


def write_csv(
    file: Path, names: Sequence[str], rows: Iterable[Sequence[object]]
) -> None:
    """Write a CSV file; missing values are empty cells."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(names)
    writer.writerows(rows)
    write_whole(file, text.getvalue().encode())
