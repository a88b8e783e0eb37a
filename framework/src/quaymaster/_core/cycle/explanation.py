"""Why a pod went where it went, node by node and plugin by plugin."""

from collections.abc import Mapping

import attrs

from quaymaster._core.config.model import RANDOM
from quaymaster._core.contract.status import Code, Status

__all__ = [
    "Explanation",
    "JudgedNode",
    "NodeRejection",
    "NodeScores",
    "PluginScore",
]


@attrs.frozen(kw_only=True)
class NodeRejection:
    """Why one node was out of the question.

    Attributes:
        node: The node's name.
        plugin: The first plugin that rejected it; empty if PreFilter left it out.
        code: The plugin's verdict.
        reasons: Why.
        details: What the plugin has to say beside that.
    """

    node: str
    plugin: str
    code: Code
    reasons: tuple[str, ...]
    details: tuple[str, ...] = ()


@attrs.frozen(kw_only=True)
class JudgedNode:
    """What all plugins say of one node, not only the first that rejects it.

    Attributes:
        node: The node's name.
        is_known: Whether there was such a node.
        rejections: One for each plugin that rejects it, in profile order.
        nominated: The keys of the pods that are nominated to it, for which room has to
            be left.
    """

    node: str
    is_known: bool = True
    rejections: tuple[NodeRejection, ...] = ()
    nominated: tuple[str, ...] = ()


@attrs.frozen(kw_only=True)
class PluginScore:
    """What one plugin gave one node.

    Attributes:
        raw: As its ``score`` said.
        normalized: From 0 to 100.
        weighted: Normalised, times the plugin's weight: its part of the total.
    """

    raw: int
    normalized: int
    weighted: int


@attrs.frozen(kw_only=True)
class NodeScores:
    """How one feasible node was rated.

    Attributes:
        node: The node's name.
        plugins: Plugin name -> its score; plugins that skipped the pod are missing.
        total: The sum of the weighted scores.
    """

    node: str
    plugins: Mapping[str, PluginScore]
    total: int


@attrs.frozen(kw_only=True)
class Explanation:
    """One attempt to schedule one pod, taken apart.

    Attributes:
        pod: The pod's key, ``namespace/name``.
        scheduler: The profile that tried it.
        rejections: The nodes that were rejected, in row order.
        scores: The feasible nodes, the best first; of equals, the smallest name if ties
            are broken so.
        status: The Error that ended the attempt early, or None.
        message: The whole sentence of a pod that fits nowhere; empty otherwise.
        tie_breaker: Who chooses among the nodes with the highest total, as the profile
            has it.
    """

    pod: str
    scheduler: str
    rejections: tuple[NodeRejection, ...] = ()
    scores: tuple[NodeScores, ...] = ()
    status: Status | None = None
    message: str = ""
    tie_breaker: str = RANDOM

    def tied_with(self, node: str) -> int:
        """Return how many nodes have the highest total, if this one is of them.

        Args:
            node: The node that was chosen; 0 is returned if it is not of them.
        """
        totals = {one.node: one.total for one in self.scores}
        best = max(totals.values(), default=None)
        if node not in totals or totals[node] != best:
            return 0
        return sum(total == best for total in totals.values())
