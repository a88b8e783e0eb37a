"""The pod that is tried next, with its feasible nodes."""

from collections.abc import Mapping, Sequence

import attrs

from quaymaster._api.objects import Pod
from quaymaster._base.errors import PluginError, QuaymasterError
from quaymaster._core.contract.cycle_state import CycleState
from quaymaster._core.contract.status import Status
from quaymaster._core.cycle.attempt import Attempt
from quaymaster._core.cycle.decisions import Feasible, FitError
from quaymaster._core.engine.framework import Framework
from quaymaster._core.state.arrays import Int64Array, RowArray
from quaymaster._core.state.node_table import NodeTable

__all__ = ["InfeasibleNodeError", "Upcoming", "look_ahead"]


class InfeasibleNodeError(QuaymasterError):
    """The node that was requested for a pod is not feasible.

    Attributes:
        pod: The pod's key.
        node: The node's name.
    """

    def __init__(self, pod: str, node: str, reason: str) -> None:
        super().__init__(
            f"pod '{pod}': expected a feasible node, got '{node}': {reason}"
        )
        self.pod = pod
        self.node = node


@attrs.frozen(kw_only=True, eq=False)
class Upcoming:
    """The pod that is tried next; valid until the run continues.

    ``N`` is the number of feasible nodes.

    Attributes:
        pod: The pod.
        nodes: The nodes as columns, as plugins see them.
        rows: Shape ``(N,)``, ascending: the rows of the nodes that pass every filter.
    """

    pod: Pod
    nodes: NodeTable = attrs.field(repr=False)
    rows: RowArray
    _framework: Framework = attrs.field(repr=False)
    _found: Feasible | FitError = attrs.field(repr=False)

    @property
    def names(self) -> Sequence[str]:
        """The names of the feasible nodes, in the order of the rows."""
        return self.nodes.names_at(self.rows)

    def scores(self) -> Mapping[str, Int64Array]:
        """Score the feasible nodes with each Score plugin of the pod's profile.

        Nothing is cached, so it takes longer than in an attempt.

        Returns:
            Plugin -> normalised scores from 0 to 100, shape ``(N,)``, dtype int64.
            Plugins that skip the pod are missing.

        Raises:
            PluginError: A plugin failed.
        """
        plain = self._framework.plain.choosing()
        attempt = Attempt.begin(CycleState(), self.pod, self.nodes)
        # PreFilter plugins write the cycle state only if nothing is cached.
        feasible = plain.find_feasible(attempt)
        if isinstance(feasible, FitError):
            return {}
        scores = plain.score.run(attempt, self.rows)
        if isinstance(scores, Status):
            raise PluginError(scores.plugin, "score", f"failed: {scores.message}")
        return {score.plugin: score.normalized for score in scores}

    def why_not(self, node: str) -> str:
        """Return why a node is not feasible for the pod; empty if it is."""
        row = self.nodes.row_of(node)
        if row is None:
            return "there is no such node"
        if row in self.rows:
            return ""
        diagnosis = self._found.diagnosis
        status = diagnosis[node] if diagnosis is not None else None
        if status is None and isinstance(self._found, FitError):
            status = self._found.status
        return (status.message if status else "") or "it was not looked at"


def look_ahead(framework: Framework, pod: Pod) -> Upcoming:
    """Find the feasible nodes of a pod, without changing anything.

    Args:
        framework: The pod's profile.
        pod: The pod.
    """
    algorithm = framework.algorithm.choosing()
    nodes = algorithm.nodes
    feasible = algorithm.find_feasible(Attempt.begin(CycleState(), pod, nodes))
    return Upcoming(
        pod=pod,
        nodes=nodes,
        rows=_rows(nodes, feasible),
        framework=framework,
        found=feasible,
    )


def _rows(nodes: NodeTable, feasible: Feasible | FitError) -> RowArray:
    if isinstance(feasible, FitError):
        return nodes.rows_of(())
    if feasible.answered is not None:
        # Extenders may return nodes that do not exist.
        return nodes.rows_of(feasible.answered.names_at(feasible.rows))
    return nodes.row_numbers(feasible.rows)
