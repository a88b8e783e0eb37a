"""When each job starts, as a curve over the numbers of jobs."""

import attrs
from quaymaster.experiments import Curve, Measured, Metric
from quaymaster.simulation import Run

__all__ = ["Starts"]


@attrs.define(kw_only=True, eq=False)
class Starts(Metric):
    """When each job starts: a curve over the numbers of jobs, in seconds of the run."""

    def end(self, run: Run) -> Measured:
        """Return the curve."""
        starts = sorted(
            (int(placement.pod.rpartition("-")[2]), placement.bound)
            for placement in run.result().placements
        )
        numbers, seconds = zip(*starts, strict=True) if starts else ((), ())
        return Measured(curves=[Curve(x=numbers, y=seconds)])
