"""Metrics of how full nodes are: utilisation, imbalance, fragmentation."""

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from typing import ClassVar

import attrs
import numpy as np

from quaymaster._core.config.fields import integer
from quaymaster._core.state.arrays import RowArray
from quaymaster._studies.capacity.columns import AmountColumns
from quaymaster._studies.capacity.fragmentation import Fragmentation, fitting_shapes
from quaymaster._studies.experiments.levels import Levels
from quaymaster._studies.experiments.metrics import Column, Measured, Metric
from quaymaster._studies.simulation.driven import Run

__all__ = ["FragmentedRoom", "Imbalance", "LevelMetric", "Utilisation"]


@attrs.define(kw_only=True, eq=False)
class LevelMetric(Metric):
    """A metric of amounts by resource: at the end, and as curves.

    Attributes:
        every: After how many arrivals a point of the curves is read; 0 for no curves.
    """

    curves_over: ClassVar[str] = "arrivals (objects)"
    every: int = attrs.field(default=0, validator=integer(0))
    _levels: Levels = attrs.field(init=False)

    def __attrs_post_init__(self) -> None:
        self._levels = Levels(self._read, self.every)

    @staticmethod
    @abstractmethod
    def _read(run: Run) -> Mapping[str, float]:
        """Return the amounts now, by column."""

    def arrive(self, run: Run) -> None:
        """Read a point of the curves."""
        self._levels.arrive(run)

    def end(self, run: Run) -> Measured:
        """Return the amounts at the end, the means if any, and the curves."""
        return self._levels.end(run)


@attrs.define(kw_only=True, eq=False)
class Utilisation(LevelMetric):
    """The requested part of what nodes offer, from 0 to 1, by resource.

    Attributes:
        every: After how many arrivals a point of the curves is read; 0 for no curves.
    """

    columns: ClassVar[Sequence[Column]] = (
        Column(
            name="RESOURCE",
            unit="1",
            formula="requests of the pods on nodes / allocatable of the nodes, at the "
            "end",
        ),
        Column(
            name="RESOURCE.mean",
            unit="1",
            formula="the same, as the mean over the virtual time of the run: the time "
            "until all is filled and the time until all has ended count as well",
        ),
    )

    @staticmethod
    def _read(run: Run) -> Mapping[str, float]:
        columns = AmountColumns.of(run.snapshot.nodes)
        sums = columns.sums(_all(columns))
        return {name: amounts.utilization for name, amounts in sums.items()}

    def time_passes(self, run: Run, seconds: float) -> None:
        """Add to the means."""
        self._levels.time_passes(run, seconds)


@attrs.define(kw_only=True, eq=False)
class Imbalance(LevelMetric):
    """How unevenly the nodes are filled, by resource.

    Attributes:
        every: After how many arrivals a point of the curves is read; 0 for no curves.
    """

    columns: ClassVar[Sequence[Column]] = (
        Column(
            name="RESOURCE",
            unit="1",
            formula="standard deviation of the utilisation of nodes, at the end, as "
            "`GroupRoom.imbalance`",
        ),
        Column(
            name="RESOURCE.mean",
            unit="1",
            formula="the same, as the mean over the virtual time of the run",
        ),
    )

    @staticmethod
    def _read(run: Run) -> Mapping[str, float]:
        columns = AmountColumns.of(run.snapshot.nodes)
        return columns.imbalance(_all(columns))

    def time_passes(self, run: Run, seconds: float) -> None:
        """Add to the means."""
        self._levels.time_passes(run, seconds)


@attrs.define(kw_only=True, eq=False)
class FragmentedRoom(LevelMetric):
    """The part of the free room that typical pods cannot use, by resource, 0 to 1.

    The scheduler evaluates each kind of pods, which takes some milliseconds.

    Attributes:
        every: After how many arrivals a point of the curves is read; 0 for no curves.
    """

    columns: ClassVar[Sequence[Column]] = (
        Column(
            name="RESOURCE",
            unit="1",
            formula="free amount that a typical pod cannot use / free amount, as the "
            "mean over typical pods, at the end: `GroupRoom.fragmentation`",
        ),
        Column(
            name="RESOURCE.stranded",
            unit="1",
            formula="free amount that no typical pod can use / free amount, at the end",
        ),
    )

    @staticmethod
    def _read(run: Run) -> Mapping[str, float]:
        columns = AmountColumns.of(run.snapshot.nodes)
        lost = Fragmentation(columns, fitting_shapes(run.simulation))
        rows = _all(columns)
        stranded = lost.stranded(rows).items()
        return {
            **lost.mean(rows),
            **{f"{name}.stranded": amount for name, amount in stranded},
        }


def _all(columns: AmountColumns) -> RowArray:
    return np.arange(len(columns.infos), dtype=np.intp)
