"""The explanation of an attempt, for each node and each plugin."""

from collections.abc import Mapping

import attrs

from quaymaster._base.displayed import Tabular
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
    """The rejection of a node.

    Attributes:
        node: The node's name.
        plugin: The first plugin that rejected it; empty if PreFilter excluded it.
        code: The code of the plugin's status.
        reasons: The reasons of the plugin's status.
        details: The facts of the plugin behind its reasons.
        post_filter: What PostFilter plugins can do on the node, such as preemption, if
            the pod fits on no node.
    """

    node: str
    plugin: str
    code: Code
    reasons: tuple[str, ...]
    details: tuple[str, ...] = ()
    post_filter: tuple[str, ...] = ()


@attrs.frozen(kw_only=True)
class JudgedNode:
    """The verdicts of all plugins on a node, not only of the first that rejects it.

    Attributes:
        node: The node's name.
        is_known: Whether the cluster has such a node.
        rejections: The rejections of all plugins, in profile order.
        nominated: The keys of the pods that are nominated to it, and for which the pod
            has to leave room.
    """

    node: str
    is_known: bool = True
    rejections: tuple[NodeRejection, ...] = ()
    nominated: tuple[str, ...] = ()


@attrs.frozen(kw_only=True)
class PluginScore:
    """The score of a node by one plugin.

    Attributes:
        raw: The result of ``score``.
        normalized: The normalised score, from 0 to 100.
        weighted: The normalised score times the plugin's weight: its part of the total.
    """

    raw: int
    normalized: int
    weighted: int


@attrs.frozen(kw_only=True)
class NodeScores:
    """The scores of a feasible node.

    Attributes:
        node: The node's name.
        plugins: Plugin name -> its score; plugins that skipped the pod are missing.
        total: The sum of the weighted scores.
    """

    node: str
    plugins: Mapping[str, PluginScore]
    total: int


@attrs.frozen(kw_only=True)
class Explanation(Tabular):
    """The explanation of an attempt to schedule a pod.

    Attributes:
        pod: The pod's key, ``namespace/name``.
        scheduler: The profile of the attempt.
        rejections: The rejected nodes, in row order.
        scores: The feasible nodes, the best first. Nodes with equal totals are in the
            order of their names if the tie breaker is ``name``.
        status: The Error that ended the attempt early, or None.
        message: The message of a pod that fits no node; empty otherwise.
        tie_breaker: The ``tieBreaker`` of the profile, which chooses among the nodes
            with the highest total.
    """

    pod: str
    scheduler: str
    rejections: tuple[NodeRejection, ...] = ()
    scores: tuple[NodeScores, ...] = ()
    status: Status | None = None
    message: str = ""
    tie_breaker: str = RANDOM

    def tied_with(self, node: str) -> int:
        """Return the number of nodes with the highest total, if this node has it.

        Args:
            node: The chosen node; 0 is returned if its total is lower.
        """
        totals = {scores.node: scores.total for scores in self.scores}
        best = max(totals.values(), default=None)
        if node not in totals or totals[node] != best:
            return 0
        return sum(total == best for total in totals.values())
