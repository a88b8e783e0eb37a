"""Reads the recorded cases."""

import gzip
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final, TypeAlias

__all__ = ["FILES", "Tree", "family_of", "is_course", "read_cases"]

Tree: TypeAlias = dict[str, Any]

_DATA: Final = Path(__file__).with_name("data")
FILES: Final = {
    name: _DATA / f"{name}.jsonl.gz" for name in ("courses", "admission", "validation")
}
"""The recordings, by name."""

_GZIP_MAGIC: Final = b"\x1f\x8b"


def read_cases(path: Path) -> Iterator[Tree]:
    """The cases of a file, one a line, compressed or not."""
    content = path.read_bytes()
    if content.startswith(_GZIP_MAGIC):
        content = gzip.decompress(content)
    for line in content.splitlines():
        if line.strip():
            yield json.loads(line)


def is_course(case: Tree) -> bool:
    """Whether a case has steps; otherwise it is an object that was posted."""
    return "steps" in case


def family_of(case: Tree) -> str:
    """The family of a case, or the kind of its object."""
    return str(case.get("family") or case["submitted"]["kind"])
