"""A tie between nodes goes to the one with the lowest rank (README, section 4).

A scheduler adds up scores from 0 to 100. There is one plugin for each digit of the rank
to the base 101, with the digit's value as its weight. A policy with a higher weight
than all of them together decides first.
"""

from collections.abc import Hashable
from typing import ClassVar, Final

import attrs

from quaymaster import (
    MAX_NODE_SCORE,
    Handle,
    Int64Array,
    NodeInfo,
    NodeTable,
    Rows,
    Scope,
    hookimpl,
)
from quaymaster.config import integer

__all__ = ["BASE", "RANK", "LowestRank", "LowestRankArgs"]

RANK: Final = "openb/rank"
"""A node's label with its rank."""

BASE: Final = MAX_NODE_SCORE + 1
"""The number of values of a digit."""


@attrs.frozen(kw_only=True)
class LowestRankArgs:
    """The arguments of LowestRank.

    Attributes:
        unit: The value of the digit: 1, or a power of `BASE`.
    """

    unit: int = attrs.field(default=1, validator=integer(1))


class LowestRank:
    """Prefers nodes with a low digit in their rank.

    Args:
        args: The digit.
        _handle: Not used.
    """

    Args: ClassVar = LowestRankArgs
    scope = Scope.NODE

    def __init__(self, args: LowestRankArgs, _handle: Handle) -> None:
        self._unit = args.unit

    @hookimpl
    def sign_pod(self) -> Hashable:
        return ()

    @hookimpl
    def score(self, node: NodeInfo) -> int:
        return self._rated(node.labels.get(RANK))

    @hookimpl
    def score_nodes(self, nodes: NodeTable, rows: Rows) -> Int64Array:
        return nodes.label(RANK).map(self._rated, rows)

    def _rated(self, rank: str | None) -> int:
        if rank is None:
            return 0
        return MAX_NODE_SCORE - int(rank) // self._unit % BASE
