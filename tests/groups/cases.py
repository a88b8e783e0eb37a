"""Reads recorded cases of groups."""

import gzip
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final, TypeAlias

from quaymaster.config import Kubernetes
from tests.kit.internals.groups import kubernetes_with_groups

__all__ = ["DATA", "Tree", "kubernetes_of", "read_cases", "recordings"]

Tree: TypeAlias = dict[str, Any]

DATA: Final = Path(__file__).parent / "data"


def recordings() -> list[Path]:
    """Return the files with recordings; the others are upstream's own tests."""
    files = sorted(DATA.glob("*.jsonl.gz"))
    return [file for file in files if not file.name.startswith("upstream-")]


def read_cases(path: Path) -> Iterator[Tree]:
    """Yield the cases of a file."""
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        for line in lines:
            yield json.loads(line)


def kubernetes_of(case: Tree) -> Kubernetes:
    """Return the Kubernetes of a case, with its feature gates."""
    gates = {gate: is_on for gate, is_on in case["gates"].items() if is_on}
    return kubernetes_with_groups(**gates) if gates else Kubernetes("1.37")
