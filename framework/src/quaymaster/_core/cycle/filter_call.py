"""The verdicts of one plugin on nodes: calls and checks its hooks.

Mirrors ``runFilterPlugin`` (Kubernetes v1.36,
``pkg/scheduler/framework/runtime/framework.go``).
"""

from collections.abc import Sequence
from typing import Final

import numpy as np

from quaymaster._api.objects import Pod
from quaymaster._core.contract.cycle_state import CycleState
from quaymaster._core.contract.declarations import PodUse
from quaymaster._core.contract.results import NodeVerdicts, Suggestion
from quaymaster._core.contract.status import Status
from quaymaster._core.cycle.attempt import Attempt
from quaymaster._core.cycle.diagnosis import PluginRejections, picked
from quaymaster._core.cycle.errors import failed
from quaymaster._core.runtime.failures import WrongAnswerError
from quaymaster._core.runtime.profile import Call
from quaymaster._core.state.arrays import RowArray, Rows
from quaymaster._core.state.node_info import NodeInfo
from quaymaster._core.state.node_table import NodeTable

__all__ = ["FilterCall"]

# Up to this many rows are judged one by one. For all filters of the default profile,
# that takes 0.3 of the time of their twins for one row, 0.8 for 4 rows and 1.6 for 8.
# Without this, a decision of SchedulingDaemonset takes 1.7 times as long.
_FEW_ROWS: Final = 4


