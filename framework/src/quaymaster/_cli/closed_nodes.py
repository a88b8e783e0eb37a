"""Prints which nodes accept no pods, and why."""

from collections.abc import Sequence
from typing import Final

from quaymaster._cli.columns import Column, Columns
from quaymaster._cli.tables import Fit
from quaymaster._studies.capacity.node_status import ClosedNode

__all__ = ["CLOSED", "closed_lines", "names_of"]

_NAMES: Final = 4
"""How many nodes a line names."""

CLOSED: Final = Columns[ClosedNode](
    Column("node", fit=Fit.NODE), Column("status"), Column("why")
)
"""What documents and pages have about nodes that accept no pods."""


def closed_lines(nodes: Sequence[ClosedNode], before: str = "") -> list[str]:
    """Return a line for each status of nodes that accept no pods.

    Args:
        nodes: The nodes.
        before: What each line begins with.
    """
    kinds: dict[tuple[str, str], list[str]] = {}
    for node in nodes:
        kinds.setdefault((node.status, node.why), []).append(node.node)
    return [
        f"{before}{_accept(len(names))} no pods: {status} ({why}): {names_of(names)}"
        for (status, why), names in kinds.items()
    ]


def names_of(names: Sequence[str]) -> str:
    """Return the first names, and how many more there are."""
    shown = ", ".join(names[:_NAMES])
    rest = len(names) - _NAMES
    return shown if rest <= 0 else f"{shown} and {rest} more"


def _accept(nodes: int) -> str:
    return "1 node accepts" if nodes == 1 else f"{nodes} nodes accept"
