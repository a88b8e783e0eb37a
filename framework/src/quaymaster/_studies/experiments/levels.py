"""Follows named numbers in the course of a run."""

from collections.abc import Callable, Mapping, Sequence
from typing import TypeAlias

from quaymaster._core.state.node_table import NodeTable
from quaymaster._studies.experiments.metrics import Curve, Measured
from quaymaster._studies.simulation.driven import Run

__all__ = ["Levels", "Reading"]

Reading: TypeAlias = Callable[[Run], Mapping[str, float]]
"""Reads the current numbers."""


class Levels:
    """Follows numbers: over arrivals, over time, and at the end.

    Args:
        read: Reads the numbers.
        every: After how many arrivals a point of the curves is read; 0 for no curves.
    """

    def __init__(self, read: Reading, every: int) -> None:
        self._read = read
        self._every = every
        self._arrivals = 0
        self._x: list[float] = []
        self._points: list[Mapping[str, float]] = []
        self._seconds = 0.0
        self._sums: dict[str, float] = {}
        self._nodes: NodeTable | None = None
        self._revision = -1
        self._amounts: Mapping[str, float] = {}

    def arrive(self, run: Run) -> None:
        """Note an arrival."""
        self._arrivals += 1
        if self._every and self._arrivals % self._every == 0:
            self._x.append(self._arrivals)
            self._points.append(self._read(run))

    def time_passes(self, run: Run, seconds: float) -> None:
        """Note that numbers, which depend on nodes alone, do not change for a time."""
        self._seconds += seconds
        nodes = run.snapshot.nodes
        revision = nodes.changes.revision
        # Identity: another table has revisions of its own. Time often passes without
        # any change of nodes, as between two flushes of the queue.
        if nodes is not self._nodes or revision != self._revision:
            self._nodes, self._revision = nodes, revision
            self._amounts = self._read(run)
        for name, value in self._amounts.items():
            self._sums[name] = self._sums.get(name, 0.0) + value * seconds

    def end(self, run: Run) -> Measured:
        """Return the numbers at the end, their means over time, and the curves.

        A name that is missing at some moment counts as 0 in the mean, and leaves a gap
        in the curve. If no time has passed, there is no mean.
        """
        last = self._read(run)
        means = {
            f"{name}.mean": total / self._seconds for name, total in self._sums.items()
        }
        return Measured(values={**last, **means}, curves=self._curves())

    def _curves(self) -> Sequence[Curve]:
        names = dict.fromkeys(name for point in self._points for name in point)
        return [
            Curve(name=name, x=self._x, y=[point.get(name) for point in self._points])
            for name in names
        ]
