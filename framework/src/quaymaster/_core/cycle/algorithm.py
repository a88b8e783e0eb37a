"""The scheduling algorithm: one pod against all nodes.

Mirrors ``schedulePod`` and ``findNodesThatFitPod`` (Kubernetes v1.36,
``pkg/scheduler/schedule_one.go``).
"""

import copy
from collections.abc import Callable, Sequence
from typing import Final, Protocol, TypeAlias

import attrs
import numpy as np

from quaymaster._api.objects import Pod
from quaymaster._core.config.model import RANDOM
from quaymaster._core.contract.cycle_state import CycleState
from quaymaster._core.contract.status import Status
from quaymaster._core.cycle.attempt import Attempt
from quaymaster._core.cycle.decisions import Decision, Feasible, FitError
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
from quaymaster._core.state.arrays import Rows
from quaymaster._core.state.node_info import NodeInfo
from quaymaster._core.state.node_table import NodeTable

__all__ = ["Algorithm", "Check", "Nominator", "PickNode", "Ties"]

PickNode: TypeAlias = Callable[[NodeTable, Ties], int]
"""Breaks ties: one of the given rows, which all have the highest total."""

_ALL: Final = 100


class Check(Protocol):
    """Sees the results of every attempt: feasible nodes, ranking, the chosen one."""

    def found(self, attempt: Attempt, found: Feasible | FitError, /) -> None:
        """See which nodes are feasible."""

    def ranked(self, ranking: Ranking | Status, /) -> None:
        """See how the feasible nodes of the same attempt were ranked."""

    def chosen(self, row: int, /) -> None:
        """See which of the best nodes of the same attempt was chosen."""


