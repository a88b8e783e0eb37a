"""The Filter station: finds the nodes that can run the pod.

Mirrors ``findNodesThatPassFilters`` (Kubernetes v1.36,
``pkg/scheduler/schedule_one.go``), ``RunFilterPlugins`` and
``RunFilterPluginsWithNominatedPods``
(``pkg/scheduler/framework/runtime/framework.go``), except that a plugin with a batch
twin judges all nodes at once.
"""

from collections.abc import Collection, Sequence
from typing import Protocol

import attrs
import numpy as np

from quaymaster._api.objects import Pod
from quaymaster._core.contract.cycle_state import CycleState
from quaymaster._core.contract.declarations import PodUse, Revised
from quaymaster._core.contract.status import Status
from quaymaster._core.cycle.attempt import Attempt
from quaymaster._core.cycle.decisions import FitError, Unfit
from quaymaster._core.cycle.filter_call import FilterCall
from quaymaster._core.cycle.nominated import Ahead, NominatedPods, nominated_ahead
from quaymaster._core.cycle.pre_filter import PreFilterOutcome, PreFilterStation
from quaymaster._core.runtime.profile import Call
from quaymaster._core.state.arrays import BoolArray, RowArray, Rows
from quaymaster._core.state.node_info import NodeInfo
from quaymaster._core.state.node_table import NodeTable

__all__ = ["FilterStation", "Filters", "KindOnNode", "PlainFilters"]

_POD_USES = tuple(PodUse)


class Filters(Protocol):
    """Finds the nodes that can run a pod, by calling every plugin or with a memo.

    Attributes:
        has_unfit: Whether the outcome of any attempt is kept; see `known_unfit`.
    """

    has_unfit: bool

    def known_unfit(self, attempt: Attempt, /) -> Unfit | None:
        """Return how an attempt on all nodes ends, if an equal one has found no node.

        Then the state is the same as after `prepare` and `passing`, which need not be
        called. The diagnosis of the attempt stays empty: the outcome has its own.
        """

    def unfit(self, attempt: Attempt, outcome: FitError, /) -> Unfit:
        """Keep how an attempt on all nodes has ended, for equal attempts.

        Returns:
            The outcome; that of an earlier attempt, if no verdict has changed since.
        """

    def prepare(self, attempt: Attempt, /) -> PreFilterOutcome:
        """Run PreFilter."""

    def kind_on_node(self, attempt: Attempt, /) -> "KindOnNode | None":
        """Return what decides about the attempt's pod on a node, beside that node.

        Returns:
            None if a plugin looks at other nodes, or signs no pods.
        """

    def passing(self, attempt: Attempt, rows: Rows, /) -> Rows | Status:
        """Run Filter, and leave room for nominated pods.

        Args:
            attempt: The attempt; rejections are added to its diagnosis.
            rows: The rows to judge.

        Returns:
            The feasible rows, ascending, or the Error that ends the attempt.
        """


@attrs.frozen(eq=False)
class KindOnNode:
    """What decides about a pod on a node, beside the node and its pods.

    Attributes:
        key: The same object for equal pods, while no data of a plugin change.
        data: The kind stays the same as long as the revisions of these do; None if it
            may change at any time.
    """

    key: object
    data: Sequence[Revised] | None


