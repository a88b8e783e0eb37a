"""The scheduling algorithm: one pod against all nodes.

Mirrors ``schedulePod`` and ``findNodesThatFitPod`` (Kubernetes v1.36,
``pkg/scheduler/schedule_one.go``).
"""

from collections.abc import Callable, Iterable, Sequence
from typing import Protocol, TypeAlias

import attrs
import numpy as np

from quaymaster._cycle.crowding import Crowd, Nominator
from quaymaster._cycle.decisions import Decision, Feasible, Unfit
from quaymaster._cycle.diagnosis import Diagnosis
from quaymaster._cycle.errors import failed, raised, reasons_of, unexpected
from quaymaster._cycle.filtering import FilterStation
from quaymaster._cycle.memory import Memory, Recalled
from quaymaster._cycle.pre_filter import PreFilterStation
from quaymaster._cycle.sampling import NodeOrder, nodes_to_find
from quaymaster._cycle.score_call import PluginScores
from quaymaster._cycle.scoring import Ranking, ScoreStation, Ties
from quaymaster._extenders import (
    EXTENDER,
    NO_EXTENDERS,
    Extenders,
    ExtenderVerdicts,
)
from quaymaster._runtime import HookFunction, Profile
from quaymaster.arrays import BoolArray, Rows
from quaymaster.cycle_state import CycleState
from quaymaster.node_table import NodeTable
from quaymaster.objects import Pod
from quaymaster.results import NominatingInfo, NominatingMode, PostFilterResult
from quaymaster.status import Code, Status

__all__ = ["Again", "Algorithm", "Nominator", "PickNode", "Ties", "Verifier"]

PickNode: TypeAlias = Callable[[NodeTable, Ties], int]
"""Breaks ties: one of the given rows, which all have the highest total."""

_ALL = 100
_WORTH_RECALLING = 4
"""Memory is for attempts that look at one node in four, or more."""


class Again(Protocol):
    """An attempt made a second time, to see whether it ends the same way."""

    def check_ranking(self, ranked: Ranking | Status, /) -> None:
        """Compare the totals of the feasible nodes.

        Raises:
            VerificationError: They differ.
        """


class Verifier(Protocol):
    """Decides some pods a second time."""

    def again(
        self, pod: Pod, found: Feasible | Unfit, outdated: Iterable[str], /
    ) -> Again | None:
        """Compare which nodes are feasible, if it is this pod's turn.

        Args:
            pod: The pod.
            found: What was found.
            outdated: Where its signature is not what it would be now; not to be looked
                at in vain, since plugins are asked.

        Raises:
            VerificationError: They differ, or the signature does.
        """


