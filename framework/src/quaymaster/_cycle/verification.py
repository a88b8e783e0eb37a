"""Decisions made a second time, the slow way: whatever is fast must not change one."""

from collections.abc import Iterable, Iterator

import numpy as np

from quaymaster._cycle.algorithm import Algorithm
from quaymaster._cycle.decisions import Feasible, Unfit
from quaymaster._cycle.diagnosis import Diagnosis
from quaymaster._cycle.scoring import Ranking
from quaymaster.cycle_state import CycleState
from quaymaster.errors import VerificationError
from quaymaster.node_table import NodeTable
from quaymaster.objects import Pod
from quaymaster.status import Status

__all__ = ["SlowVerifier"]

_MISSING = Status.unschedulable("an extender made it up")


class SlowVerifier:
    """Decides every Nth pod again with scalar hooks alone, and nothing remembered.

    Args:
        slow: Decides the slow way.
        nodes: The columns of all nodes.
        every: How many pods make a turn.
    """

    def __init__(self, slow: Algorithm, nodes: NodeTable, every: int) -> None:
        self._slow = slow
        self._nodes = nodes
        self._every = every
        self._seen = 0

    def again(
        self, pod: Pod, found: Feasible | Unfit, outdated: Iterable[str]
    ) -> "SlowAgain | None":
        """Compare signatures, which nodes are feasible, and why others are not."""
        self._seen += 1
        if self._seen % self._every:
            return None
        changed = list(outdated)
        if changed:
            what = "what is remembered of it does not hold"
            raise VerificationError(pod.key, changed, what)
        again = SlowAgain(self._slow, self._nodes, pod)
        again.check_feasible(found)
        return again


class SlowAgain:
    """One pod, decided again; see `SlowVerifier`."""

    def __init__(self, slow: Algorithm, nodes: NodeTable, pod: Pod) -> None:
        self._slow = slow
        self._nodes = nodes
        self._pod = pod
        self._state = CycleState()
        self._found = slow.find_feasible(self._state, pod)

    def check_feasible(self, found: Feasible | Unfit) -> None:
        """Compare the verdicts on all nodes.

        Raises:
            VerificationError: They differ.
        """
        differences = list(_differences(self._nodes, found, self._found))
        if differences:
            raise VerificationError(self._pod.key, differences)

    def check_ranking(self, ranked: Ranking | Status) -> None:
        """Compare the totals, up to what all nodes have in common, and who is best.

        Raises:
            VerificationError: They differ.
        """
        assert isinstance(self._found, Feasible), "it was compared before"
        expected = self._slow.rank(self._state, self._pod, self._found)
        if isinstance(ranked, Status) or isinstance(expected, Status):
            if _shown(ranked) != _shown(expected):
                text = f"it ended as {_shown(ranked)}, expected {_shown(expected)}"
                raise VerificationError(self._pod.key, [text])
            return
        nodes = self._slow.nodes_of(self._found)
        differences = list(_ranking_differences(nodes, ranked, expected))
        differences = differences or list(_best_difference(nodes, ranked, expected))
        if differences:
            raise VerificationError(self._pod.key, differences)


def _ranking_differences(
    nodes: NodeTable, ranked: Ranking, expected: Ranking
) -> Iterator[str]:
    rows = nodes.row_numbers(ranked.rows)
    found, wanted = ranked.totals, expected.totals
    if not np.array_equal(rows, nodes.row_numbers(expected.rows)):
        yield "other nodes were scored than are feasible"
        return
    names = nodes.names_at(rows)
    gaps = found - wanted
    for index in np.flatnonzero(gaps != gaps[0]).tolist():
        yield (
            f"{names[index]} scores {found[index] - found[0]:+d} against {names[0]}, "
            f"expected {wanted[index] - wanted[0]:+d}"
        )


def _best_difference(
    nodes: NodeTable, ranked: Ranking, expected: Ranking
) -> Iterator[str]:
    """Where the best rows are not found by their totals, they are remembered, too."""
    found, wanted = (
        np.array(one.best_rows(), dtype=np.intp) for one in (ranked, expected)
    )
    if not np.array_equal(found, wanted):
        names = [" ".join(nodes.names_at(rows)) or "none" for rows in (found, wanted)]
        yield f"the best of them are {names[0]}, expected {names[1]}"


def _differences(
    nodes: NodeTable, fast: Feasible | Unfit, slow: Feasible | Unfit
) -> Iterator[str]:
    mine, wanted = _verdicts(nodes, fast), _verdicts(nodes, slow)
    if isinstance(mine, Status) or isinstance(wanted, Status):
        if _shown(mine) != _shown(wanted):
            yield f"it ended as {_shown(mine)}, expected {_shown(wanted)}"
        return
    for name, status in wanted.items():
        found = mine.get(name, _MISSING)
        if found != status:
            yield f"{name}: {_shown(found)}, expected {_shown(status)}"


def _verdicts(
    nodes: NodeTable, found: Feasible | Unfit
) -> dict[str, Status | None] | Status:
    """Each node's verdict, None if it is feasible; or the Error."""
    diagnosis: Diagnosis | None = found.diagnosis
    if diagnosis is None:
        assert isinstance(found, Unfit)
        return found.status
    verdicts: dict[str, Status | None] = {
        info.name: diagnosis[info.name] for info in nodes
    }
    if isinstance(found, Feasible):
        feasible = nodes if found.answered is None else found.answered
        verdicts.update(dict.fromkeys(feasible.names_at(found.rows)))
    return verdicts


def _shown(verdict: object) -> str:
    if verdict is None:
        return "feasible"
    if isinstance(verdict, Status):
        return f"{verdict.code.name} {verdict.message!r} of {verdict.plugin or 'none'}"
    return "a decision"
