"""The scheduling algorithm: filters and scores all nodes for a pod.

Mirrors ``schedulePod`` and ``findNodesThatFitPod`` (Kubernetes v1.36,
``pkg/scheduler/schedule_one.go``).
"""

import copy
from collections.abc import Callable, Sequence
from typing import Final, Protocol, TypeAlias

import numpy as np
from msgspec.structs import replace

from quaymaster._api.objects import Pod
from quaymaster._core.config.model import RANDOM
from quaymaster._core.contract.cycle_state import CycleState
from quaymaster._core.contract.results import PostFilterResult
from quaymaster._core.contract.status import Status
from quaymaster._core.cycle.attempt import Attempt
from quaymaster._core.cycle.decisions import Decision, Feasible, FitError, Unfit
from quaymaster._core.cycle.extending import ExtenderStation
from quaymaster._core.cycle.filtering import Filters, FilterStation, PlainFilters
from quaymaster._core.cycle.nominated import NominatedPods, Nominator
from quaymaster._core.cycle.post_filter import PostFilterStation
from quaymaster._core.cycle.pre_filter import PreFilterStation, restricted_rows
from quaymaster._core.cycle.sampling import NodeOrder, nodes_to_find, sample
from quaymaster._core.cycle.score_call import PluginScores
from quaymaster._core.cycle.scoring import Ranking, Scores, ScoreStation, Ties
from quaymaster._core.cycle.ties import TieBreaker
from quaymaster._core.extenders.chain import NO_EXTENDERS, Extenders
from quaymaster._core.runtime.profile import Profile
from quaymaster._core.state.arrays import RowArray, Rows
from quaymaster._core.state.node_info import NodeInfo
from quaymaster._core.state.node_table import NodeTable

__all__ = ["Algorithm", "Check", "Nominator", "PickNode", "Ties"]

PickNode: TypeAlias = Callable[[NodeTable, Ties], int]
"""Breaks ties: returns one of some rows, which all have the highest total."""

_ALL: Final = 100
_NO_FIT: Final = Status.unschedulable()


class Check(Protocol):
    """Checks the results of every attempt: feasible nodes, ranking, the chosen node."""

    def filtered(self, attempt: Attempt, outcome: Feasible | FitError, /) -> None:
        """Check which nodes are feasible."""

    def ranked(self, ranking: Ranking | Status, /) -> None:
        """Check the ranking of the feasible nodes of the same attempt."""

    def chosen(self, row: int, /) -> None:
        """Check which of the best nodes of the same attempt was chosen."""


