"""Keeps the results of runs in a folder, each in a file of its own."""

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
    """The runs that are done, each under the hash of what it is made of.

    A file is there as a whole or not at all, so a sweep may be ended at any moment.

    Args:
        folder: The folder of the sweep; it is made if it is not there.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder / _FOLDER
        self._folder.mkdir(parents=True, exist_ok=True)

    def has(self, key: str) -> bool:
        """Whether a run is done."""
        return self._file(key).exists()

    def read(self, key: str) -> RunResult:
        """Return the result of a run that is done."""
        return msgspec.json.decode(self._file(key).read_bytes(), type=RunResult)

    def write(self, key: str, result: RunResult) -> None:
        """Keep the result of a run."""
        write_whole(self._file(key), msgspec.json.encode(result))

    def _file(self, key: str) -> Path:
        return self._folder / f"{key}.json"


def write_csv(
    file: Path, names: Sequence[str], rows: Iterable[Sequence[object]]
) -> None:
    """Write a CSV file; what is not there is an empty cell."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(names)
    writer.writerows(rows)
    write_whole(file, text.getvalue().encode())
