"""Metrics of pods: placements, waiting times, preemptions."""

from collections.abc import Sequence

import attrs
import numpy as np

from quaymaster._core.config.fields import each, integer
from quaymaster._studies.experiments.metrics import Curve, Measured, Metric
from quaymaster._studies.simulation.driven import Run

__all__ = ["PlacedPods", "PreemptedPods", "WaitingTime"]


@attrs.define(kw_only=True, eq=False)
class PlacedPods(Metric):
    """How many pods got a node.

    Columns: the number, including deleted pods; ``arrivals``; ``pending``, the pods
        without a node at the end. The curve shows the number.

    Attributes:
        every: After how many arrivals a point of the curve is read; 0 for no curve.
    """

    every: int = attrs.field(default=0, validator=integer(0))
    _arrivals: int = attrs.field(init=False, default=0)
    _x: list[float] = attrs.field(init=False, factory=list)
    _y: list[float] = attrs.field(init=False, factory=list)

    def arrive(self, run: Run) -> None:
        """Count an arrival."""
        self._arrivals += 1
        if self.every and self._arrivals % self.every == 0:
            self._x.append(self._arrivals)
            self._y.append(run.simulation.moment()[2])

    def end(self, run: Run) -> Measured:
        """Return how many were placed, and how many are pending."""
        state = run.observe()
        curves = [Curve(x=self._x, y=self._y)] if self.every else []
        values = {
            "": state.placed,
            "arrivals": self._arrivals,
            "pending": state.pending,
        }
        return Measured(values=values, curves=curves)


@attrs.define(kw_only=True, eq=False)
class PreemptedPods(Metric):
    """The number of preempted pods. Column: the number."""

    def end(self, run: Run) -> Measured:
        """Return the number."""
        return Measured(values={"": len(run.simulation.preempted)})


@attrs.define(kw_only=True, eq=False)
class WaitingTime(Metric):
    """How many seconds pods waited until they were bound.

    Columns: ``mean``, ``max``, and a percentile each, such as ``p99``; empty if no pod
    was bound.

    Attributes:
        percentiles: The percentiles, from 1 to 100.
    """

    percentiles: tuple[int, ...] = attrs.field(
        default=(50, 90, 99), validator=each(integer(1, 100))
    )

    def end(self, run: Run) -> Measured:
        """Return the waiting times."""
        waits = [
            placement.bound - placement.created for placement in run.result().placements
        ]
        return Measured(values=self._values(waits))

    def _values(self, waits: Sequence[float]) -> dict[str, float | None]:
        names = ["mean", "max", *(f"p{percentile}" for percentile in self.percentiles)]
        if not waits:
            return dict.fromkeys(names)
        values = np.percentile(waits, self.percentiles).tolist()
        return dict(zip(names, [np.mean(waits), max(waits), *values], strict=True))