class Algorithm:
    """Finds the node for a pod of one profile; changes nothing but the cycle state.

    Args:
        profile: The plugins.
        nodes: The columns of all nodes.
        nominator: The pods' nominations.
        order: The order of sampling.
        percentage: How many of the feasible nodes to find, at least.
        extenders: Those that have a say.
        tie_breaker: Chooses among the best nodes; None leaves it to whoever schedules.

    Attributes:
        pre_filter: The PreFilter station.
        filter: The Filter station.
        post_filter: The PostFilter station.
        score: The PreScore and Score station.
        filters: Finds the feasible nodes; by default by asking `filter`.
        scores: Ranks them; by default `score`.
        tie_breaker: The same.
        ties_broken_by: Who breaks ties, in the words of a profile.
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
        # Whoever comes first will do, unless somebody compares them.
        self._compares = (
            self._is_scored or extenders.filters or self.ties_broken_by != RANDOM
        )
        self._looks_at_all = self._compares and percentage >= _ALL
        self._check: Check | None = None
        self._chosen: int | None = None

    @property
    def nodes(self) -> NodeTable:
        """The columns of all nodes."""
        return self._nodes

    @property
    def nominated(self) -> NominatedPods:
        """The nominated pods, for which other pods leave room."""
        return self._nominated

    def with_stations(self, filters: Filters, scores: Scores) -> "Algorithm":
        """Return the same algorithm with other stations that find and rank nodes."""
        other = copy.copy(self)
        other.filters, other.scores = filters, scores
        return other

    def checked_by(self, check: Check) -> "Algorithm":
        """Return the same algorithm with a check that sees what it finds."""
        other = copy.copy(self)
        other._check = check
        return other

    def choosing(self, row: int | None = None) -> "Algorithm":
        """Return the same algorithm, which looks at all nodes and scores none.

        Its check, if it has one, does not see how it ranks.

        Args:
            row: The row of the node that it takes, which has to be feasible. None if it
                is only asked which nodes are.
        """
        other = copy.copy(self)
        other._percentage = _ALL
        other._compares = other._looks_at_all = True
        other._chosen = row
        return other

    def schedule(
        self, state: CycleState, pod: Pod, pick_node: PickNode
    ) -> Decision | FitError:
        """Find the best node for a pod, or say why there is none."""
        nodes = self._nodes
        size = len(nodes)
        if not size:
            status = Status.unresolvable("no nodes available to schedule pods")
            return FitError(status, no_nodes=True)
        attempt = Attempt.begin(state, pod, nodes)
        found = self.find_feasible(attempt)
        if self._check is not None:
            self._check.found(attempt, found)
        if isinstance(found, FitError):
            self._order.advance(_processed(found), size)
            return self._post_filtered(attempt, found)
        count = found.count
        evaluated = count + found.diagnosis.processed()
        if not found.via_nominated_node:
            filtered = found.diagnosis.filtered
            self._order.advance(evaluated if filtered is None else filtered, size)
        ranking = self.rank(attempt, found)
        if self._check is not None and self._chosen is None:
            self._check.ranked(ranking)
        if isinstance(ranking, Status):
            return FitError(ranking)
        best = self.choose(attempt, found, ranking, pick_node)
        if isinstance(best, Status):
            return FitError(best)
        if self._check is not None:
            self._check.chosen(best)
        node = self._node(found, best)
        return Decision(node, count, evaluated, found.rows, found.diagnosis)

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
            return FitError(Status.unschedulable(), diagnosis)
        if attempt.pod.status.nominated_node_name:
            nominated = self._on_nominated_node(attempt)
            if nominated is not None:
                return nominated
        rows = attempt.rows
        if outcome.node_names is not None:
            rows = restricted_rows(attempt, outcome)
        passed = self._passing(attempt, rows)
        if isinstance(passed, Status):
            return FitError(passed)
        if self._asks_extenders:
            return self._extended(attempt, passed)
        count = self._nodes.count(passed)
        if count == 0:
            return FitError(Status.unschedulable(), diagnosis)
        return Feasible(passed, count, diagnosis)

    def judge(self, attempt: Attempt, rows: Rows) -> Rows | Status:
        """Run PreFilter and Filter on the given nodes only.

        Unlike in `find_feasible` each node is judged as it stands: there is no
        sampling, nominated pods are not there, and no extender is asked.

        Args:
            attempt: The attempt; its diagnosis takes the rejections.
            rows: The rows to judge.

        Returns:
            The rows that pass, ascending; or what PreFilter said against all of them,
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

    def rank(self, attempt: Attempt, found: Feasible) -> Ranking | Status:
        """Run PreScore and Score on the feasible nodes; a single one is not scored.

        Returns:
            See `Scores.ranking`.
        """
        if self._chosen is not None:
            chosen = np.array([self._chosen], dtype=np.intp)
            return Ranking(chosen, np.zeros(1, dtype=np.int64))
        nodes, rows, scores = self._nodes, found.rows, self.scores
        if found.answered is not None:
            nodes, scores = found.answered, self.score_of(found)
            attempt = attempt.on(nodes)
        count = found.count
        if count == 1 or not self._is_scored:
            return Ranking(rows, np.zeros(count, dtype=np.int64))
        status = scores.prepare(attempt, rows)
        if status is not None:
            return status
        ranking = scores.ranking(attempt, rows)
        if isinstance(ranking, Status) or not self._extenders.prioritizes:
            return ranking
        total = ranking.totals
        for extra in self.extender_scores(attempt.pod, found):
            total = total + extra.weighted
        return Ranking(rows, total)

    def choose(
        self, attempt: Attempt, found: Feasible, ranking: Ranking, pick_node: PickNode
    ) -> int | Status:
        """Return the row that the pod gets, or the Error of the tie breaker.

        Args:
            attempt: The attempt.
            found: The feasible nodes.
            ranking: How they were ranked.
            pick_node: Breaks ties unless the profile has a tie breaker.
        """
        best = ranking.best_rows()
        if self.tie_breaker is None:
            return pick_node(self.nodes_of(found), best)
        if len(best) == 1:
            return int(best[0])
        # A copy: a memo goes on with its own, and a plugin may keep what it gets.
        rows = np.array(best, dtype=np.intp)
        return self.tie_breaker.choose(attempt.on(self.nodes_of(found)), rows)

    def nodes_of(self, found: Feasible) -> NodeTable:
        """Return the table that the feasible rows are rows of."""
        return self._nodes if found.answered is None else found.answered

    def score_of(self, found: Feasible) -> ScoreStation:
        """Return the plain station that scores these nodes.

        Plugins are asked about nodes of extenders one by one: batch twins may rely on
        what they keep of the snapshot's nodes.
        """
        if found.answered is None or self._score_of_answered is None:
            return self.score
        return self._score_of_answered

    def extender_scores(self, pod: Pod, found: Feasible) -> Sequence[PluginScores]:
        """Ask each extender that scores about the feasible nodes."""
        return self._extenders.scores(pod, self.nodes_of(found), found.rows)

    def _extended(self, attempt: Attempt, rows: Rows) -> Feasible | FitError:
        """Ask the extenders about the nodes that passed the plugins."""
        diagnosis = attempt.diagnosis
        left = self._extenders.passing(attempt.pod, rows, diagnosis)
        if isinstance(left, Status):
            return FitError(left)
        count = self._nodes.count(left.passed)
        if count == 0:
            return FitError(Status.unschedulable(), diagnosis)
        return Feasible(left.passed, count, diagnosis, answered=left.answered)

    def _post_filtered(self, attempt: Attempt, no_fit: FitError) -> FitError:
        diagnosis = no_fit.diagnosis
        if diagnosis is None or not self.post_filter:
            return no_fit
        result = self.post_filter.run(attempt.state, attempt.pod, diagnosis)
        status = result.status
        diagnosis.post_filter_message = status.message if status else result.message
        return attrs.evolve(no_fit, nominating=result.nominating, post_filter=result)

    def _on_nominated_node(self, attempt: Attempt) -> Feasible | None:
        """Try the pod's own nominated node; None if it does not fit there.

        Mirrors ``evaluateNominatedNode``.
        """
        pod, diagnosis = attempt.pod, attempt.diagnosis
        name = pod.status.nominated_node_name
        node = self._nodes.get(name)
        if node is None:
            return None
        status = self.filter.run_with_nominated_pods(
            attempt.state, pod, node, self._nominated.on(name)
        )
        if status is not None:
            if status.is_rejected:
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
        """Filter all rows, or until there are as many feasible ones as are wanted."""
        nodes = self._nodes
        # Identity: a short cut for most pods. What follows comes to the same.
        if self._looks_at_all and rows is attempt.rows:
            return self.filters.passing(attempt, rows)
        count = nodes.count(rows)
        wanted = nodes_to_find(self._percentage, count) if self._compares else 1
        if wanted >= count:
            return self.filters.passing(attempt, rows)
        attempt.is_sampled = True
        return sample(self.filters, attempt, self._order.rotated(nodes), rows, wanted)

    def _node(self, found: Feasible, row: int) -> NodeInfo:
        """Return the node of a feasible row, if possible as the snapshot has it."""
        nodes = self._nodes if found.answered is None else found.answered
        info = nodes.infos[row]
        assert info is not None, "only rows with nodes are feasible"
        if found.answered is None:
            return info
        return self._nodes.get(info.name) or info


def _scalar_score(profile: Profile) -> ScoreStation:
    """Build the Score station of a profile without its batch twins."""
    scalar = profile.without_twins()
    return ScoreStation(scalar.plan("preScore"), scalar.plan("score"))


def _processed(no_fit: FitError) -> int:
    """Count the nodes that an attempt tried; the next sample begins after them."""
    if no_fit.diagnosis is None:
        return 0
    filtered = no_fit.diagnosis.filtered
    return no_fit.diagnosis.processed() if filtered is None else filtered
