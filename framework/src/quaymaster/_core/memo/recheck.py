"""The recheck: repeats decisions with scalar hooks and no memo, and compares them."""

from collections.abc import Iterator, Sequence

import numpy as np

from quaymaster._base.errors import VerificationError
from quaymaster._core.contract.cycle_state import CycleState
from quaymaster._core.contract.status import Status
from quaymaster._core.cycle.algorithm import Algorithm
from quaymaster._core.cycle.attempt import Attempt
from quaymaster._core.cycle.decisions import Feasible, FitError
from quaymaster._core.cycle.diagnosis import Diagnosis
from quaymaster._core.cycle.scoring import Ranking
from quaymaster._core.memo.signatures import Signatures
from quaymaster._core.state.arrays import RowArray
from quaymaster._core.state.node_table import NodeTable

__all__ = ["Recheck"]

_MISSING = Status.unschedulable("an extender made it up")


class Recheck:
    """Makes every Nth decision again, and compares; implements `Check`.

    An attempt is not compared if a plugin reports during it that its external data have
    changed: both answers may be right.

    Args:
        slow: The same algorithm with scalar hooks only, and without a memo.
        every: N.
        signatures: The memos of the fast algorithm; None if it has no memo.
    """

    def __init__(
        self, slow: Algorithm, every: int, signatures: Signatures | None = None
    ) -> None:
        self._slow = slow
        self._every = every
        self._signatures = signatures
        self._seen = 0
        self._again: tuple[Attempt, Feasible] | None = None
        self._best: tuple[Attempt, RowArray] | None = None

    def filtered(self, attempt: Attempt, outcome: Feasible | FitError) -> None:
        """Compare the signature, the feasible nodes, and why the others were rejected.

        Raises:
            VerificationError: They differ.
        """
        self._again = self._best = None
        self._seen += 1
        if self._seen % self._every:
            return
        pod, nodes = attempt.pod, attempt.nodes
        changed = list(self._signatures.outdated(attempt)) if self._signatures else ()
        if self._is_outdated():
            return
        if changed:
            what = "its cached signature is out of date"
            raise VerificationError(pod.key, changed, what)
        state = CycleState(group=attempt.state.group)
        again = Attempt.within(state, pod, nodes, attempt.placement)
        expected = self._slow.find_feasible(again)
        differences = list(_differences(nodes, outcome, expected))
        if self._is_outdated():
            return
        if differences:
            raise VerificationError(pod.key, differences)
        if isinstance(expected, Feasible):
            self._again = again, expected

    def ranked(self, ranking: Ranking | Status) -> None:
        """Compare the differences between the totals of nodes, and the best nodes.

        Raises:
            VerificationError: They differ.
        """
        if self._again is None:
            return
        again, feasible = self._again
        expected = self._slow.rank(again, feasible)
        differences = list(
            _all_ranking_differences(self._slow.nodes_of(feasible), ranking, expected)
        )
        if differences and not self._is_outdated():
            raise VerificationError(again.pod.key, differences)
        if isinstance(expected, Ranking):
            nodes = self._slow.nodes_of(feasible)
            self._best = again.on(nodes), _best_rows(expected)

    def chosen(self, row: int) -> None:
        """Compare the chosen node, if the slow algorithm has a tie breaker.

        Raises:
            VerificationError: They differ.
        """
        tie_breaker = self._slow.tie_breaker
        if self._best is None or tie_breaker is None:
            return
        again, best = self._best
        expected = tie_breaker.choose(again, best)
        if expected != row:
            names = again.nodes.names_at(np.array([row, expected], dtype=np.intp))
            text = f"{names[0]} was chosen of the best, expected {names[1]}"
            raise VerificationError(again.pod.key, [text])

    def _is_outdated(self) -> bool:
        """Whether a plugin's external data have changed since the attempt began."""
        return self._signatures is not None and self._signatures.is_outdated


def _all_ranking_differences(
    nodes: NodeTable, ranked: Ranking | Status, expected: Ranking | Status
) -> Sequence[str]:
    if isinstance(ranked, Status) or isinstance(expected, Status):
        if _shown(ranked) == _shown(expected):
            return ()
        return (f"it ended as {_shown(ranked)}, expected {_shown(expected)}",)
    totals = tuple(_ranking_differences(nodes, ranked, expected))
    return totals or tuple(_best_difference(nodes, ranked, expected))


def _ranking_differences(
    nodes: NodeTable, ranked: Ranking, expected: Ranking
) -> Iterator[str]:
    rows = nodes.row_numbers(ranked.rows)
    totals, right_totals = ranked.totals, expected.totals
    if not np.array_equal(rows, nodes.row_numbers(expected.rows)):
        yield "the scored nodes are not the feasible ones"
        return
    names = nodes.names_at(rows)
    gaps = totals - right_totals
    for index in np.flatnonzero(gaps != gaps[0]).tolist():
        yield (
            f"{names[index]} scores {totals[index] - totals[0]:+d} against {names[0]}, "
            f"expected {right_totals[index] - right_totals[0]:+d}"
        )


def _best_difference(
    nodes: NodeTable, ranked: Ranking, expected: Ranking
) -> Iterator[str]:
    """Compare the best rows, which are cached separately from the totals."""
    best, right_best = _best_rows(ranked), _best_rows(expected)
    if not np.array_equal(best, right_best):
        names = [
            " ".join(nodes.names_at(rows)) or "none" for rows in (best, right_best)
        ]
        yield f"the best of them are {names[0]}, expected {names[1]}"


def _best_rows(ranking: Ranking) -> RowArray:
    return np.array(ranking.best_rows(), dtype=np.intp)


def _differences(
    nodes: NodeTable, fast: Feasible | FitError, slow: Feasible | FitError
) -> Iterator[str]:
    verdicts, expected = _verdicts(nodes, fast), _verdicts(nodes, slow)
    if isinstance(verdicts, Status) or isinstance(expected, Status):
        if _shown(verdicts) != _shown(expected):
            yield f"it ended as {_shown(verdicts)}, expected {_shown(expected)}"
        return
    for name, right_verdict in expected.items():
        verdict = verdicts.get(name, _MISSING)
        if verdict != right_verdict:
            yield f"{name}: {_shown(verdict)}, expected {_shown(right_verdict)}"


def _verdicts(
    nodes: NodeTable, outcome: Feasible | FitError
) -> dict[str, Status | None] | Status:
    """Map each node to its verdict, None if it is feasible; or return the Error."""
    diagnosis: Diagnosis | None = outcome.diagnosis
    if diagnosis is None:
        assert isinstance(outcome, FitError)
        return outcome.status
    verdicts: dict[str, Status | None] = {
        info.name: diagnosis[info.name] for info in nodes
    }
    if isinstance(outcome, Feasible):
        feasible = nodes if outcome.answered is None else outcome.answered
        verdicts.update(dict.fromkeys(feasible.names_at(outcome.rows)))
    return verdicts


def _shown(verdict: object) -> str:
    if verdict is None:
        return "feasible"
    if isinstance(verdict, Status):
        return f"{verdict.code.name} {verdict.message!r} of {verdict.plugin or 'none'}"
    return "a decision"
