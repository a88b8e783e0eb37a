"""Reads recorded cases of autoscalers."""

import gzip
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final, TypeAlias

__all__ = ["DATA", "Tree", "family_of", "read_cases", "recordings"]

Tree: TypeAlias = dict[str, Any]

DATA: Final = Path(__file__).parent / "data"
"""The recordings.

``ca-wide-loops.jsonl.gz`` has what ``ca-loops.jsonl.gz`` lacks: startup taints, limits
of nodes together with minimum sizes, budgets, owners, priorities and other flags. The
real cluster-autoscaler 33c3f97b has played these cases in virtual time, with the fake
cloud and the fake API server of its own tests. Each case ended in the same way in
ten more runs.

``karpenter-wide.jsonl.gz`` has what the other recordings of Karpenter lack: volumes,
NodeOverlays, reservations, and pools that are not ready. Karpenter 1.15.0 has answered
each case in the same way twelve times. A case with reservations is ``reserved``, and
the offerings of its types have the id and the size of their reservation at the end.
Types may have ``volumes``, which are limits by CSI driver.
"""


def recordings() -> list[Path]:
    """Return the files with recordings."""
    return sorted(DATA.glob("*.jsonl.gz"))


def read_cases(path: Path) -> Iterator[Tree]:
    """Yield the lines of a file: each has a ``case`` and the recorded ``answer``."""
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        for line in lines:
            yield json.loads(line)


def family_of(line: Tree) -> str:
    """Return the family of a case, or the function that it calls."""
    case = line["case"]
    return str(case.get("family") or case["call"])
