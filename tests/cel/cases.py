"""Reads recorded selectors: an expression, devices, and upstream's results."""

import gzip
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final, TypeAlias

__all__ = ["RECORDED", "Json", "read_cases"]

Json: TypeAlias = dict[str, Any]
"""One JSON object of a record."""

RECORDED: Final = (
    Path(__file__).parents[2] / "framework/cel/tests/data/selectors.jsonl.gz"
)
"""The records that the tests of ``kubernetes-cel`` check."""


def read_cases(path: Path) -> Iterator[tuple[Json, Json | None]]:
    """Read the cases of a file, each with upstream's results, or None.

    Raises:
        OSError: The file cannot be read.
        ValueError: A line is not a case.
    """
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        for number, line in enumerate(lines, start=1):
            try:
                record = json.loads(line)
                case = record["case"]
                _ = case["expression"], case["driver"], case["devices"]
            except (ValueError, KeyError, TypeError) as error:
                raise ValueError(f"line {number}: not a case: {error!r}") from error
            yield case, record.get("expect")
