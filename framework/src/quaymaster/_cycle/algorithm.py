"""The scheduling algorithm: one pod against all nodes.

Mirrors ``schedulePod`` and ``findNodesThatFitPod`` (Kubernetes v1.36,
``pkg/scheduler/schedule_one.go``).
"""

from collections.abc import Callable, Sequence
from typing import Protocol, TypeAlias

import attrs
import numpy as np

from quaymaster._cycle.diagnosis import Diagnosis
from quaymaster._cycle.errors import unexpected
from quaymaster._cycle.filtering import FilterStation, pods_ahead
from quaymaster._cycle.pre_filter import PreFilterStation
from quaymaster._cycle.sampling import NodeOrder, nodes_to_find
from quaymaster._cycle.scoring import ScoreStation
from quaymaster._runtime import HookFunction, Profile
from quaymaster.arrays import RowArray, Rows
from quaymaster.cycle_state import CycleState
from quaymaster.node_info import NodeInfo
from quaymaster.node_table import NodeTable
from quaymaster.objects import Pod
from quaymaster.results import NominatingInfo, NominatingMode, PostFilterResult
from quaymaster.status import Code, Status

__all__ = [
    "CLEAR_NOMINATION",
    "Algorithm",
    "Decision",
    "Feasible",
    "Nominator",
    "PickNode",
    "Unfit",
]

PickNode: TypeAlias = Callable[[NodeTable, Rows], int]
"""Breaks ties: one of the given rows, which all have the highest total."""

CLEAR_NOMINATION = NominatingInfo("", NominatingMode.OVERRIDE)


@attrs.frozen(eq=False)
class Feasible:
    """The nodes that a pod may run on.

    Attributes:
        rows: Their rows; at least one.
        diagnosis: Why the others were rejected.
        via_nominated_node: Whether only the pod's own nominated node was looked at.
    """

    rows: Rows
    diagnosis: Diagnosis
    via_nominated_node: bool = False


@attrs.frozen(eq=False)
class Decision:
    """The node for a pod.

    Attributes:
        node: The chosen node.
        feasible_nodes: How many nodes would have done.
        evaluated_nodes: How many nodes were looked at.
    """

    node: NodeInfo
    feasible_nodes: int
    evaluated_nodes: int


@attrs.frozen(eq=False)
class Unfit:
    """No node for a pod.

    Attributes:
        status: Unschedulable, or the Error that ended the attempt.
        diagnosis: Why; None after an Error, or when there are no nodes at all.
        nominating: What happens to the pod's nomination.
        no_nodes: Whether the cluster has no nodes at all.
        post_filter: What the PostFilter plugins said together; None if none ran.
    """

    status: Status
    diagnosis: Diagnosis | None = None
    nominating: NominatingInfo | None = CLEAR_NOMINATION
    no_nodes: bool = False
    post_filter: PostFilterResult | None = None


class Nominator(Protocol):
    """What the algorithm asks of the pods' nominations."""

    def pods_on(self, node_name: str, /) -> Sequence[Pod]:
        """The pods that are nominated to a node, in the order of nomination."""

    def nodes(self) -> Sequence[str]:
        """The nodes that any pod is nominated to."""


