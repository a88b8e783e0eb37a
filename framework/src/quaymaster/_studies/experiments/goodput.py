"""The metric of goodput: useful work, and work that was lost."""

from collections.abc import Mapping, Sequence
from typing import ClassVar

import attrs

from quaymaster._api.objects.resources import pod_requests
from quaymaster._core.config.fields import non_empty
from quaymaster._studies.experiments.lives import LifeMetric, seconds_on_node
from quaymaster._studies.experiments.metrics import Column, Value
from quaymaster._studies.simulation.driven import Run
from quaymaster._studies.simulation.history import PodLife

__all__ = ["Goodput"]

_MILLI = 1000


@attrs.define(kw_only=True, eq=False)
class Goodput(LifeMetric):
    """How much of the work of pods was useful, in amount of a resource times seconds.

    Work is useful if the pod ended by itself, and lost if it was preempted, evicted or
    deleted before, or its node was gone: such a pod begins again from the start, if at
    all. CPU counts in cores.

    Attributes:
        resource: The resource.
        by: The label whose values are groups, or ``namespace``.
    """

    columns: ClassVar[Sequence[Column]] = (
        Column(
            name="useful",
            unit="amount times seconds",
            formula="time on the node times requests, of pods that ended with success",
        ),
        Column(
            name="lost",
            unit="amount times seconds",
            formula="the same of pods that were deleted or lost before, or failed",
        ),
        Column(
            name="running",
            unit="amount times seconds",
            formula="the same so far of pods that still run",
        ),
        Column(
            name="preempted",
            unit="amount times seconds",
            formula="the part of lost of pods that were preempted",
        ),
        Column(
            name="share",
            unit="1",
            formula="useful / (useful + lost); empty if both are 0",
        ),
        Column(
            name="lost_pods",
            unit="pods",
            formula="pods that lost work",
        ),
    )
    resource: str = attrs.field(default="cpu", validator=non_empty())

    def _measure(self, run: Run, lives: Sequence[PodLife]) -> Mapping[str, Value]:
        victims = {preemption.pod for preemption in run.result().preempted}
        work = {"useful": 0.0, "lost": 0.0, "running": 0.0, "preempted": 0.0}
        lost_pods = 0
        for life in lives:
            used = self._amount(life) * seconds_on_node(life, run.now)
            if life.has_completed:
                work["useful"] += used
            elif life.is_running and life.leaving is None:
                work["running"] += used
            elif life.bound is not None:
                work["lost"] += used
                lost_pods += 1
                if life.pod.key in victims:
                    work["preempted"] += used
        total = work["useful"] + work["lost"]
        share = work["useful"] / total if total else None
        return {**work, "share": share, "lost_pods": lost_pods}

    def _amount(self, life: PodLife) -> float:
        amount = pod_requests(life.pod).get(self.resource)
        return amount / _MILLI if self.resource == "cpu" else float(amount)