class FilterStation:
    """Runs the Filter plugins of one profile."""

    def __init__(self, calls: Sequence[Call], pre_filter: PreFilterStation) -> None:
        imagining = pre_filter.imagining_plugins
        self.calls = [FilterCall(call, call.plugin in imagining) for call in calls]
        self.pre_filter = pre_filter

    def __bool__(self) -> bool:
        return bool(self.calls)

    @property
    def plugins(self) -> Sequence[str]:
        """The plugins of this point, in profile order."""
        return [call.plugin for call in self.calls]

    def pod_use(self, state: CycleState) -> PodUse:
        """Return how much the plugins that are not skipped look at pods on a node."""
        skipped = state.skip_filter_plugins
        used = {
            call.pod_use_in(state) for call in self.calls if call.plugin not in skipped
        }
        return max(used, key=_POD_USES.index, default=PodUse.NONE)

    def local_plugins(self, state: CycleState) -> Sequence[str] | None:
        """Return the plugins that are not skipped; None if one follows other nodes.

        Args:
            state: The pod's cycle state after PreFilter.
        """
        skipped = state.skip_filter_plugins
        calls = [call for call in self.calls if call.plugin not in skipped]
        if any(call.imagines for call in calls):
            return None
        return [call.plugin for call in calls]

    def run(self, state: CycleState, pod: Pod, node: NodeInfo) -> Status | None:
        """Run the plugins on one node until one rejects it."""
        skipped = state.skip_filter_plugins
        for call in self.calls:
            if call.plugin not in skipped:
                status = call.judge(state, pod, node)
                if status is not None:
                    return status
        return None

    def run_one(
        self, plugin: str, state: CycleState, pod: Pod, node: NodeInfo
    ) -> Status | None:
        """Run a single plugin on a node; used by explanations."""
        call = next(call for call in self.calls if call.plugin == plugin)
        return call.judge(state, pod, node)

    def run_on_rows(
        self,
        attempt: Attempt,
        rows: Rows,
        pod_use: PodUse | None = None,
        among: Collection[str] | None = None,
    ) -> Rows | Status:
        """Return the rows that pass every plugin; add the others to the diagnosis.

        Args:
            attempt: The attempt; its nodes may be imagined.
            rows: The rows to judge.
            pod_use: If given, only plugins with this use of pods are run.
            among: If given, only plugins with these names are run.

        Returns:
            The feasible rows, ascending, or the Error that ends the attempt.
        """
        nodes, skipped = attempt.nodes, attempt.state.skip_filter_plugins
        for call in self.calls:
            if call.plugin in skipped:
                continue
            if among is not None and call.plugin not in among:
                continue
            if pod_use is not None and call.pod_use_in(attempt.state) != pod_use:
                continue
            # Upstream stops per node at the first rejection, so without rows no plugin
            # is called any longer.
            if nodes.count(rows) == 0:
                break
            passed = call.judge_rows(attempt, rows)
            if isinstance(passed, Status):
                return passed
            rows = passed
        return rows

    def run_with_nominated_pods(
        self, state: CycleState, pod: Pod, node: NodeInfo, nominated: Sequence[Pod]
    ) -> Status | None:
        """Run the plugins as if nominated pods of equal or higher priority ran there.

        The node must pass both with them and without them, since they may never be
        bound there.

        Args:
            state: The pod's cycle state; it is not changed.
            pod: The pod being scheduled.
            node: The node; it is not changed.
            nominated: All pods that are nominated to the node.
        """
        # The first of upstream's two passes is the one with these pods, so its
        # rejection is the one that is reported.
        ahead = nominated_ahead(pod, nominated)
        if ahead:
            status = self.run_with_pods(state, pod, node, ahead)
            if status is not None:
                return status
        return self.run(state, pod, node)

    def run_with_pods(
        self, state: CycleState, pod: Pod, node: NodeInfo, others: Sequence[Pod]
    ) -> Status | None:
        """Run the plugins on a copy of a node, with other pods added."""
        imagined_state, imagined = state.clone(), node.clone()
        status = self._add_pods(imagined_state, pod, imagined, others)
        return self.run(imagined_state, pod, imagined) if status is None else status

    def with_pods(
        self, state: CycleState, pod: Pod, node: NodeInfo, others: Sequence[Pod]
    ) -> tuple[CycleState, NodeInfo]:
        """Return copies of a state and a node with other pods; for explanations."""
        imagined_state, imagined = state.clone(), node.clone()
        self._add_pods(imagined_state, pod, imagined, others)
        return imagined_state, imagined

    def _add_pods(
        self, state: CycleState, pod: Pod, node: NodeInfo, others: Sequence[Pod]
    ) -> Status | None:
        """Add pods to copies, because imagined pods must not stay in the snapshot.

        Upstream clones in ``addGENominatedPods``.
        """
        for other in others:
            node.add_pod(other)
            status = self.pre_filter.add_pod(state, pod, other, node)
            if status is not None:
                return status
        return None

    def run_with_pods_on_rows(
        self, attempt: Attempt, ahead: Ahead, nominated: NominatedPods
    ) -> RowArray | Status:
        """Run the plugins as if nominated pods ran on some nodes.

        Args:
            attempt: The attempt; its state is not changed.
            ahead: The pods to imagine on each row.
            nominated: All nominated pods, including those.

        Returns:
            The rows that pass, ascending, or the Error that ends the attempt.
        """
        nodes = attempt.nodes
        imagined = self._imagined(attempt, nominated)
        rows: RowArray = np.array(list(ahead), dtype=np.intp)
        # Batch twins judge sums for all such nodes in one call. Without sums, each node
        # needs a copy with the pods on it.
        if imagined is not None:
            passed = self.run_on_rows(attempt.on(imagined), rows)
            return passed if isinstance(passed, Status) else nodes.row_numbers(passed)
        fitting = []
        for node in nodes.infos_at(rows):
            others = ahead[node.row]
            status = self.run_with_pods(attempt.state, attempt.pod, node, others)
            if status is None:
                fitting.append(node.row)
            elif status.is_rejected:
                attempt.diagnosis.reject(node.name, status)
            else:
                return status
        return np.array(fitting, dtype=np.intp)

    def _imagined(self, attempt: Attempt, nominated: NominatedPods) -> NodeTable | None:
        """Return the table with nominated pods as sums; None if sums do not suffice."""
        # Identity: nominations are followed on one table, not on those of extenders.
        if attempt.nodes is not nominated.nodes:
            return None
        if self.pod_use(attempt.state) is PodUse.PODS:
            return None
        imagined = nominated.imagined(attempt.pod)
        return None if imagined is None else imagined[0]