class Algorithm:
    """Finds the node for a pod of one profile; changes nothing but the cycle state.

    Args:
        profile: The plugins.
        nodes: The columns of all nodes.
        nominator: The pods' nominations.
        order: The order of sampling.
        percentage: How many of the feasible nodes to find, at least.
        extenders: Those that have a say.
        remembers: Whether plugins that allow it are asked once for pods of a kind.
        verifier: Makes decisions a second time, to compare.

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
        extenders: Extenders = NO_EXTENDERS,
        *,
        remembers: bool = True,
        verifier: Verifier | None = None,
    ) -> None:
        self.pre_filter = PreFilterStation(profile.plan("preFilter"))
        self.filter = FilterStation(profile.plan("filter"), self.pre_filter)
        self.score = ScoreStation(profile.plan("preScore"), profile.plan("score"))
        self._score_of_answered = _scalar_score(profile) if extenders.filters else None
        self._post_filter = [
            (call.plugin, call.hooks["post_filter"])
            for call in profile.plan("postFilter")
        ]
        self._nodes = nodes
        self._nominator = nominator
        self._crowd = Crowd(nominator, nodes)
        self._order = order
        self._percentage = percentage
        self._extenders = extenders
        self._is_scored = bool(self.score) or extenders.prioritizes
        # Whoever comes first will do, unless somebody compares them.
        self._compares = self._is_scored or extenders.filters
        self._looks_at_all = self._compares and percentage >= _ALL
        self._memory = Memory(profile, nodes) if remembers else None
        self._verifier = verifier

    def schedule(
        self, state: CycleState, pod: Pod, pick_node: PickNode
    ) -> Decision | Unfit:
        """Find the best node for a pod, or say why there is none."""
        nodes = self._nodes
        size = len(nodes)
        if not size:
            status = Status.unresolvable("no nodes available to schedule pods")
            return Unfit(status, no_nodes=True)
        recalled = self._memory.recall(pod) if self._memory is not None else None
        found = self.find_feasible(state, pod, recalled)
        again = None
        if self._verifier is not None:
            outdated = self._memory.outdated(pod, recalled) if self._memory else ()
            again = self._verifier.again(pod, found, outdated)
        if isinstance(found, Unfit):
            self._order.advance(_processed(found), size)
            return self._post_filtered(state, pod, found)
        diagnosis, count = found.diagnosis, nodes.count(found.rows)
        evaluated = count + diagnosis.processed()
        if not found.via_nominated_node:
            filtered = diagnosis.filtered
            self._order.advance(evaluated if filtered is None else filtered, size)
        ranking = self.rank(state, pod, found, recalled)
        if again is not None:
            again.check_ranking(ranking)
        if isinstance(ranking, Status):
            return Unfit(ranking)
        info = self.nodes_of(found).infos[pick_node(nodes, ranking.best_rows())]
        assert info is not None
        if found.answered is not None:
            info = nodes.get(info.name) or info
        return Decision(info, count, evaluated)

    def find_feasible(
        self, state: CycleState, pod: Pod, recalled: Recalled | None = None
    ) -> Feasible | Unfit:
        """Run PreFilter and Filter; changes nothing but the cycle state.

        Args:
            state: The pod's scratch space.
            pod: The pod to schedule.
            recalled: What is remembered of the pod; without it, plugins are asked anew.
        """
        nodes, diagnosis = self._nodes, Diagnosis(self._nodes)
        outcome = self.pre_filter.run(state, pod, nodes, recalled)
        if outcome.restricting_plugins:
            diagnosis.pre_filter_plugins = outcome.restricting_plugins
        if outcome.status is not None:
            if not outcome.status.is_rejected:
                return Unfit(outcome.status)
            diagnosis.reject_all(outcome.status)
            return Unfit(Status.unschedulable(), diagnosis)
        if pod.status.nominated_node_name:
            nominated = self._on_nominated_node(state, pod, diagnosis)
            if nominated is not None:
                return nominated
        rows = nodes.rows
        if outcome.node_names is not None:
            rows = nodes.rows_of(outcome.node_names)
            listed = " ".join(sorted(outcome.restricting_plugins))
            diagnosis.absent = Status.unresolvable(
                f"node(s) didn't satisfy plugin(s) [{listed}]"
            )
        passed = self._filtered(state, pod, rows, diagnosis, recalled)
        if isinstance(passed, Status):
            return Unfit(passed)
        left = self._extended(pod, passed, diagnosis)
        if isinstance(left, Status):
            return Unfit(left)
        if nodes.count(left.passed) == 0:
            return Unfit(Status.unschedulable(), diagnosis)
        return Feasible(left.passed, diagnosis, answered=left.answered)

    def nodes_of(self, found: Feasible) -> NodeTable:
        """The nodes that feasible ones are scored as, which the rows are rows of."""
        return self._nodes if found.answered is None else found.answered

    def score_of(self, found: Feasible) -> ScoreStation:
        """What scores these nodes.

        Plugins are asked about nodes of extenders one by one: batch twins may rely on
        what they keep of the snapshot's nodes.
        """
        if found.answered is None or self._score_of_answered is None:
            return self.score
        return self._score_of_answered

    def rank(
        self,
        state: CycleState,
        pod: Pod,
        found: Feasible,
        recalled: Recalled | None = None,
    ) -> Ranking | Status:
        """Run PreScore and Score on the feasible nodes; a single one is not scored.

        Args:
            state: The pod's scratch space.
            pod: The pod to schedule.
            found: The feasible nodes.
            recalled: What is remembered of the pod; without it, plugins are asked anew.

        Returns:
            See `ScoreStation.rank`; or the Error that ends the attempt.
        """
        nodes, rows, station = self.nodes_of(found), found.rows, self.score_of(found)
        count = nodes.count(rows)
        if count == 1 or not self._is_scored:
            return Ranking(rows, np.zeros(count, dtype=np.int64))
        if found.answered is not None:
            recalled = None
        status = station.prepare(state, pod, nodes, rows, recalled)
        if status is not None:
            return status
        if not self._extenders.prioritizes:
            return station.rank(state, pod, nodes, rows, recalled)
        total = station.totals(state, pod, nodes, rows)
        if isinstance(total, Status):
            return total
        for scores in self.extender_scores(pod, found):
            total = total + scores.weighted
        return Ranking(rows, total)

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
                why = reasons_of(status)
                error = Status(Code.ERROR, why, plugin, status.error)
                return PostFilterResult(error)
            wanted = result.nominating
            if wanted is not None and wanted.mode is not NominatingMode.NOOP:
                nominating = wanted
            reasons.extend(status.reasons)
            rejector = rejector or plugin
        status = Status(Code.UNSCHEDULABLE, tuple(reasons), rejector)
        return PostFilterResult(status, nominating)

    def extender_scores(self, pod: Pod, found: Feasible) -> Sequence[PluginScores]:
        """What each extender that scores gave the feasible nodes."""
        nodes = self.nodes_of(found)
        return [
            PluginScores(scores.name, scores.weight, scores.raw, scores.normalized)
            for scores in self._extenders.scores(pod, nodes, found.rows)
        ]

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
            prefix = f'running PostFilter plugin "{plugin}"'
            answer = failed(prefix, plugin, raised(error))
        if answer is None:
            return PostFilterResult()
        if isinstance(answer, Status):
            return PostFilterResult(answer)
        expected = "PostFilterResult, Status or None"
        if isinstance(answer, PostFilterResult):
            wrong = _wrong_part(answer)
            if wrong is None:
                return answer
            answer, expected = wrong, "a PostFilterResult with valid parts"
        return PostFilterResult(unexpected(plugin, "post_filter", answer, expected))

    def _on_nominated_node(
        self, state: CycleState, pod: Pod, diagnosis: Diagnosis
    ) -> Feasible | None:
        """The pod's nominated node, if it fits there."""
        name = pod.status.nominated_node_name
        node = self._nodes.get(name)
        if node is None:
            return None
        status = self.filter.run_with_nominated_pods(
            state, pod, node, self._nominator.pods_on(name)
        )
        if status is not None:
            if status.is_rejected:
                diagnosis.reject(name, status)
            return None
        left = self._after_extenders(pod, self._nodes.rows_of([name]), diagnosis)
        if isinstance(left, Status) or self._nodes.count(left.passed) == 0:
            return None
        return Feasible(
            left.passed, diagnosis, via_nominated_node=True, answered=left.answered
        )

    def _extended(
        self, pod: Pod, rows: Rows, diagnosis: Diagnosis
    ) -> ExtenderVerdicts | Status:
        """Ask the extenders, if any, about the nodes that passed the plugins."""
        if not self._extenders:
            return ExtenderVerdicts(rows)
        before = self._nodes.count(rows)
        diagnosis.filtered = before + diagnosis.processed()
        left = self._after_extenders(pod, rows, diagnosis)
        if not isinstance(left, Status) and self._nodes.count(left.passed) != before:
            diagnosis.extender_plugins = frozenset({EXTENDER})
        return left

    def _after_extenders(
        self, pod: Pod, rows: Rows, diagnosis: Diagnosis
    ) -> ExtenderVerdicts | Status:
        verdicts = self._extenders.filter(pod, self._nodes, rows)
        if not isinstance(verdicts, Status):
            for name, status in verdicts.rejected.items():
                diagnosis.reject(name, status)
        return verdicts

    def _filtered(
        self,
        state: CycleState,
        pod: Pod,
        rows: Rows,
        diagnosis: Diagnosis,
        recalled: Recalled | None,
    ) -> Rows | Status:
        nodes = self._nodes
        if self._looks_at_all and rows is nodes.rows:
            return self._filter_rows(state, pod, rows, diagnosis, recalled)
        count = nodes.count(rows)
        wanted = nodes_to_find(self._percentage, count) if self._compares else 1
        if wanted >= count:
            if _WORTH_RECALLING * count < len(nodes):
                recalled = None
            return self._filter_rows(state, pod, rows, diagnosis, recalled)
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
            passed = self._filter_rows(state, pod, np.sort(part), diagnosis, None)
            if isinstance(passed, Status):
                return passed
            fits = np.isin(part, self._nodes.row_numbers(passed))
            enough = np.flatnonzero(fits)[: wanted - len(found)]
            found.extend(part[enough].tolist())
            looked += len(part)
        return np.array(sorted(found), dtype=np.intp)

    def _filter_rows(
        self,
        state: CycleState,
        pod: Pod,
        rows: Rows,
        diagnosis: Diagnosis,
        recalled: Recalled | None,
    ) -> Rows | Status:
        nodes, station = self._nodes, self.filter
        ahead = self._crowd.ahead(pod, rows)
        if not ahead:
            if recalled is None:
                return station.run_batch(state, pod, nodes, rows, diagnosis)
            return station.run_recalled(state, pod, nodes, rows, diagnosis, recalled)
        if recalled is not None and rows is nodes.rows:
            found = station.run_recalled_crowded(
                state, pod, nodes, ahead, diagnosis, recalled
            )
            if found is not None:
                return found
        passed = station.run_crowded(state, pod, nodes, ahead, diagnosis)
        if isinstance(passed, Status):
            return passed
        left: BoolArray = np.zeros(nodes.capacity, dtype=np.bool_)
        left[rows] = True
        left[list(ahead)] = False
        left[passed] = True
        rows = left.nonzero()[0]
        if recalled is None:
            return station.run_batch(state, pod, nodes, rows, diagnosis)
        return station.run_recalled(state, pod, nodes, rows, diagnosis, recalled)


def _scalar_score(profile: Profile) -> ScoreStation:
    """The Score station of a profile that calls no batch twin."""
    scalar = profile.without_twins()
    return ScoreStation(scalar.plan("preScore"), scalar.plan("score"))


def _wrong_part(result: PostFilterResult) -> object:
    """The part of a result that has not the type that it should have, or None."""
    status: object = result.status
    if status is not None and not isinstance(status, Status):
        return status
    nominating: object = result.nominating
    if nominating is not None and not isinstance(nominating, NominatingInfo):
        return nominating
    return None


def _processed(unfit: Unfit) -> int:
    """How many nodes an attempt went through, which moves the start of the next."""
    if unfit.diagnosis is None:
        return 0
    filtered = unfit.diagnosis.filtered
    return unfit.diagnosis.processed() if filtered is None else filtered
