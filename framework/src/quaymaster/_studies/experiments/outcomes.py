"""Metrics of pods: placements, waiting times, preemptions."""

from collections.abc import Iterator, Sequence
from typing import ClassVar, Final

import attrs
import numpy as np

from quaymaster._api.objects import Pod
from quaymaster._core.config.fields import each, integer
from quaymaster._studies.experiments.metrics import Column, Curve, Measured, Metric
from quaymaster._studies.simulation.driven import Run
from quaymaster._studies.simulation.results import (
    Placement,
    SimulationResult,
    UnscheduledPod,
)

__all__ = ["PlacedPods", "PreemptedPods", "WaitingTime"]


_OF_OTHERS: Final = "NoProfile"
"""The reason of pods that another scheduler places."""


def _statistics(
    suffix: str, what: str, *, leaves_out: Sequence[str]
) -> Iterator[Column]:
    """Yield the columns of statistics of waits; empty without any wait."""
    for name, formula in (
        ("mean", f"mean of the {what}"),
        ("max", f"longest of the {what}"),
        ("pNN", f"NNth percentile of the {what}, interpolated between pods"),
    ):
        yield Column(
            name=name + suffix, unit="seconds", formula=formula, leaves_out=leaves_out
        )


class _CountedPods:
    """The pods that count: those that were created after the warm-up.

    They include pods that were tried, and are not in the cluster any longer.
    """

    def __init__(self) -> None:
        self._since = 0.0
        # Uids, since a pod that is created again under its name counts again.
        self._before: frozenset[str] = frozenset()

    def warm_up_ended(self, run: Run, at: float) -> None:
        """Leave out the pods that exist, and those that are gone."""
        self._since = at
        uids = (pod.uid for pod in run.cluster.list(Pod).items)
        self._before = frozenset({*uids, *run.simulation.tried_pods()})

    def placements(self, result: SimulationResult) -> Sequence[Placement]:
        """Return the pods that got a node."""
        return [
            placement
            for placement in result.placements
            if placement.created >= self._since
        ]

    def unscheduled(self, result: SimulationResult) -> Sequence[UnscheduledPod]:
        """Return the pods without a node, but not those of other schedulers."""
        return [
            pod
            for pod in result.unscheduled
            if pod.created >= self._since and pod.reason != _OF_OTHERS
        ]

    def count(self, run: Run, placed: int, waiting: int) -> int:
        """Return how many pods there were, at least the placed and the waiting ones."""
        tried = run.simulation.tried_pods() - self._before
        return max(len(tried), placed + waiting)


@attrs.define(kw_only=True, eq=False)
class PlacedPods(Metric):
    """How many pods got a node, and what became of them.

    Objects that arrive and pods that are created during the warm-up do not count.
    The curve shows the number of placed pods.

    Attributes:
        every: After how many arrivals a point of the curve is read; 0 for no curve.
    """

    columns: ClassVar[Sequence[Column]] = (
        Column(
            name="",
            unit="pods",
            formula="pods that were bound to a node, whatever became of them: "
            "standing + completed + lost",
        ),
        Column(
            name="arrivals",
            unit="objects",
            formula="arrived objects: a Deployment counts once, whatever its replicas",
        ),
        Column(
            name="pods",
            unit="pods",
            formula="pods that needed a node: placed + pending + those that were "
            "deleted before they got one, such as pods that were turned away",
        ),
        Column(name="pending", unit="pods", formula="pods without a node at the end"),
        Column(
            name="standing",
            unit="pods",
            formula="placed pods that are on their node at the end and have not ended",
        ),
        Column(
            name="completed",
            unit="pods",
            formula="placed pods that have succeeded; their objects still exist",
        ),
        Column(
            name="lost",
            unit="pods",
            formula="placed pods that failed or were removed before they had ended: "
            "preempted, evicted, deleted, or gone with their node",
        ),
    )
    curves_over: ClassVar[str] = "arrivals (objects)"
    every: int = attrs.field(default=0, validator=integer(0))
    _arrivals: int = attrs.field(init=False, default=0)
    _counted: _CountedPods = attrs.field(init=False, factory=_CountedPods)
    _placed_before: int = attrs.field(init=False, default=0)
    _x: list[float] = attrs.field(init=False, factory=list)
    _y: list[float] = attrs.field(init=False, factory=list)

    def warm_up_ended(self, run: Run, at: float) -> None:
        """Leave out everything that has arrived before."""
        self._counted.warm_up_ended(run, at)
        self._arrivals = 0
        self._placed_before = run.simulation.moment()[2]
        self._x.clear()
        self._y.clear()

    def arrive(self, run: Run) -> None:
        """Count an arrival."""
        self._arrivals += 1
        if self.every and self._arrivals % self.every == 0:
            self._x.append(self._arrivals)
            self._y.append(run.simulation.moment()[2] - self._placed_before)

    def end(self, run: Run) -> Measured:
        """Return the numbers of pods."""
        result = run.result()
        placements = self._counted.placements(result)
        running, completed = _present(run, placements)
        placed, pending = len(placements), len(self._counted.unscheduled(result))
        curves = [Curve(x=self._x, y=self._y)] if self.every else []
        values = {
            "": placed,
            "arrivals": self._arrivals,
            "pods": self._counted.count(run, placed, pending),
            "pending": pending,
            "standing": running,
            "completed": completed,
            "lost": placed - running - completed,
        }
        return Measured(values=values, curves=curves)


