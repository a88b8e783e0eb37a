"""The Filter station: which nodes can run the pod.

Mirrors ``findNodesThatPassFilters`` and ``RunFilterPluginsWithNominatedPods``
(Kubernetes v1.36, ``pkg/scheduler``), except that a plugin with a batch twin judges
all nodes at once.
"""

from collections.abc import Iterable, Mapping, Sequence

import attrs
import numpy as np

from quaymaster._cycle.diagnosis import Diagnosis, Rejections
from quaymaster._cycle.errors import PluginError, failed, unexpected
from quaymaster._cycle.pre_filter import PreFilterStation
from quaymaster._runtime import Call, HookFunction
from quaymaster.arrays import BoolArray, RowArray, Rows
from quaymaster.cycle_state import CycleState
from quaymaster.hookspecs import PodUse
from quaymaster.node_info import NodeInfo
from quaymaster.node_table import NodeTable
from quaymaster.objects import Pod
from quaymaster.resources import pod_usage
from quaymaster.results import NodeVerdicts
from quaymaster.status import Status

__all__ = ["FilterStation", "pods_ahead"]


@attrs.frozen
class _Filter:
    plugin: str
    scalar: HookFunction
    twin: HookFunction | None
    pod_use: PodUse


class FilterStation:
    """Calls ``filter`` and ``filter_nodes`` of one profile's plugins."""

    def __init__(self, calls: Sequence[Call], pre_filter: PreFilterStation) -> None:
        imagining = pre_filter.imagining_plugins
        self._filters = [_filter(call, call.plugin in imagining) for call in calls]
        self._pre_filter = pre_filter

    def __bool__(self) -> bool:
        return bool(self._filters)

    @property
    def plugins(self) -> Sequence[str]:
        """The plugins of this point, in profile order."""
        return [item.plugin for item in self._filters]

    def pod_use(self, state: CycleState) -> PodUse:
        """How much the plugins that take part look at the pods on a node, at most."""
        skipped = state.skip_filter_plugins
        used = {item.pod_use for item in self._filters if item.plugin not in skipped}
        return max(used, key=_POD_USES.index, default=PodUse.NONE)

    def run(self, state: CycleState, pod: Pod, node: NodeInfo) -> Status | None:
        """Run the plugins on one node until one rejects it."""
        skipped = state.skip_filter_plugins
        for item in self._filters:
            if item.plugin not in skipped:
                status = self._scalar(item, state, pod, node)
                if status is not None:
                    return status
        return None

    def run_one(
        self, plugin: str, state: CycleState, pod: Pod, node: NodeInfo
    ) -> Status | None:
        """Run one plugin alone on one node; for explanations."""
        item = next(item for item in self._filters if item.plugin == plugin)
        return self._scalar(item, state, pod, node)

    def run_with_nominated_pods(
        self, state: CycleState, pod: Pod, node: NodeInfo, nominated: Sequence[Pod]
    ) -> Status | None:
        """Run the plugins as if nominated pods of equal or higher priority ran there.

        If the node passes with them it must pass without them too, since nobody knows
        whether they will come.

        Args:
            state: The pod's scratch space; it is not changed.
            pod: The pod being scheduled.
            node: The node; it is not changed.
            nominated: All pods that are nominated to the node.
        """
        ahead = pods_ahead(pod, nominated)
        if ahead:
            status = self._run_crowded(state, pod, node, ahead)
            if status is not None:
                return status
        return self.run(state, pod, node)

    def run_crowded(
        self,
        state: CycleState,
        pod: Pod,
        nodes: NodeTable,
        ahead: Mapping[int, Sequence[Pod]],
        diagnosis: Diagnosis,
    ) -> RowArray | Status:
        """Run the plugins as if nominated pods ran on some nodes; the first half of it.

        Args:
            state: The pod's scratch space; it is not changed.
            pod: The pod being scheduled.
            nodes: The columns of all nodes.
            ahead: Rows in ascending order -> the nominated pods to imagine there.
            diagnosis: Takes the rejections.

        Returns:
            The rows that pass so far, ascending, or the Error that ends the attempt.
        """
        imagined = self._imagined(state, nodes, ahead)
        rows: RowArray = np.array(list(ahead), dtype=np.intp)
        if imagined is not None:
            passed = self.run_batch(state, pod, imagined, rows, diagnosis)
            return passed if isinstance(passed, Status) else nodes.row_numbers(passed)
        fitting = []
        for node in nodes.infos_at(rows):
            status = self._run_crowded(state, pod, node, ahead[node.row])
            if status is None:
                fitting.append(node.row)
            elif status.is_rejected:
                diagnosis.reject(node.name, status)
            else:
                return status
        return np.array(fitting, dtype=np.intp)

    def _imagined(
        self, state: CycleState, nodes: NodeTable, ahead: Mapping[int, Sequence[Pod]]
    ) -> NodeTable | None:
        """The table with nominated pods counted in, if sums are all that matters."""
        if not ahead or self.pod_use(state) is PodUse.PODS:
            return None
        imagined = nodes.imagined()
        for row, others in ahead.items():
            for other in others:
                if not imagined.imagine_pod(row, pod_usage(other)):
                    return None
        return imagined

    def _run_crowded(
        self, state: CycleState, pod: Pod, node: NodeInfo, ahead: Sequence[Pod]
    ) -> Status | None:
        crowded, imagined = node.clone(), state.clone()
        for other in ahead:
            crowded.add_pod(other)
            status = self._pre_filter.add_pod(imagined, pod, other, crowded)
            if status is not None:
                return status
        return self.run(imagined, pod, crowded)

    def run_batch(
        self,
        state: CycleState,
        pod: Pod,
        nodes: NodeTable,
        rows: Rows,
        diagnosis: Diagnosis,
        pod_use: PodUse | None = None,
    ) -> Rows | Status:
        """Find the rows that pass every plugin; note the others in the diagnosis.

        Args:
            state: The pod's scratch space.
            pod: The pod being scheduled.
            nodes: The columns of all nodes, which may be imagined.
            rows: The rows to judge.
            diagnosis: Takes the rejections.
            pod_use: If given, only the plugins that look so much at pods are run.

        Returns:
            The feasible rows, ascending, or the Error that ends the attempt.
        """
        skipped = state.skip_filter_plugins
        for item in self._filters:
            if item.plugin in skipped or pod_use not in (None, item.pod_use):
                continue
            if nodes.count(rows) == 0:
                break
            if item.twin is None:
                passed = self._loop(item, state, pod, nodes, rows, diagnosis)
            else:
                passed = self._twin(item, state, pod, nodes, rows, diagnosis)
            if isinstance(passed, Status):
                return passed
            rows = passed
        return rows

    def _twin(
        self,
        item: _Filter,
        state: CycleState,
        pod: Pod,
        nodes: NodeTable,
        rows: Rows,
        diagnosis: Diagnosis,
    ) -> Rows | Status:
        assert item.twin is not None
        try:
            verdicts = item.twin(state, pod, nodes, rows)
        except Exception as error:
            return self._failed(item, Status.from_error(error))
        if verdicts is None:
            return rows
        count = nodes.count(rows)
        if isinstance(verdicts, Status):
            if not verdicts.is_rejected:
                return self._failed(item, verdicts)
            status = verdicts
            verdicts = NodeVerdicts.reject_where(np.ones(count, np.bool_), status)
        elif not isinstance(verdicts, NodeVerdicts):
            expected = "NodeVerdicts, Status or None"
            return unexpected(item.plugin, "filter_nodes", verdicts, expected)
        problem = _problem(verdicts.codes, count)
        if problem:
            return Status.from_error(PluginError(item.plugin, "filter_nodes", problem))
        rejected: BoolArray = verdicts.codes != 0
        if not rejected.any():
            return rows
        numbers = nodes.row_numbers(rows)
        codes = NodeVerdicts(verdicts.codes[rejected], verdicts.status_of)
        diagnosis.reject_batch(Rejections(item.plugin, numbers[rejected], codes))
        return numbers[~rejected]

    def _loop(
        self,
        item: _Filter,
        state: CycleState,
        pod: Pod,
        nodes: NodeTable,
        rows: Rows,
        diagnosis: Diagnosis,
    ) -> Rows | Status:
        passed: list[int] = []
        for node in nodes.infos_at(rows):
            status = self._scalar(item, state, pod, node)
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

    def _scalar(
        self, item: _Filter, state: CycleState, pod: Pod, node: NodeInfo
    ) -> Status | None:
        try:
            status = item.scalar(state, pod, node)
        except Exception as error:
            return self._failed(item, Status.from_error(error))
        if status is None:
            return None
        if not isinstance(status, Status):
            return unexpected(item.plugin, "filter", status, "Status or None")
        if status.is_rejected:
            return status.with_plugin(item.plugin)
        return self._failed(item, status)

    def _failed(self, item: _Filter, status: Status) -> Status:
        return failed(f'running "{item.plugin}" filter plugin', item.plugin, status)


def pods_ahead(pod: Pod, nominated: Iterable[Pod]) -> Sequence[Pod]:
    """The nominated pods that a pod must leave room for."""
    return [
        other
        for other in nominated
        if other.priority >= pod.priority and other.uid != pod.uid
    ]


_POD_USES = tuple(PodUse)


def _problem(codes: object, count: int) -> str:
    """What is wrong with the codes of a batch twin; empty if nothing is."""
    if not isinstance(codes, np.ndarray):
        return f"returned codes as {type(codes).__name__}, expected an array"
    if codes.shape != (count,):
        return f"returned shape {codes.shape}, expected ({count},)"
    if codes.dtype.kind not in "biu":
        return f"returned dtype {codes.dtype}, expected integers or bool"
    return ""


def _filter(call: Call, imagines: bool) -> _Filter:
    twin = call.hooks.get("filter_nodes")
    use = call.pod_use
    if imagines or (use is PodUse.SUMS and twin is None):
        use = PodUse.PODS
    return _Filter(call.plugin, call.hooks["filter"], twin, use)
