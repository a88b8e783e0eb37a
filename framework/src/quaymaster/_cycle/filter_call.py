"""One plugin's verdicts on nodes: its hooks, called and checked.

Mirrors ``runFilterPlugin`` (Kubernetes v1.36,
``pkg/scheduler/framework/runtime/framework.go``).
"""

from typing import Final

import numpy as np

from quaymaster._cycle.diagnosis import Diagnosis, PluginRejections
from quaymaster._cycle.errors import PluginError, failed, unexpected
from quaymaster._runtime import Call
from quaymaster.arrays import BoolArray, RowArray, Rows
from quaymaster.cycle_state import CycleState
from quaymaster.hookspecs import PodUse
from quaymaster.node_info import NodeInfo
from quaymaster.node_table import NodeTable
from quaymaster.objects import Pod
from quaymaster.results import NodeVerdicts
from quaymaster.status import Status

__all__ = ["FilterCall"]

_FEW_ROWS: Final = 4
"""So many of more nodes are judged one by one: a batch twin costs more than that."""


class FilterCall:
    """Calls ``filter`` and ``filter_nodes`` of one plugin.

    Args:
        call: The plugin and its hooks.
        imagines: Whether it wants to be told of pods that come or go.

    Attributes:
        plugin: The plugin's name.
        pod_use: How much it looks at the pods on a node.
    """

    __slots__ = ("_scalar", "_twin", "plugin", "pod_use")

    def __init__(self, call: Call, imagines: bool) -> None:
        self.plugin = call.plugin
        self._scalar = call.hooks["filter"]
        self._twin = call.hooks.get("filter_nodes")
        self.pod_use = call.pod_use
        if imagines or (call.pod_use is PodUse.SUMS and self._twin is None):
            self.pod_use = PodUse.PODS

    def judge(self, state: CycleState, pod: Pod, node: NodeInfo) -> Status | None:
        """The verdict on one node: None, a rejection, or an Error."""
        try:
            status = self._scalar(state, pod, node)
        except Exception as error:
            return self._failed(Status.from_error(error))
        if status is None:
            return None
        if not isinstance(status, Status):
            return unexpected(self.plugin, "filter", status, "Status or None")
        if status.is_rejected:
            return status.with_plugin(self.plugin)
        return self._failed(status)

    def judge_rows(
        self,
        state: CycleState,
        pod: Pod,
        nodes: NodeTable,
        rows: Rows,
        diagnosis: Diagnosis,
    ) -> Rows | Status:
        """The rows that pass, ascending, or an Error.

        Args:
            state: The pod's scratch space.
            pod: The pod being scheduled.
            nodes: The columns of all nodes, which may be imagined.
            rows: The rows to judge.
            diagnosis: Takes the rejections.
        """
        few = nodes.count(rows) <= _FEW_ROWS < len(nodes) and not nodes.is_imagined
        if self._twin is None or few:
            return self._loop(state, pod, nodes, rows, diagnosis)
        try:
            verdicts = self._twin(state, pod, nodes, rows)
        except Exception as error:
            return self._failed(Status.from_error(error))
        if verdicts is None:
            return rows
        count = nodes.count(rows)
        if isinstance(verdicts, Status):
            if not verdicts.is_rejected:
                return self._failed(verdicts)
            status = verdicts
            verdicts = NodeVerdicts.reject_where(np.ones(count, np.bool_), status)
        elif not isinstance(verdicts, NodeVerdicts):
            expected = "NodeVerdicts, Status or None"
            return unexpected(self.plugin, "filter_nodes", verdicts, expected)
        problem = _problem(verdicts.codes, count)
        if problem:
            return Status.from_error(PluginError(self.plugin, "filter_nodes", problem))
        rejected: BoolArray = verdicts.codes != 0
        if not rejected.any():
            return rows
        numbers = nodes.row_numbers(rows)
        codes = NodeVerdicts(verdicts.codes[rejected], verdicts.status_of)
        diagnosis.reject_batch(PluginRejections(self.plugin, numbers[rejected], codes))
        return numbers[~rejected]

    def _loop(
        self,
        state: CycleState,
        pod: Pod,
        nodes: NodeTable,
        rows: Rows,
        diagnosis: Diagnosis,
    ) -> Rows | Status:
        passed: list[int] = []
        for node in nodes.infos_at(rows):
            status = self.judge(state, pod, node)
            if status is None:
                passed.append(node.row)
            elif status.is_rejected:
                diagnosis.reject(node.name, status)
            else:
                return status
        if len(passed) == nodes.count(rows):
            return rows
        found: RowArray = np.array(passed, dtype=np.intp)
        return found

    def _failed(self, status: Status) -> Status:
        return failed(f'running "{self.plugin}" filter plugin', self.plugin, status)


def _problem(codes: object, count: int) -> str:
    """What is wrong with the codes of a batch twin; empty if nothing is."""
    if not isinstance(codes, np.ndarray):
        return f"returned codes as {type(codes).__name__}, expected an array"
    if codes.shape != (count,):
        return f"returned shape {codes.shape}, expected ({count},)"
    if codes.dtype.kind not in "biu":
        return f"returned dtype {codes.dtype}, expected integers or bool"
    return ""
