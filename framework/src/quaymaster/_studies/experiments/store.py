"""Stores the results of runs in a folder, one file each."""

import csv
import io
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Final

import msgspec

from quaymaster._base.files import write_whole
from quaymaster._studies.experiments.running import RunResult

__all__ = ["ResultStore", "write_csv"]

_FOLDER: Final = "done"


class ResultStore:
    """The finished runs, each under the hash of its parts.

    Files are written atomically, so a sweep may be ended at any moment.

    Args:
        folder: The folder of the sweep; created if it is missing.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder / _FOLDER
        self._folder.mkdir(parents=True, exist_ok=True)

    def has(self, key: str) -> bool:
        """Whether a run is done."""
        return self._file(key).exists()

    def read(self, key: str) -> RunResult:
        """Return the result of a finished run."""
        return msgspec.json.decode(self._file(key).read_bytes(), type=RunResult)

    def write(self, key: str, result: RunResult) -> None:
        """Store the result of a run."""
        write_whole(self._file(key), msgspec.json.encode(result))

    def _file(self, key: str) -> Path:
        return self._folder / f"{key}.json"


def write_csv(
    file: Path, names: Sequence[str], rows: Iterable[Sequence[object]]
) -> None:
    """Write a CSV file; missing values are empty cells."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(names)
    writer.writerows(rows)
    write_whole(file, text.getvalue().encode())
