"""The metric of the queue and of utilisation over virtual time."""

from collections.abc import Mapping, Sequence
from datetime import timedelta
from typing import ClassVar

import attrs
import numpy as np

from quaymaster._core.config.fields import duration
from quaymaster._studies.capacity.columns import AmountColumns
from quaymaster._studies.capacity.figures import ResourceRoom
from quaymaster._studies.experiments.group_levels import GroupLevels
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
        by: A label of pods, or ``namespace``. Each column and curve then occurs once
            for all pods and once for each group, as ``GROUP.COLUMN``. The resources of
            a group are what its pods request of all nodes.
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
    by: str = ""
    _groups: GroupLevels | None = attrs.field(init=False, default=None)
    _from: float = attrs.field(init=False, default=0.0)
    _next: float = attrs.field(init=False, default=0.0)
    _seconds: float = attrs.field(init=False, default=0.0)
    _sums: dict[str, float] = attrs.field(init=False, factory=dict)
    _largest: dict[str, float] = attrs.field(init=False, factory=dict)
    _x: list[float] = attrs.field(init=False, factory=list)
    _points: list[Mapping[str, float]] = attrs.field(init=False, factory=list)

    def begin(self, run: Run) -> None:
        """Begin to follow the groups."""
        if self.by:
            self._groups = GroupLevels(run, self.by)

    def warm_up_ended(self, _run: Run, at: float) -> None:
        """Begin the curves here."""
        self._from = self._next = at

    def time_passes(self, run: Run, seconds: float) -> None:
        """Read the numbers of a period without changes."""
        levels = self._read(run)
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
        if self._groups is not None:
            self._groups.close()
        values = {
            f"{name}.mean": total / self._seconds for name, total in self._sums.items()
        }
        counts = [name for name in self._largest if name.endswith(_GROUP_COUNTS)]
        maxima = {
            f"{name}.max": self._largest.get(name)
            for name in dict.fromkeys((*_COUNTS, *counts))
        }
        names = self._sums if self._points else ()
        curves = [
            Curve(name=name, x=self._x, y=[point.get(name) for point in self._points])
            for name in names
        ]
        return Measured(values={**values, **maxima}, curves=curves)

    def _read(self, run: Run) -> Mapping[str, float]:
        levels, sums = _read(run)
        shares = {name: amounts.utilization for name, amounts in sums.items()}
        levels = {**levels, **shares}
        for group, level in (self._groups.levels() if self._groups else {}).items():
            levels[f"{group}.pending"] = float(level.pending)
            levels[f"{group}.running"] = float(level.running)
            for name, amounts in sums.items():
                if amounts.allocatable:
                    share = level.requested.get(name) / amounts.allocatable
                    levels[f"{group}.{name}"] = share
        return levels


_COUNTS = ("pending", "running")
_GROUP_COUNTS = tuple(f".{name}" for name in _COUNTS)


def _read(run: Run) -> tuple[Mapping[str, float], Mapping[str, ResourceRoom]]:
    """Return the numbers of pods, and the amounts of all nodes by resource."""
    scheduler = run.simulation.scheduler
    pending = len(scheduler.queue) + len(scheduler.waiting)
    running = int(run.snapshot.nodes.pod_count[run.snapshot.nodes.rows].sum())
    # A pod that waits on Permit is on a node already, but not bound.
    running -= len(scheduler.waiting)
    columns = AmountColumns.of(run.snapshot.nodes)
    sums = columns.sums(np.arange(len(columns.infos), dtype=np.intp))
    return {"pending": float(pending), "running": float(running)}, sums