class Algorithm:
    """Finds the node for a pod of one profile; changes nothing but the cycle state.

    Args:
        profile: The plugins.
        nodes: The columns of all nodes.
        nominator: The pods' nominations.
        order: The order of sampling.
        percentage: ``percentageOfNodesToScore``: how many nodes to find, in percent.
        extenders: The extenders of the configuration.
        tie_breaker: Chooses among the best nodes; if None, the caller's `pick_node`
            chooses.

    Attributes:
        pre_filter: The PreFilter station.
        filter: The Filter station.
        post_filter: The PostFilter station.
        score: The PreScore and Score station.
        filters: Finds the feasible nodes; by default it runs `filter`.
        scores: Ranks the feasible nodes; by default `score`.
        tie_breaker: Chooses among the best nodes, or None.
        ties_broken_by: The ``tieBreaker`` of the profile.
    """

    def __init__(
        self,
        profile: Profile,
        nodes: NodeTable,
        nominator: Nominator,
        order: NodeOrder,
        percentage: int,
        extenders: Extenders = NO_EXTENDERS,
        tie_breaker: TieBreaker | None = None,
    ) -> None:
        self.tie_breaker = tie_breaker
        self.ties_broken_by = profile.config.tie_breaker
        self.pre_filter = PreFilterStation(profile.plan("preFilter"))
        self.filter = FilterStation(profile.plan("filter"), self.pre_filter)
        self.post_filter = PostFilterStation(profile.plan("postFilter"))
        self.score = ScoreStation(profile.plan("preScore"), profile.plan("score"))
        self._nominated = NominatedPods(nominator, nodes)
        self.filters: Filters = PlainFilters(self.filter, self._nominated)
        self.scores: Scores = self.score
        self._score_of_answered = _scalar_score(profile) if extenders.filters else None
        self._nodes = nodes
        self._order = order
        self._percentage = percentage
        self._extenders = ExtenderStation(extenders, nodes)
        self._asks_extenders = bool(extenders)
        self._is_scored = bool(self.score) or extenders.prioritizes
        # If nothing compares the nodes, the first feasible node is enough.
        self._compares = (
            self._is_scored or extenders.filters or self.ties_broken_by != RANDOM
        )
        self._looks_at_all = self._compares and percentage >= _ALL
        self._keeps_unfit = self._looks_at_all and not extenders
        self._check: Check | None = None
        self._chosen: int | None = None
        self._placement: RowArray | None = None

    def __copy__(self) -> "Algorithm":
        # A copy is made for each placement of a group; the usual way takes 4 us.
        other = Algorithm.__new__(Algorithm)
        other.__dict__.update(self.__dict__)
        return other

    @property
    def nodes(self) -> NodeTable:
        """The columns of all nodes."""
        return self._nodes

    @property
    def nominated(self) -> NominatedPods:
        """The nominated pods for which other pods leave room."""
        return self._nominated

    def with_stations(self, filters: Filters, scores: Scores) -> "Algorithm":
        """Return the same algorithm with other stations that find and rank nodes."""
        other = copy.copy(self)
        # A shallow copy shares the sampling order and nominations with the original.
        other.filters, other.scores = filters, scores
        return other

    def checked_by(self, check: Check) -> "Algorithm":
        """Return the same algorithm with a check of its results."""
        other = copy.copy(self)
        other._check = check
        return other

    def without_post_filter(self) -> "Algorithm":
        """Return the same algorithm, which calls no PostFilter plugin.

        The pods of a group are placed by it: PodGroupPostFilter comes after all of
        them.
        """
        other = copy.copy(self)
        other.post_filter = PostFilterStation(())
        return other

    def within(self, placement: RowArray) -> "Algorithm":
        """Return the same algorithm, restricted to some nodes.

        Mirrors ``AssumePlacement`` (Kubernetes v1.37,
        ``pkg/scheduler/backend/cache/snapshot.go``): plugins still see all nodes.

        Args:
            placement: The rows of the nodes, ascending.
        """
        other = copy.copy(self)
        other._placement = placement
        return other

    def choosing(self, row: int | None = None) -> "Algorithm":
        """Return the same algorithm, which filters all nodes and scores none.

        Its check, if any, does not check the ranking.

        Args:
            row: The row of the node to choose, which has to be feasible. None if only
                the feasible nodes are needed.
        """
        other = copy.copy(self)
        other._percentage = _ALL
        other._compares = other._looks_at_all = True
        other._chosen = row
        return other

    def schedule(
        self, state: CycleState, pod: Pod, pick_node: PickNode
    ) -> Decision | FitError:
        """Return the best node for a pod, or the reasons why there is none."""
        nodes, placement = self._nodes, self._placement
        size = len(nodes) if placement is None else len(placement)
        if not size:
            status = Status.unresolvable("no nodes available to schedule pods")
            return FitError(status, no_nodes=True)
        attempt = Attempt.within(state, pod, nodes, placement)
        # Mostly each pod finds a node at once: then no call is added.
        before = self._known_unfit(attempt) if self.filters.has_unfit else None
        feasible = self.find_feasible(attempt) if before is None else before.outcome
        if self._check is not None:
            self._check.filtered(attempt, feasible)
        if isinstance(feasible, FitError):
            return self._unfit(attempt, feasible, before, size)
        count = feasible.count
        evaluated = count + feasible.diagnosis.processed()
        # Upstream returns the nominated node before it moves its start index.
        if not feasible.via_nominated_node:
            filtered = feasible.diagnosis.filtered
            self._order.advance(evaluated if filtered is None else filtered, size)
        ranking = self.rank(attempt, feasible)
        if self._check is not None and self._chosen is None:
            self._check.ranked(ranking)
        if isinstance(ranking, Status):
            return FitError(ranking)
        best = self.choose(attempt, feasible, ranking, pick_node)
        if isinstance(best, Status):
            return FitError(best)
        if self._check is not None:
            self._check.chosen(best)
        node = self._node(feasible, best)
        return Decision(node, count, evaluated, feasible.rows, feasible.diagnosis)

    def find_feasible(self, attempt: Attempt) -> Feasible | FitError:
        """Run PreFilter, Filter and the extenders that filter."""
        diagnosis = attempt.diagnosis
        outcome = self.filters.prepare(attempt)
        if outcome.restricting_plugins:
            diagnosis.pre_filter_plugins = outcome.restricting_plugins
        if outcome.status is not None:
            if not outcome.status.is_rejected:
                return FitError(outcome.status)
            diagnosis.reject_all(outcome.status)
            return FitError(_NO_FIT, diagnosis)
        # Preemption has probably made room there, so that node is tried first and
        # alone.
        if attempt.pod.status.nominated_node_name:
            nominated = self._on_nominated_node(attempt)
            if nominated is not None:
                return nominated
        rows = attempt.rows if attempt.placement is None else attempt.placement
        if outcome.node_names is not None:
            rows = restricted_rows(attempt, outcome)
        passed = self._passing(attempt, rows)
        if isinstance(passed, Status):
            return FitError(passed)
        if self._asks_extenders:
            return self._extended(attempt, passed)
        count = self._nodes.count(passed)
        if count == 0:
            return FitError(_NO_FIT, diagnosis)
        return Feasible(passed, count, diagnosis)

    def judge(self, attempt: Attempt, rows: Rows) -> Rows | Status:
        """Run PreFilter and Filter on some nodes only.

        Unlike `find_feasible`, it does not sample, does not imagine nominated pods, and
        does not call extenders.

        Args:
            attempt: The attempt; rejections are added to its diagnosis.
            rows: The rows to judge.

        Returns:
            The rows that pass, ascending; or the rejection of all nodes by PreFilter,
            or the Error of a plugin.
        """
        outcome = self.pre_filter.run(attempt)
        if outcome.status is not None:
            return outcome.status
        if outcome.node_names is not None:
            allowed = restricted_rows(attempt, outcome)
            number = self._nodes.row_numbers
            rows = np.intersect1d(number(rows), number(allowed))
        return self.filter.run_on_rows(attempt, rows)

    def rank(self, attempt: Attempt, feasible: Feasible) -> Ranking | Status:
        """Run PreScore and Score on the feasible nodes; a single one is not scored.

        Returns:
            See `Scores.ranking`.
        """
        if self._chosen is not None:
            chosen = np.array([self._chosen], dtype=np.intp)
            return Ranking(chosen, np.zeros(1, dtype=np.int64))
        nodes, rows, scores = self._nodes, feasible.rows, self.scores
        if feasible.answered is not None:
            nodes, scores = feasible.answered, self.score_of(feasible)
            attempt = attempt.on(nodes)
        count = feasible.count
        # As ``schedulePod``: the only feasible node is taken without PreScore and
        # Score.
        if count == 1 or not self._is_scored:
            return Ranking(rows, np.zeros(count, dtype=np.int64))
        status = scores.prepare(attempt, rows)
        if status is not None:
            return status
        ranking = scores.ranking(attempt, rows)
        if isinstance(ranking, Status) or not self._extenders.prioritizes:
            return ranking
        total = ranking.totals
        for extra in self.extender_scores(attempt.pod, feasible):
            total = total + extra.weighted
        return Ranking(rows, total)

    def choose(
        self,
        attempt: Attempt,
        feasible: Feasible,
        ranking: Ranking,
        pick_node: PickNode,
    ) -> int | Status:
        """Return the row of the chosen node, or the Error of the tie breaker.

        Args:
            attempt: The attempt.
            feasible: The feasible nodes.
            ranking: The ranking of these nodes.
            pick_node: Breaks ties unless the profile has a tie breaker.
        """
        best = ranking.best_rows()
        if self.tie_breaker is None:
            return pick_node(self.nodes_of(feasible), best)
        if len(best) == 1:
            return int(best[0])
        # A copy: a memo changes its own array later, and a plugin may keep the rows.
        rows = np.array(best, dtype=np.intp)
        return self.tie_breaker.choose(attempt.on(self.nodes_of(feasible)), rows)

    def nodes_of(self, feasible: Feasible) -> NodeTable:
        """Return the node table of the feasible rows."""
        return self._nodes if feasible.answered is None else feasible.answered

    def score_of(self, feasible: Feasible) -> ScoreStation:
        """Return the plain station that scores these nodes.

        Nodes from extenders are scored one by one, because batch twins may use data
        that they keep about the snapshot's nodes.
        """
        if feasible.answered is None or self._score_of_answered is None:
            return self.score
        return self._score_of_answered

    def extender_scores(self, pod: Pod, feasible: Feasible) -> Sequence[PluginScores]:
        """Return the scores of each extender that scores the feasible nodes."""
        return self._extenders.scores(pod, self.nodes_of(feasible), feasible.rows)

    def _extended(self, attempt: Attempt, rows: Rows) -> Feasible | FitError:
        """Filter the nodes that passed the plugins by the extenders."""
        diagnosis = attempt.diagnosis
        left = self._extenders.passing(attempt.pod, rows, diagnosis)
        if isinstance(left, Status):
            return FitError(left)
        count = self._nodes.count(left.passed)
        if count == 0:
            return FitError(_NO_FIT, diagnosis)
        return Feasible(left.passed, count, diagnosis, answered=left.answered)

    def _known_unfit(self, attempt: Attempt) -> Unfit | None:
        """Return how an equal attempt has failed, if nothing has changed since."""
        if not self._keeps_outcome_of(attempt):
            return None
        return self.filters.known_unfit(attempt)

    def _unfit(
        self, attempt: Attempt, no_fit: FitError, before: Unfit | None, size: int
    ) -> FitError:
        """End an attempt that found no node.

        Args:
            attempt: The attempt.
            no_fit: Why it found none.
            before: How an equal attempt has failed, or None.
            size: The number of nodes to which the attempt is restricted.
        """
        if before is None:
            processed = _processed(no_fit)
            if self._keeps_outcome_of(attempt):
                before = self.filters.unfit(attempt, no_fit)
                before.processed = processed
                before.answers.clear()
        else:
            processed = before.processed
        # Also after a failure, so that every node gets its turn: upstream's
        # ``nextStartNodeIndex`` in ``findNodesThatFitPod``.
        self._order.advance(processed, size)
        if before is None:
            return self._post_filtered(attempt, no_fit, [])
        # Plugins are called in any case where decisions are verified.
        answers = before.answers if self._check is None else []
        outcome = self._post_filtered(attempt, before.outcome, answers)
        before.outcome = outcome
        return outcome

    def _keeps_outcome_of(self, attempt: Attempt) -> bool:
        """Whether equal attempts look at all nodes, in the same way."""
        return (
            self._keeps_unfit
            and attempt.placement is None
            and not attempt.pod.status.nominated_node_name
        )

    def _post_filtered(
        self, attempt: Attempt, no_fit: FitError, answers: list[PostFilterResult]
    ) -> FitError:
        """Return the outcome with the result of PostFilter.

        Args:
            attempt: The attempt.
            no_fit: The outcome.
            answers: See `PostFilterStation.run`.
        """
        diagnosis = no_fit.diagnosis
        if diagnosis is None or not self.post_filter:
            return no_fit
        result = self.post_filter.run(attempt.state, attempt.pod, diagnosis, answers)
        # Identity: an equal attempt has ended with the same result.
        if result is no_fit.post_filter:
            return no_fit
        status = result.status
        diagnosis.post_filter_message = status.message if status else result.message
        return replace(no_fit, nominating=result.nominating, post_filter=result)

    def _on_nominated_node(self, attempt: Attempt) -> Feasible | None:
        """Try the pod's own nominated node; None if it does not fit there.

        Mirrors ``evaluateNominatedNode``.
        """
        pod, diagnosis = attempt.pod, attempt.diagnosis
        name = pod.status.nominated_node_name
        node = self._nodes.get(name)
        # The node was deleted since, or it is not in the placement. Upstream logs that,
        # and tries the other nodes.
        if node is None or not attempt.includes(node.row):
            return None
        status = self.filter.run_with_nominated_pods(
            attempt.state, pod, node, self._nominated.on(name)
        )
        if status is not None:
            if status.is_rejected:
                # As upstream, the verdict stays in the diagnosis that the other nodes
                # share.
                diagnosis.reject(name, status)
            return None
        left = self._extenders.judge(pod, self._nodes.rows_of([name]), diagnosis)
        count = 0 if isinstance(left, Status) else self._nodes.count(left.passed)
        if isinstance(left, Status) or count == 0:
            return None
        return Feasible(
            left.passed,
            count,
            diagnosis,
            via_nominated_node=True,
            answered=left.answered,
        )

    def _passing(self, attempt: Attempt, rows: Rows) -> Rows | Status:
        """Filter all rows, or until enough feasible ones are found."""
        nodes = self._nodes
        # Identity: a short cut for most pods; the rest would give the same result.
        if self._looks_at_all and rows is attempt.rows:
            return self.filters.passing(attempt, rows)
        count = nodes.count(rows)
        target = nodes_to_find(self._percentage, count) if self._compares else 1
        if target >= count:
            return self.filters.passing(attempt, rows)
        attempt.is_sampled = True
        order = self._order.rotated(nodes, attempt.placement)
        return sample(self.filters, attempt, order, rows, target)

    def _node(self, feasible: Feasible, row: int) -> NodeInfo:
        """Return the node of a feasible row, from the snapshot if it has the node."""
        nodes = self._nodes if feasible.answered is None else feasible.answered
        info = nodes.infos[row]
        assert info is not None, "only rows with nodes are feasible"
        if feasible.answered is None:
            return info
        # An extender may answer with its own version of the node: the snapshot's node
        # is the one that counts.
        return self._nodes.get(info.name) or info


def _scalar_score(profile: Profile) -> ScoreStation:
    """Build the Score station of a profile without its batch twins."""
    scalar = profile.without_twins()
    return ScoreStation(scalar.plan("preScore"), scalar.plan("score"))


def _processed(no_fit: FitError) -> int:
    """Count the nodes that an attempt tried; the next sample starts after them."""
    if no_fit.diagnosis is None:
        return 0
    filtered = no_fit.diagnosis.filtered
    return no_fit.diagnosis.processed() if filtered is None else filtered
