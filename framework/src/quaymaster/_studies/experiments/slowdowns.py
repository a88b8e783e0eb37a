"""The metric of slowdown: how much longer pods take because they wait."""

from collections.abc import Iterator, Mapping, Sequence
from typing import ClassVar

import attrs

from quaymaster._core.config.fields import each, integer, number
from quaymaster._studies.experiments.lives import LifeMetric, statistics
from quaymaster._studies.experiments.metrics import Column, Value
from quaymaster._studies.simulation.driven import Run
from quaymaster._studies.simulation.history import PodLife

__all__ = ["Slowdown"]


def _statistics_of(prefix: str, formula: str) -> Iterator[Column]:
    """Yield the columns of statistics over the pods that have ended."""
    for name, what in (("mean", "mean"), ("max", "maximum"), ("pNN", "percentile")):
        yield Column(
            name=prefix + name,
            unit="1",
            formula=f"{what} of {formula} over the pods that have ended",
            leaves_out=("censored",),
        )


@attrs.define(kw_only=True, eq=False)
class Slowdown(LifeMetric):
    """How much longer pods take because they wait: (wait + run) / run.

    The wait of a pod lasts from its creation until it is bound, and its run from then
    until it ends. Numbers are empty if no pod has ended.

    Attributes:
        bound: The shortest run that counts for the bounded slowdown, in seconds.
        percentiles: The percentiles, from 1 to 100.
        by: The label whose values are groups, or ``namespace``.
    """

    joins_resubmitted: ClassVar[bool] = True
    columns: ClassVar[Sequence[Column]] = (
        *_statistics_of("", "(wait + run) / run"),
        *_statistics_of("bounded.", "max(1, (wait + run) / max(run, bound))"),
        Column(name="pods", unit="pods", formula="pods that have ended"),
        Column(
            name="censored",
            unit="pods",
            formula="all other pods, whose slowdown is unknown",
        ),
    )
    bound: float = attrs.field(default=10.0, validator=number(0))
    percentiles: tuple[int, ...] = attrs.field(
        default=(50, 90, 99), validator=each(integer(1, 100))
    )

    def _measure(self, _run: Run, lives: Sequence[PodLife]) -> Mapping[str, Value]:
        plain: list[float] = []
        bounded: list[float] = []
        ended = 0
        for life in lives:
            if life.bound is None or life.ended is None or not life.has_completed:
                continue
            ended += 1
            total, seconds = life.ended - life.created, life.ended - life.bound
            if seconds > 0:
                plain.append(total / seconds)
            shortest = max(seconds, self.bound)
            bounded.append(max(1.0, total / shortest) if shortest else 1.0)
        of_bounded = statistics(bounded, self.percentiles)
        return {
            **statistics(plain, self.percentiles),
            **{f"bounded.{name}": value for name, value in of_bounded.items()},
            "pods": ended,
            "censored": len(lives) - ended,
        }
