"""The metric of completion times, makespan and throughput."""

from collections.abc import Mapping, Sequence
from typing import ClassVar

import attrs

from quaymaster._core.config.fields import each, integer
from quaymaster._studies.experiments.lives import LifeMetric, statistics
from quaymaster._studies.experiments.metrics import Column, Value
from quaymaster._studies.simulation.driven import Run
from quaymaster._studies.simulation.history import PodLife

__all__ = ["Completion"]

_HOUR = 3600.0


@attrs.define(kw_only=True, eq=False)
class Completion(LifeMetric):
    """How long pods take from their creation to their end, in seconds.

    Times are empty if no pod has ended.

    Attributes:
        percentiles: The percentiles, from 1 to 100.
        by: The label whose values are groups, or ``namespace``.
    """

    joins_resubmitted: ClassVar[bool] = True
    columns: ClassVar[Sequence[Column]] = (
        Column(
            name="mean",
            unit="seconds",
            formula="mean time from creation to end, of pods that have ended",
            leaves_out=("censored",),
        ),
        Column(
            name="max",
            unit="seconds",
            formula="longest time from creation to end of pods that have ended",
            leaves_out=("censored",),
        ),
        Column(
            name="pNN",
            unit="seconds",
            formula="NNth percentile of the times from creation to end",
            leaves_out=("censored",),
        ),
        Column(
            name="makespan",
            unit="seconds",
            formula="last end - first creation, of pods that have ended",
            leaves_out=("censored",),
        ),
        Column(
            name="per_hour",
            unit="pods per hour",
            formula="pods / hours of the run after its warm-up",
        ),
        Column(
            name="pods",
            unit="pods",
            formula="pods that have ended with success",
        ),
        Column(
            name="censored",
            unit="pods",
            formula="all other pods, whose time is unknown",
        ),
    )
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
