"""Reads the records of a real API server."""

import gzip
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, TypeAlias

import attrs

__all__ = ["DATA", "Case", "Tree", "prerequisites", "read_cases"]

Tree: TypeAlias = dict[str, Any]

DATA = Path(__file__).with_name("data") / "objects.jsonl.gz"
_PREREQUISITES = DATA.with_name("prerequisites.json")
_GZIP_MAGIC = b"\x1f\x8b"


@attrs.frozen(kw_only=True)
class Case:
    """One object that was posted.

    Attributes:
        id: Its name in the records.
        submitted: The object.
        stored: The stored object; None if it was rejected, or not recorded.
        status: The HTTP status of a rejection.
        refused: The message of a rejection, or None.
    """

    id: str
    submitted: Tree
    stored: Tree | None = None
    status: int = 0
    refused: str | None = None


def read_cases(path: Path) -> Iterator[Case]:
    """Read the cases of a file, one on each line, compressed or not."""
    content = path.read_bytes()
    if content.startswith(_GZIP_MAGIC):
        content = gzip.decompress(content)
    for line in content.splitlines():
        if line.strip():
            yield Case(**json.loads(line))


def prerequisites() -> list[Tree]:
    """Read the objects that existed before."""
    trees: list[Tree] = json.loads(_PREREQUISITES.read_bytes())
    return trees