class Algorithm:
    """Finds the node for a pod of one profile; changes nothing but the cycle state.

    Attributes:
        pre_filter: The PreFilter station.
        filter: The Filter station.
        score: The PreScore and Score station.
    """

    def __init__(
        self,
        profile: Profile,
        nodes: NodeTable,
        nominator: Nominator,
        order: NodeOrder,
        percentage: int,
    ) -> None:
        self.pre_filter = PreFilterStation(profile.plan("preFilter"))
        self.filter = FilterStation(profile.plan("filter"), self.pre_filter)
        self.score = ScoreStation(profile.plan("preScore"), profile.plan("score"))
        self._post_filter = [
            (call.plugin, call.hooks["post_filter"])
            for call in profile.plan("postFilter")
        ]
        self._nodes = nodes
        self._nominator = nominator
        self._order = order
        self._percentage = percentage

    def schedule(
        self, state: CycleState, pod: Pod, pick_node: PickNode
    ) -> Decision | Unfit:
        """Find the best node for a pod, or say why there is none."""
        if not len(self._nodes):
            status = Status.unresolvable("no nodes available to schedule pods")
            return Unfit(status, no_nodes=True)
        feasible = self.find_feasible(state, pod)
        self._order.advance(_processed(self._nodes, feasible), len(self._nodes))
        if isinstance(feasible, Unfit):
            return self._post_filtered(state, pod, feasible)
        row = self._best(state, pod, feasible.rows, pick_node)
        if isinstance(row, Status):
            return Unfit(row)
        info = self._nodes.infos[row]
        assert info is not None
        count = self._nodes.count(feasible.rows)
        return Decision(info, count, count + feasible.diagnosis.processed())

    def find_feasible(self, state: CycleState, pod: Pod) -> Feasible | Unfit:
        """Run PreFilter and Filter; changes nothing but the cycle state."""
        nodes, diagnosis = self._nodes, Diagnosis(self._nodes)
        outcome = self.pre_filter.run(state, pod, nodes)
        diagnosis.pre_filter_plugins = outcome.restricting_plugins
        if outcome.status is not None:
            if not outcome.status.is_rejected:
                return Unfit(outcome.status)
            diagnosis.reject_all(outcome.status)
            return Unfit(Status.unschedulable(), diagnosis)
        if self._nominated_node_fits(state, pod, diagnosis):
            row = nodes.rows_of([pod.status.nominated_node_name])
            return Feasible(row, diagnosis, via_nominated_node=True)
        rows = nodes.rows
        if outcome.node_names is not None:
            rows = nodes.rows_of(outcome.node_names)
            listed = " ".join(sorted(outcome.restricting_plugins))
            diagnosis.absent = Status.unresolvable(
                f"node(s) didn't satisfy plugin(s) [{listed}]"
            )
        passed = self._filtered(state, pod, rows, diagnosis)
        if isinstance(passed, Status):
            return Unfit(passed)
        if nodes.count(passed) == 0:
            return Unfit(Status.unschedulable(), diagnosis)
        return Feasible(passed, diagnosis)

    def post_filter(
        self, state: CycleState, pod: Pod, diagnosis: Diagnosis
    ) -> PostFilterResult:
        """Run the PostFilter plugins until one succeeds or fails badly.

        Mirrors ``RunPostFilterPlugins`` (``framework/runtime/framework.go``).
        """
        nominating: NominatingInfo | None = None
        reasons: list[str] = []
        rejector = ""
        for plugin, function in self._post_filter:
            result = self._call_post_filter(plugin, function, state, pod, diagnosis)
            status = result.status
            if status is None:
                return result
            if status.code is Code.UNSCHEDULABLE_AND_UNRESOLVABLE:
                return PostFilterResult(status.with_plugin(plugin), result.nominating)
            if not status.is_rejected:
                error = Status(Code.ERROR, status.reasons, plugin, status.error)
                return PostFilterResult(error)
            wanted = result.nominating
            if wanted is not None and wanted.mode is not NominatingMode.NOOP:
                nominating = wanted
            reasons.extend(status.reasons)
            rejector = rejector or plugin
        status = Status(Code.UNSCHEDULABLE, tuple(reasons), rejector)
        return PostFilterResult(status, nominating)

    def _post_filtered(self, state: CycleState, pod: Pod, unfit: Unfit) -> Unfit:
        if unfit.diagnosis is None or not self._post_filter:
            return unfit
        result = self.post_filter(state, pod, unfit.diagnosis)
        if result.status is not None:
            unfit.diagnosis.post_filter_message = result.status.message
        return attrs.evolve(unfit, nominating=result.nominating, post_filter=result)

    def _call_post_filter(
        self,
        plugin: str,
        function: HookFunction,
        state: CycleState,
        pod: Pod,
        diagnosis: Diagnosis,
    ) -> PostFilterResult:
        try:
            answer = function(state, pod, diagnosis)
        except Exception as error:
            answer = Status.from_error(error)
        if answer is None:
            return PostFilterResult()
        if isinstance(answer, Status):
            return PostFilterResult(answer)
        if isinstance(answer, PostFilterResult):
            return answer
        expected = "PostFilterResult, Status or None"
        return PostFilterResult(unexpected(plugin, "post_filter", answer, expected))

    def _nominated_node_fits(
        self, state: CycleState, pod: Pod, diagnosis: Diagnosis
    ) -> bool:
        name = pod.status.nominated_node_name
        node = self._nodes.get(name) if name else None
        if node is None:
            return False
        status = self.filter.run_with_nominated_pods(
            state, pod, node, self._nominator.pods_on(name)
        )
        if status is not None and status.is_rejected:
            diagnosis.reject(name, status)
        return status is None

    def _filtered(
        self, state: CycleState, pod: Pod, rows: Rows, diagnosis: Diagnosis
    ) -> Rows | Status:
        count = self._nodes.count(rows)
        wanted = nodes_to_find(self._percentage, count) if self.score else 1
        if wanted >= count:
            return self._filter_rows(state, pod, rows, diagnosis)
        return self._sample(state, pod, rows, wanted, diagnosis)

    def _sample(
        self,
        state: CycleState,
        pod: Pod,
        rows: Rows,
        wanted: int,
        diagnosis: Diagnosis,
    ) -> Rows | Status:
        """Filter in sampling order until enough nodes were found."""
        order = self._order.rotated(self._nodes)
        if not isinstance(rows, slice):
            order = order[np.isin(order, rows)]
        found: list[int] = []
        looked = 0
        while looked < len(order) and len(found) < wanted:
            part = order[looked : looked + wanted]
            passed = self._filter_rows(state, pod, np.sort(part), diagnosis)
            if isinstance(passed, Status):
                return passed
            fits = np.isin(part, self._nodes.row_numbers(passed))
            enough = np.flatnonzero(fits)[: wanted - len(found)]
            found.extend(part[enough].tolist())
            looked += len(part)
        return np.array(sorted(found), dtype=np.intp)

    def _filter_rows(
        self, state: CycleState, pod: Pod, rows: Rows, diagnosis: Diagnosis
    ) -> Rows | Status:
        crowded = self._nominator.nodes()
        if not crowded:
            return self.filter.run_batch(state, pod, self._nodes, rows, diagnosis)
        numbers = self._nodes.row_numbers(rows)
        candidates = np.intersect1d(numbers, self._nodes.rows_of(crowded))
        ahead = {
            node.row: others
            for node in self._nodes.infos_at(candidates)
            if (others := pods_ahead(pod, self._nominator.pods_on(node.name)))
        }
        apart: RowArray = np.array(list(ahead), dtype=np.intp)
        passed = self.filter.run_crowded(state, pod, self._nodes, ahead, diagnosis)
        if isinstance(passed, Status):
            return passed
        rest = np.union1d(np.setdiff1d(numbers, apart), passed)
        return self.filter.run_batch(state, pod, self._nodes, rest, diagnosis)

    def _best(
        self, state: CycleState, pod: Pod, rows: Rows, pick_node: PickNode
    ) -> int | Status:
        if self._nodes.count(rows) == 1:
            return int(self._nodes.row_numbers(rows)[0])
        if not self.score:
            return pick_node(self._nodes, rows)
        status = self.score.prepare(state, pod, self._nodes, rows)
        if status is not None:
            return status
        total = self.score.totals(state, pod, self._nodes, rows)
        if isinstance(total, Status):
            return total
        best = np.flatnonzero(total == total.max())
        if isinstance(rows, slice):
            ties = best + rows.start
        else:
            ties = rows[best]
        return pick_node(self._nodes, ties)


def _processed(nodes: NodeTable, found: Feasible | Unfit) -> int:
    """How many nodes an attempt went through, which moves the start of the next."""
    if isinstance(found, Unfit):
        return 0 if found.diagnosis is None else found.diagnosis.processed()
    if found.via_nominated_node:
        return 0
    return nodes.count(found.rows) + found.diagnosis.processed()
