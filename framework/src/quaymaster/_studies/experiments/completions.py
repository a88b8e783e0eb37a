"""The metric of completion times, makespan and throughput."""

from collections.abc import Mapping, Sequence

import attrs

from quaymaster._core.config.fields import each, integer
from quaymaster._studies.experiments.lives import LifeMetric, statistics
from quaymaster._studies.experiments.metrics import Value
from quaymaster._studies.simulation.driven import Run
from quaymaster._studies.simulation.history import PodLife

__all__ = ["Completion"]

_HOUR = 3600.0


@attrs.define(kw_only=True, eq=False)
class Completion(LifeMetric):
    """How long pods take from their creation to their end, in seconds.

    Columns: ``mean``, ``max``, and a percentile each, such as ``p99``, of the time from
    creation to end (the job completion time); ``makespan``, the time from the first
    creation to the last end; ``per_hour``, the number of pods that have ended, divided
    by the hours of the run after its warm-up; ``pods``, the number of pods that have
    ended, which are counted; ``censored``, the number of all others, whose time is
    unknown. Times are empty if no pod has ended.

    Attributes:
        percentiles: The percentiles, from 1 to 100.
        by: The label whose values are groups, or ``namespace``.
    """

    percentiles: tuple[int, ...] = attrs.field(
        default=(50, 90, 99), validator=each(integer(1, 100))
    )

    def _measure(self, run: Run, lives: Sequence[PodLife]) -> Mapping[str, Value]:
        ends = [(life.created, life.ended) for life in lives if life.has_completed]
        times = [end - created for created, end in ends if end is not None]
        makespan = None
        if ends:
            makespan = max(end or 0.0 for _, end in ends) - min(ends)[0]
        hours = (run.now - self.counts_from) / _HOUR
        return {
            **statistics(times, self.percentiles),
            "makespan": makespan,
            "per_hour": len(ends) / hours if hours > 0 else None,
            "pods": len(ends),
            "censored": len(lives) - len(ends),
        }
