"""The Filter station: which nodes can run the pod.

Mirrors ``findNodesThatPassFilters`` and ``RunFilterPluginsWithNominatedPods``
(Kubernetes v1.36, ``pkg/scheduler``), except that a plugin with a batch twin judges
all nodes at once.
"""

import itertools
from collections.abc import Mapping, Sequence
from functools import partial

import numpy as np

from quaymaster._cycle.crowding import Ahead, pods_ahead
from quaymaster._cycle.diagnosis import Diagnosis
from quaymaster._cycle.filter_call import FilterCall
from quaymaster._cycle.filter_memo import FEW_ROWS, FilterMemo
from quaymaster._cycle.memory import FilterPlan, Recalled
from quaymaster._cycle.pre_filter import PreFilterStation
from quaymaster._runtime import Call
from quaymaster.arrays import RowArray, Rows
from quaymaster.cycle_state import CycleState
from quaymaster.hookspecs import PodUse
from quaymaster.node_info import NodeInfo
from quaymaster.node_table import NodeTable
from quaymaster.objects import Pod
from quaymaster.resources import pod_usage
from quaymaster.status import Status

__all__ = ["FilterStation"]


class FilterStation:
    """Calls ``filter`` and ``filter_nodes`` of one profile's plugins."""

    def __init__(self, calls: Sequence[Call], pre_filter: PreFilterStation) -> None:
        imagining = pre_filter.imagining_plugins
        self._filters = [FilterCall(call, call.plugin in imagining) for call in calls]
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
                status = item.judge(state, pod, node)
                if status is not None:
                    return status
        return None

    def run_one(
        self, plugin: str, state: CycleState, pod: Pod, node: NodeInfo
    ) -> Status | None:
        """Run one plugin alone on one node; for explanations."""
        item = next(item for item in self._filters if item.plugin == plugin)
        return item.judge(state, pod, node)

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
            passed = item.judge_rows(state, pod, nodes, rows, diagnosis)
            if isinstance(passed, Status):
                return passed
            rows = passed
        return rows

    def run_recalled(
        self,
        state: CycleState,
        pod: Pod,
        nodes: NodeTable,
        rows: Rows,
        diagnosis: Diagnosis,
        recalled: Recalled,
    ) -> Rows | Status:
        """The same as `run_batch`, where plugins are asked only what is not known.

        Args:
            state: The pod's scratch space.
            pod: The pod being scheduled.
            nodes: The columns of all nodes.
            rows: The rows to judge; most rows, or it is not worth it.
            diagnosis: Takes the rejections.
            recalled: What is remembered of the pod; is filled in.

        Returns:
            The feasible rows, ascending, or the Error that ends the attempt.
        """
        plan = self._plan(recalled)
        if plan is None:
            return self.run_batch(state, pod, nodes, rows, diagnosis)
        return self._run_plan(plan, state, pod, nodes, rows, diagnosis)

    def run_recalled_crowded(
        self,
        state: CycleState,
        pod: Pod,
        nodes: NodeTable,
        ahead: Ahead,
        diagnosis: Diagnosis,
        recalled: Recalled,
    ) -> Rows | Status | None:
        """The same as `run_recalled` for all rows, some of which must pass twice.

        Args:
            state: The pod's scratch space.
            pod: The pod being scheduled.
            nodes: The columns of all nodes.
            ahead: The rows that must pass with these pods imagined there, too.
            diagnosis: Takes the rejections.
            recalled: What is remembered of the pod; is filled in.

        Returns:
            The feasible rows, ascending, or the Error that ends the attempt; None, and
            nothing is noted, if not all that decides is remembered.
        """
        plan, skipped = self._plan(recalled), state.skip_filter_plugins
        if plan is None or not all(
            isinstance(step, FilterMemo) or step.plugin in skipped
            for step in plan.steps
        ):
            return None
        if any(memo.refresh(state, pod, nodes) is not None for memo in plan.memos):
            return None
        judge = partial(self._judge_crowded, state, pod, nodes)
        crowded = plan.crowd.rejections(nodes, ahead, judge)
        if isinstance(crowded, Status):
            return crowded
        passed = self.run_recalled(state, pod, nodes, nodes.rows, diagnosis, recalled)
        if isinstance(passed, Status) or not len(crowded):
            return passed
        diagnosis.override(crowded)
        return plan.crowd.without(nodes, passed, crowded)

    def _judge_crowded(
        self, state: CycleState, pod: Pod, nodes: NodeTable, ahead: Ahead
    ) -> Mapping[int, Status] | Status:
        if len(ahead) > FEW_ROWS:
            diagnosis = Diagnosis(nodes)
            passed = self.run_crowded(state, pod, nodes, ahead, diagnosis)
            if isinstance(passed, Status):
                return passed
            gone = ahead.keys() - set(passed.tolist())
            infos = nodes.infos_at(np.array(list(gone), dtype=np.intp))
            return {info.row: diagnosis[info.name] for info in infos}
        found: dict[int, Status] = {}
        for row, others in ahead.items():
            info = nodes.infos[row]
            assert info is not None, "only rows with nodes are crowded"
            status = self._run_crowded(state, pod, info, others)
            if status is None:
                continue
            if not status.is_rejected:
                return status
            found[row] = status
        return found

    def _run_plan(
        self,
        plan: FilterPlan,
        state: CycleState,
        pod: Pod,
        nodes: NodeTable,
        rows: Rows,
        diagnosis: Diagnosis,
    ) -> Rows | Status:
        skipped = state.skip_filter_plugins
        remembered = rows if rows is nodes.rows else None
        for step in plan.steps:
            calls: Sequence[FilterCall]
            if isinstance(step, FilterMemo):
                if step.refresh(state, pod, nodes) is None:
                    passing = step.narrow(nodes, rows, diagnosis)
                    if remembered is rows:
                        remembered = passing
                    rows = passing
                    continue
                calls = step.calls
            else:
                calls = () if step.plugin in skipped else (step,)
            for call in calls:
                if nodes.count(rows) == 0:
                    return rows
                passed = call.judge_rows(state, pod, nodes, rows, diagnosis)
                if isinstance(passed, Status):
                    return passed
                rows = passed
        plan.passing = rows if rows is remembered else None
        return rows

    def _plan(self, recalled: Recalled) -> FilterPlan | None:
        known = recalled.pre_filter
        if recalled.filters is None and known is not None:
            steps: list[FilterCall | FilterMemo] = []
            calls = (call for call in self._filters if call.plugin not in known.skips)
            for (is_remembered, _), group in itertools.groupby(
                calls,
                lambda call: (
                    call.plugin in recalled.plugins,
                    call.pod_use is PodUse.NONE,
                ),
            ):
                neighbours = tuple(group)
                steps += [FilterMemo(neighbours)] if is_remembered else neighbours
            recalled.filters = FilterPlan(steps)
        return recalled.filters


_POD_USES = tuple(PodUse)
