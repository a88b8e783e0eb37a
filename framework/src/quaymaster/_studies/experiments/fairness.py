"""The metric of fairness between namespaces, or between values of a label."""

from collections.abc import Iterable, Mapping, Sequence
from typing import ClassVar

import attrs

from quaymaster._api.objects.resources import pod_requests
from quaymaster._core.config.fields import non_empty, number
from quaymaster._studies.experiments.lives import (
    NAMESPACE,
    LifeMetric,
    group_of,
    seconds_on_node,
)
from quaymaster._studies.experiments.metrics import Column, Value
from quaymaster._studies.simulation.driven import Run
from quaymaster._studies.simulation.history import PodLife

__all__ = ["Fairness"]


@attrs.define(kw_only=True, eq=False)
class Fairness(LifeMetric):
    """How evenly groups of pods are served.

    Jain's index is 1 if all groups are equal, and 1/n if one of n groups has
    everything. Indices are empty without any value above 0.

    Attributes:
        by: The label whose values are groups, or ``namespace``.
        resource: The resource that counts as service.
        bound: The shortest run that counts for the bounded slowdown, in seconds.
    """

    columns: ClassVar[Sequence[Column]] = (
        Column(
            name="service.jain",
            unit="1",
            formula="(sum x)² / (n sum x²); x: what a group used, amount times seconds",
        ),
        Column(
            name="service.max_min",
            unit="1",
            formula="smallest x / largest x",
        ),
        Column(
            name="slowdown.jain",
            unit="1",
            formula="(sum y)² / (n sum y²); y: mean bounded slowdown of a group",
        ),
        Column(
            name="slowdown.max_min",
            unit="1",
            formula="smallest y / largest y",
        ),
        Column(
            name="groups",
            unit="groups",
            formula="groups that have pods",
        ),
    )
    by: str = attrs.field(default=NAMESPACE, validator=non_empty())
    resource: str = attrs.field(default="cpu", validator=non_empty())
    bound: float = attrs.field(default=10.0, validator=number(0))

    @property
    def _groups_by(self) -> str:
        return ""

    def _measure(self, run: Run, lives: Sequence[PodLife]) -> Mapping[str, Value]:
        service: dict[str, float] = {}
        slowdowns: dict[str, list[float]] = {}
        for life in lives:
            group = group_of(life.pod, self.by)
            if not group:
                continue
            amount = pod_requests(life.pod).get(self.resource)
            used = amount * seconds_on_node(life, run.now)
            service[group] = service.get(group, 0.0) + used
            if life.has_completed and life.bound is not None and life.ended is not None:
                shortest = max(life.ended - life.bound, self.bound)
                total = life.ended - life.created
                slowdown = max(1.0, total / shortest) if shortest else 1.0
                slowdowns.setdefault(group, []).append(slowdown)
        means = [sum(numbers) / len(numbers) for numbers in slowdowns.values()]
        return {
            **_indices("service", service.values()),
            **_indices("slowdown", means),
            "groups": len(service),
        }


def _indices(name: str, numbers: Iterable[float]) -> Mapping[str, float | None]:
    values = list(numbers)
    # 0 if all are 0: then no index is defined.
    squares = sum(value * value for value in values)
    jain = sum(values) ** 2 / (len(values) * squares) if squares else None
    max_min = min(values) / max(values) if squares else None
    return {f"{name}.jain": jain, f"{name}.max_min": max_min}