class PlainFilters:
    """Finds the nodes that can run a pod by upstream's rules, calling every plugin.

    Implements `Filters`.

    Args:
        station: The Filter plugins.
        nominated: The pods to leave room for.

    Attributes:
        station: The Filter plugins.
        nominated: The pods to leave room for.
        has_unfit: Always False.
    """

    def __init__(self, station: FilterStation, nominated: NominatedPods) -> None:
        self.station = station
        self.nominated = nominated
        self.has_unfit = False

    def known_unfit(self, _attempt: Attempt) -> None:
        """Return None: no outcome is kept."""

    def unfit(self, _attempt: Attempt, outcome: FitError) -> Unfit:
        """Return the outcome, which is not kept."""
        return Unfit(outcome)

    def kind_on_node(self, _attempt: Attempt) -> None:
        """Return None: no plugin's answers are kept."""

    def prepare(self, attempt: Attempt) -> PreFilterOutcome:
        """See `Filters.prepare`."""
        return self.station.pre_filter.run(attempt)

    def passing(self, attempt: Attempt, rows: Rows) -> Rows | Status:
        """See `Filters.passing`."""
        ahead = self.nominated.ahead(attempt.pod, rows)
        left = self.passing_with_nominated(attempt, rows, ahead) if ahead else rows
        if isinstance(left, Status):
            return left
        return self.station.run_on_rows(attempt, left)

    def passing_with_nominated(
        self, attempt: Attempt, rows: Rows, ahead: Ahead
    ) -> Rows | Status:
        """Drop the rows that do not pass with their nominated pods.

        Args:
            attempt: The attempt.
            rows: The rows to judge.
            ahead: The rows with nominated pods.

        Returns:
            The other rows, which must also pass without those pods; or an Error.
        """
        passed = self.station.run_with_pods_on_rows(attempt, ahead, self.nominated)
        if isinstance(passed, Status):
            return passed
        # A mask keeps the rows ascending without sorting them.
        left: BoolArray = np.zeros(attempt.nodes.capacity, dtype=np.bool_)
        left[rows] = True
        left[list(ahead)] = False
        left[passed] = True
        return left.nonzero()[0]
