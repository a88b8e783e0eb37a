"""The metric of how long runs take."""

import time

import attrs

from quaymaster._studies.experiments.metrics import Measured, Metric
from quaymaster._studies.simulation.driven import Run

__all__ = ["TimeTaken"]


@attrs.define(kw_only=True, eq=False)
class TimeTaken(Metric):
    """How long a run takes here, from the first attempt to the end.

    Columns: ``seconds``; ``cpu_seconds``, of its process; ``attempts_per_second``. They
    differ whenever a run is made, so a table with them is never made a second time.
    """

    _began: float = attrs.field(init=False, default=0.0)
    _cpu_began: float = attrs.field(init=False, default=0.0)

    def begin(self, _run: Run) -> None:
        """Begin to measure."""
        self._began, self._cpu_began = time.perf_counter(), time.process_time()

    def end(self, run: Run) -> Measured:
        """Say how long it took."""
        seconds = time.perf_counter() - self._began
        cpu_seconds = time.process_time() - self._cpu_began
        attempts = run.simulation.moment()[1]
        return Measured(
            values={
                "seconds": seconds,
                "cpu_seconds": cpu_seconds,
                "attempts_per_second": attempts / seconds if seconds else None,
            }
        )
