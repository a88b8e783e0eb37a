"""Metrics of how full nodes are: utilisation, imbalance, fragmentation."""

from collections.abc import Mapping

import attrs
import numpy as np

from quaymaster._core.config.fields import integer
from quaymaster._core.state.arrays import RowArray
from quaymaster._studies.capacity.columns import AmountColumns
from quaymaster._studies.capacity.fragmentation import Fragmentation, fitting_shapes
from quaymaster._studies.experiments.levels import Levels
from quaymaster._studies.experiments.metrics import Measured, Metric
from quaymaster._studies.simulation.driven import Run

__all__ = ["FragmentedRoom", "Imbalance", "Utilisation"]


@attrs.define(kw_only=True, eq=False)
class Utilisation(Metric):
    """What part of what the nodes offer is requested, from 0 to 1, by resource.

    Columns: ``cpu``, ``memory`` and so on at the end, ``cpu.mean`` over time.

    Attributes:
        every: After how many arrivals a point of the curves is read; 0 for no curves.
    """

    every: int = attrs.field(default=0, validator=integer(0))
    _levels: Levels = attrs.field(init=False)

    def __attrs_post_init__(self) -> None:
        self._levels = Levels(_utilisation, self.every)

    def arrive(self, run: Run) -> None:
        """Read a point of the curves."""
        self._levels.arrive(run)

    def time_passes(self, run: Run, seconds: float) -> None:
        """Add to the means."""
        self._levels.time_passes(run, seconds)

    def end(self, run: Run) -> Measured:
        """Say how full the nodes are, were on the mean, and were at each point."""
        return self._levels.end(run)


@attrs.define(kw_only=True, eq=False)
class Imbalance(Metric):
    """How unevenly the nodes are filled, by resource.

    It is the standard deviation of their utilisation, as `GroupRoom.imbalance`.
    Columns: ``cpu``, ``memory`` and so on at the end, ``cpu.mean`` over time.

    Attributes:
        every: After how many arrivals a point of the curves is read; 0 for no curves.
    """

    every: int = attrs.field(default=0, validator=integer(0))
    _levels: Levels = attrs.field(init=False)

    def __attrs_post_init__(self) -> None:
        self._levels = Levels(_imbalance, self.every)

    def arrive(self, run: Run) -> None:
        """Read a point of the curves."""
        self._levels.arrive(run)

    def time_passes(self, run: Run, seconds: float) -> None:
        """Add to the means."""
        self._levels.time_passes(run, seconds)

    def end(self, run: Run) -> Measured:
        """Say how uneven it is, was on the mean, and was at each point."""
        return self._levels.end(run)


@attrs.define(kw_only=True, eq=False)
class FragmentedRoom(Metric):
    """What part of the free room typical pods cannot use, from 0 to 1, by resource.

    It is `GroupRoom.fragmentation`, and ``stranded`` for what no typical pod at all can
    use. The scheduler is asked for each kind of pods, which takes some milliseconds.
    Columns: ``cpu``, ``cpu.stranded`` and so on, at the end.

    Attributes:
        every: After how many arrivals a point of the curves is read; 0 for no curves.
    """

    every: int = attrs.field(default=0, validator=integer(0))
    _levels: Levels = attrs.field(init=False)

    def __attrs_post_init__(self) -> None:
        self._levels = Levels(_fragmentation, self.every)

    def arrive(self, run: Run) -> None:
        """Read a point of the curves."""
        self._levels.arrive(run)

    def end(self, run: Run) -> Measured:
        """Say how fragmented it is, and was at each point."""
        return self._levels.end(run)


def _utilisation(run: Run) -> Mapping[str, float]:
    columns = AmountColumns.of(run.snapshot.nodes)
    return {name: one.utilization for name, one in columns.sums(_all(columns)).items()}


def _imbalance(run: Run) -> Mapping[str, float]:
    columns = AmountColumns.of(run.snapshot.nodes)
    return columns.imbalance(_all(columns))


def _fragmentation(run: Run) -> Mapping[str, float]:
    columns = AmountColumns.of(run.snapshot.nodes)
    lost = Fragmentation(columns, fitting_shapes(run.simulation))
    at = _all(columns)
    stranded = {f"{name}.stranded": one for name, one in lost.stranded(at).items()}
    return {**lost.mean(at), **stranded}


def _all(columns: AmountColumns) -> RowArray:
    return np.arange(len(columns.infos), dtype=np.intp)
