"""The extenders' part of a decision: they filter the passing nodes and add scores.

Mirrors ``findNodesThatPassExtenders`` and the second half of ``prioritizeNodes``
(Kubernetes v1.36, ``pkg/scheduler/schedule_one.go``).
"""

from collections.abc import Sequence

from quaymaster._api.objects import Pod
from quaymaster._core.contract.status import Status
from quaymaster._core.cycle.diagnosis import Diagnosis
from quaymaster._core.cycle.score_call import PluginScores
from quaymaster._core.extenders.chain import EXTENDER, Extenders, ExtenderVerdicts
from quaymaster._core.state.arrays import Rows
from quaymaster._core.state.node_table import NodeTable

__all__ = ["ExtenderStation"]


class ExtenderStation:
    """Calls the extenders for one profile.

    Args:
        extenders: The extenders.
        nodes: The columns of all nodes.

    Attributes:
        filters: Whether any extender filters.
        prioritizes: Whether any extender scores.
    """

    def __init__(self, extenders: Extenders, nodes: NodeTable) -> None:
        self._extenders = extenders or None
        self._nodes = nodes
        self.filters = extenders.filters
        self.prioritizes = extenders.prioritizes

    def passing(
        self, pod: Pod, rows: Rows, diagnosis: Diagnosis
    ) -> ExtenderVerdicts | Status:
        """Filter the nodes that passed the plugins, and update the diagnosis."""
        if self._extenders is None:
            return ExtenderVerdicts(rows)
        before = self._nodes.count(rows)
        diagnosis.filtered = before + diagnosis.processed()
        left = self.judge(pod, rows, diagnosis)
        if not isinstance(left, Status) and self._nodes.count(left.passed) != before:
            diagnosis.extender_plugins = frozenset({EXTENDER})
        return left

    def judge(
        self, pod: Pod, rows: Rows, diagnosis: Diagnosis
    ) -> ExtenderVerdicts | Status:
        """Filter some nodes, and add only the rejections to the diagnosis."""
        if self._extenders is None:
            return ExtenderVerdicts(rows)
        verdicts = self._extenders.filter(pod, self._nodes, rows)
        if not isinstance(verdicts, Status):
            for name, status in verdicts.rejected.items():
                diagnosis.reject(name, status)
        return verdicts

    def scores(self, pod: Pod, nodes: NodeTable, rows: Rows) -> Sequence[PluginScores]:
        """Return the scores of each extender that scores the feasible nodes.

        Args:
            pod: The pod.
            nodes: The feasible nodes, in the form that extenders returned, if any did.
            rows: The rows of the nodes.
        """
        if self._extenders is None:
            return ()
        return [
            PluginScores(scores.name, scores.weight, scores.raw, scores.normalized)
            for scores in self._extenders.scores(pod, nodes, rows)
        ]
