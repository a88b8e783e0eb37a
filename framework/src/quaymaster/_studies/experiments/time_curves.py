"""The metric of the queue and of utilisation over virtual time."""

from collections.abc import Mapping, Sequence
from datetime import timedelta
from typing import ClassVar

import attrs
import numpy as np

from quaymaster._core.config.fields import duration
from quaymaster._studies.capacity.columns import AmountColumns
from quaymaster._studies.experiments.metrics import Column, Curve, Measured, Metric
from quaymaster._studies.simulation.driven import Run

__all__ = ["OverTime"]


@attrs.define(kw_only=True, eq=False)
class OverTime(Metric):
    """The queue and the utilisation over virtual time.

    Means and maxima are empty if no time has passed. Curves: ``pending``, ``running``,
    ``cpu`` and so on, one point each ``every`` seconds.

    Attributes:
        every: The virtual time between two points of the curves; 0 for no curves.
    """

    columns: ClassVar[Sequence[Column]] = (
        Column(
            name="pending.mean",
            unit="pods",
            formula="pods without a node, mean over virtual time",
        ),
        Column(
            name="pending.max",
            unit="pods",
            formula="most pods without a node at a time",
        ),
        Column(
            name="running.mean",
            unit="pods",
            formula="pods with a node, mean over virtual time",
        ),
        Column(
            name="running.max",
            unit="pods",
            formula="most pods with a node at a time",
        ),
        Column(
            name="RESOURCE.mean",
            unit="1",
            formula="requested / allocatable of all nodes, mean over virtual time",
        ),
    )
    curves_over: ClassVar[str] = "virtual time (seconds)"
    every: timedelta = attrs.field(
        default=timedelta(seconds=60), validator=duration(timedelta())
    )
    _from: float = attrs.field(init=False, default=0.0)
    _next: float = attrs.field(init=False, default=0.0)
    _seconds: float = attrs.field(init=False, default=0.0)
    _sums: dict[str, float] = attrs.field(init=False, factory=dict)
    _largest: dict[str, float] = attrs.field(init=False, factory=dict)
    _x: list[float] = attrs.field(init=False, factory=list)
    _points: list[Mapping[str, float]] = attrs.field(init=False, factory=list)

    def warm_up_ended(self, _run: Run, at: float) -> None:
        """Begin the curves here."""
        self._from = self._next = at

    def time_passes(self, run: Run, seconds: float) -> None:
        """Read the numbers of a period without changes."""
        levels = _read(run)
        self._seconds += seconds
        for name, level in levels.items():
            self._sums[name] = self._sums.get(name, 0.0) + level * seconds
            self._largest[name] = max(self._largest.get(name, 0.0), level)
        step = self.every.total_seconds()
        end = max(run.now, self._from) + seconds
        while step and self._next < end:
            self._x.append(self._next)
            self._points.append(levels)
            # Not a running sum, which would gather rounding errors.
            self._next = self._from + len(self._x) * step

    def end(self, _run: Run) -> Measured:
        """Return means, maxima and curves."""
        values = {
            f"{name}.mean": total / self._seconds for name, total in self._sums.items()
        }
        maxima = {f"{name}.max": self._largest.get(name) for name in _COUNTS}
        names = self._sums if self._points else ()
        curves = [
            Curve(name=name, x=self._x, y=[point.get(name) for point in self._points])
            for name in names
        ]
        return Measured(values={**values, **maxima}, curves=curves)


_COUNTS = ("pending", "running")


def _read(run: Run) -> Mapping[str, float]:
    scheduler = run.simulation.scheduler
    pending = len(scheduler.queue) + len(scheduler.waiting)
    running = int(run.snapshot.nodes.pod_count[run.snapshot.nodes.rows].sum())
    # A pod that waits on Permit is on a node already, but not bound.
    running -= len(scheduler.waiting)
    columns = AmountColumns.of(run.snapshot.nodes)
    sums = columns.sums(np.arange(len(columns.infos), dtype=np.intp))
    shares = {name: amounts.utilization for name, amounts in sums.items()}
    return {"pending": float(pending), "running": float(running), **shares}