class FilterCall:
    """Calls ``filter`` and ``filter_nodes`` of one plugin; the only caller of both.

    Args:
        call: The plugin and its hooks.
        imagines: Whether the plugin has ``add_pod`` or ``remove_pod``.

    Attributes:
        call: The plugin and its hooks.
        plugin: The plugin's name.
        imagines: Whether the plugin has ``add_pod`` or ``remove_pod``.
        pod_use: How much the plugin looks at the pods on a node.
        scalar: The compiled ``filter``, for loops over rows: saves a call per row.
    """

    __slots__ = (
        "_explain",
        "_narrow",
        "_status",
        "_suggest",
        "_twin",
        "_verdict",
        "call",
        "imagines",
        "plugin",
        "pod_use",
        "scalar",
    )

    def __init__(self, call: Call, imagines: bool) -> None:
        self.call = call
        self.plugin = call.plugin
        self.imagines = imagines
        self.scalar = call.hooks["filter"]
        self._twin = call.hooks.get("filter_nodes")
        self._status: Status | None = None
        self._verdict: Status
        self._explain = call.hooks.get("explain_filter")
        self._suggest = call.hooks.get("suggest_changes")
        self.pod_use = call.pod_use
        if imagines or (call.pod_use is PodUse.SUMS and self._twin is None):
            self.pod_use = PodUse.PODS
        self._narrow = None if imagines else call.hooks.get("filter_pod_use")

    def pod_use_in(self, state: CycleState) -> PodUse:
        """Return how much the plugin looks at the pods on a node in one attempt."""
        if self._narrow is None or self.pod_use is PodUse.NONE:
            return self.pod_use
        pod_use: PodUse | Status = self._narrow(state)
        # After a failure, which the guard reports, the declaration of the class holds.
        if isinstance(pod_use, Status):
            return self.pod_use
        # Only a batch twin can work with sums instead of pods.
        if pod_use is PodUse.SUMS and self._twin is None:
            return self.pod_use
        return pod_use

    def judge(self, state: CycleState, pod: Pod, node: NodeInfo) -> Status | None:
        """Return the verdict on one node: None, a rejection, or an Error."""
        status: Status | None = self.scalar(state, pod, node)
        return None if status is None else self.verdict(status)

    def verdict(self, status: Status) -> Status:
        """Return a status of ``filter`` as a rejection with its plugin, or an Error."""
        # Identity: plugins that keep their statuses return the same one on each full
        # node, and adding the name took a fifth of a rejection.
        if status is self._status:
            return self._verdict
        if not status.is_rejected:
            return self._failed(status)
        self._status, self._verdict = status, status.with_plugin(self.plugin)
        return self._verdict

    @property
    def explains(self) -> bool:
        """Whether the plugin has ``explain_filter``."""
        return self._explain is not None

    def explain(self, state: CycleState, pod: Pod, node: NodeInfo) -> Sequence[str]:
        """Return the plugin's details about a node that it has rejected."""
        if self._explain is None:
            return ()
        details: Sequence[str] | Status = self._explain(state, pod, node)
        return () if isinstance(details, Status) else details

    @property
    def suggests(self) -> bool:
        """Whether the plugin has ``suggest_changes``."""
        return self._suggest is not None

    def suggest(self, state: CycleState, pod: Pod) -> Sequence[Suggestion]:
        """Return the plugin's suggestions for a pod that has no node."""
        if self._suggest is None:
            return ()
        suggestions: Sequence[Suggestion] | Status = self._suggest(state, pod)
        return () if isinstance(suggestions, Status) else suggestions

    def judge_rows(self, attempt: Attempt, rows: Rows) -> Rows | Status:
        """Return the rows that pass, ascending; add the others to the diagnosis.

        Args:
            attempt: The attempt; its nodes may be imagined.
            rows: The rows to judge.

        Returns:
            The rows that pass; the same object if all do. Or an Error.
        """
        if self._twin is None or _are_few(attempt.nodes, rows):
            return self._loop(attempt, rows)
        verdicts = self._verdicts_on(attempt, rows)
        if verdicts is None:
            return rows
        if isinstance(verdicts, Status):
            return verdicts
        passing, rejections = self._split(rows, verdicts)
        if rejections is not None:
            attempt.diagnosis.reject_batch(rejections)
        return passing

    def _split(
        self, rows: Rows, verdicts: NodeVerdicts
    ) -> tuple[Rows, PluginRejections | None]:
        """Split rows into those that pass and the rejections, if there are any."""
        codes = verdicts.codes
        rejected = int(np.count_nonzero(codes))
        if not rejected:
            return rows, None
        passing = picked(rows, (codes == 0).nonzero()[0])
        return passing, PluginRejections(self.plugin, rows, verdicts, rejected)

    def _verdicts_on(
        self, attempt: Attempt, rows: Rows
    ) -> NodeVerdicts | Status | None:
        """Call the twin, and return its verdicts, None if all pass, or an Error."""
        assert self._twin is not None
        nodes = attempt.nodes
        verdicts: NodeVerdicts | Status | None
        verdicts = self._twin(attempt.state, attempt.pod, nodes, rows)
        if not isinstance(verdicts, Status):
            return verdicts
        if not verdicts.is_rejected:
            return self._failed(verdicts)
        everywhere = np.ones(nodes.count(rows), np.bool_)
        return NodeVerdicts.reject_where(everywhere, verdicts)

    def _loop(self, attempt: Attempt, rows: Rows) -> Rows | Status:
        state, pod, nodes = attempt.state, attempt.pod, attempt.nodes
        passed: list[int] = []
        for node in nodes.infos_at(rows):
            status = self.judge(state, pod, node)
            if status is None:
                passed.append(node.row)
            elif status.is_rejected:
                attempt.diagnosis.reject(node.name, status)
            else:
                return status
        if len(passed) == nodes.count(rows):
            return rows
        passing: RowArray = np.array(passed, dtype=np.intp)
        return passing

    def _failed(self, status: Status) -> Status:
        if isinstance(status.error, WrongAnswerError):
            return status  # it names plugin and hook
        return failed(f'running "{self.plugin}" filter plugin', self.plugin, status)


def _are_few(nodes: NodeTable, rows: Rows) -> bool:
    if isinstance(rows, slice) or len(rows) > _FEW_ROWS:
        return False
    return len(nodes) > _FEW_ROWS and not nodes.is_imagined
