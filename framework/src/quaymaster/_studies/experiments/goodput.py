"""The metric of goodput: useful work, and work that was lost."""

from collections.abc import Mapping, Sequence
from typing import ClassVar

import attrs

from quaymaster._api.objects.resources import pod_requests
from quaymaster._core.config.fields import non_empty
from quaymaster._studies.experiments.lives import LifeMetric, seconds_on_node
from quaymaster._studies.experiments.metrics import Column, Value
from quaymaster._studies.experiments.running_work import Spent, work_of
from quaymaster._studies.simulation.driven import Run
from quaymaster._studies.simulation.history import PodLife

__all__ = ["Goodput"]

_MILLI = 1000


@attrs.define(kw_only=True, eq=False)
class Goodput(LifeMetric):
    """How much of the work of pods was useful, in amount of a resource times seconds.

    Work is useful if the pod ended by itself, or a checkpoint has saved it. It is lost
    if the pod was preempted, evicted or deleted before, or its node was gone. CPU
    counts in cores. The time on the node is the sum of all parts.

    Attributes:
        resource: The resource.
        by: The label whose values are groups, or ``namespace``.
    """

    columns: ClassVar[Sequence[Column]] = (
        Column(
            name="useful",
            unit="amount times seconds",
            formula="time on the node times requests, of pods that ended with success, "
            "without overhead and slowed; and work that checkpoints of lost pods saved",
        ),
        Column(
            name="lost",
            unit="amount times seconds",
            formula="time on the node times requests, of pods that were deleted or "
            "lost before, or failed, without what was saved, overhead and slowed",
        ),
        Column(
            name="running",
            unit="amount times seconds",
            formula="time on the node times requests so far, of pods that still run",
        ),
        Column(
            name="preempted",
            unit="amount times seconds",
            formula="the part of lost of pods that were preempted",
        ),
        Column(
            name="overhead",
            unit="amount times seconds",
            formula="time for restarts and complete checkpoints, times requests, of "
            "pods that no longer run",
        ),
        Column(
            name="slowed",
            unit="amount times seconds",
            formula="time on the node times requests times (1 - speed), of pods that "
            "no longer run: lost to interference",
        ),
        Column(
            name="share",
            unit="1",
            formula="useful / (useful + lost + overhead + slowed); empty if that is 0",
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
        parts = ("useful", "lost", "running", "preempted", "overhead", "slowed")
        work = dict.fromkeys(parts, 0.0)
        following, lost_pods = work_of(run), 0
        for life in lives:
            amount, seconds = self._amount(life), seconds_on_node(life, run.now)
            if life.bound is None:
                continue
            if life.is_running and life.leaving is None:
                work["running"] += amount * seconds
                continue
            spent = following.spent(life.pod.uid) if following else Spent()
            work["overhead"] += amount * spent.overhead
            work["slowed"] += amount * spent.slowed
            plain = amount * (seconds - spent.overhead - spent.slowed)
            if life.has_completed:
                work["useful"] += plain
                continue
            work["useful"] += amount * spent.saved
            lost = plain - amount * spent.saved
            work["lost"] += lost
            lost_pods += 1
            if life.pod.key in victims:
                work["preempted"] += lost
        total = sum(work[name] for name in ("useful", "lost", "overhead", "slowed"))
        share = work["useful"] / total if total else None
        return {**work, "share": share, "lost_pods": lost_pods}

    def _amount(self, life: PodLife) -> float:
        amount = pod_requests(life.pod).get(self.resource)
        return amount / _MILLI if self.resource == "cpu" else float(amount)
