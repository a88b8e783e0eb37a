"""The metric of the duration of runs."""

import time
from collections.abc import Sequence
from typing import ClassVar

import attrs

from quaymaster._studies.experiments.metrics import Column, Measured, Metric
from quaymaster._studies.simulation.driven import Run

__all__ = ["TimeTaken"]


@attrs.define(kw_only=True, eq=False)
class TimeTaken(Metric):
    """The duration of a run on this machine, from the first attempt to the end.

    The columns differ from run to run, so a table with them cannot be reproduced.
    """

    columns: ClassVar[Sequence[Column]] = (
        Column(
            name="seconds",
            unit="seconds",
            formula="real time from the first attempt to the end",
        ),
        Column(
            name="cpu_seconds",
            unit="seconds",
            formula="processor time of the process in that time",
        ),
        Column(
            name="attempts_per_second",
            unit="attempts per second",
            formula="attempts / seconds",
        ),
    )

    is_reproducible: ClassVar[bool] = False
    _began: float = attrs.field(init=False, default=0.0)
    _cpu_began: float = attrs.field(init=False, default=0.0)

    def begin(self, _run: Run) -> None:
        """Begin to measure."""
        self._began, self._cpu_began = time.perf_counter(), time.process_time()

    def end(self, run: Run) -> Measured:
        """Return the duration."""
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