def _present(run: Run, placements: Sequence[Placement]) -> tuple[int, int]:
    """Return how many placed pods are on their nodes, and how many have succeeded."""
    pods = {pod.key: pod for pod in run.cluster.list(Pod).items}
    # A pod that was created again under the same name was placed last.
    last = {placement.pod: placement.node for placement in placements}
    present = [
        pods[key]
        for key, node in last.items()
        if key in pods
        if pods[key].node_name == node
    ]
    running = sum(not pod.is_finished for pod in present)
    return running, sum(pod.status.phase == "Succeeded" for pod in present)


@attrs.define(kw_only=True, eq=False)
class PreemptedPods(Metric):
    """The number of preempted pods."""

    columns: ClassVar[Sequence[Column]] = (
        Column(
            name="",
            unit="pods",
            formula="pods that were preempted for others, after the warm-up",
        ),
    )
    _before: int = attrs.field(init=False, default=0)

    def warm_up_ended(self, run: Run, _at: float) -> None:
        """Leave out the preemptions before."""
        self._before = len(run.simulation.preempted)

    def end(self, run: Run) -> Measured:
        """Return the number."""
        return Measured(values={"": len(run.simulation.preempted) - self._before})


@attrs.define(kw_only=True, eq=False)
class WaitingTime(Metric):
    """How many seconds pods waited until they were bound.

    A pod that still waits at the end has waited for at least as long as it exists: its
    wait is *censored*. ``mean``, ``max`` and percentiles are those of bound pods, and
    say nothing about pods that starve. The columns with ``at_least`` count them with
    the time that they have waited so far, and so are lower bounds. Pods that are
    created during the warm-up do not count.

    Attributes:
        percentiles: The percentiles, from 1 to 100.
    """

    columns: ClassVar[Sequence[Column]] = (
        *_statistics("", "waits of bound pods", leaves_out=("censored", "deleted")),
        Column(
            name="censored",
            unit="pods",
            formula="pods that wait at the end: their waits are not known",
        ),
        Column(
            name="deleted",
            unit="pods",
            formula="pods that were deleted before they got a node, such as pods that "
            "were turned away: they have no wait",
        ),
        *_statistics(
            ".at_least",
            "waits of bound pods, and waits so far of pods that wait at the end",
            leaves_out=("deleted",),
        ),
    )
    percentiles: tuple[int, ...] = attrs.field(
        default=(50, 90, 99), validator=each(integer(1, 100))
    )
    _counted: _CountedPods = attrs.field(init=False, factory=_CountedPods)

    def warm_up_ended(self, run: Run, at: float) -> None:
        """Leave out the pods that were created before."""
        self._counted.warm_up_ended(run, at)

    def end(self, run: Run) -> Measured:
        """Return the waiting times."""
        result = run.result()
        waits = [
            placement.bound - placement.created
            for placement in self._counted.placements(result)
        ]
        so_far = [run.now - pod.created for pod in self._counted.unscheduled(result)]
        pods = self._counted.count(run, len(waits), len(so_far))
        counts = {
            "censored": len(so_far),
            "deleted": pods - len(waits) - len(so_far),
        }
        bounds = self._values([*waits, *so_far])
        at_least = {f"{name}.at_least": value for name, value in bounds.items()}
        return Measured(values={**self._values(waits), **counts, **at_least})

    def _values(self, waits: Sequence[float]) -> dict[str, float | None]:
        names = ["mean", "max", *(f"p{percentile}" for percentile in self.percentiles)]
        if not waits:
            return dict.fromkeys(names)
        values = np.percentile(waits, self.percentiles).tolist()
        return dict(zip(names, [np.mean(waits), max(waits), *values], strict=True))
