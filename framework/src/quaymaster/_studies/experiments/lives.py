"""What metrics of single pods share: the lives of pods, by group."""

from abc import abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from typing import ClassVar, Final

import attrs
import numpy as np

from quaymaster._api.objects import Pod
from quaymaster._studies.experiments.metrics import Measured, Metric, Value
from quaymaster._studies.experiments.running_work import work_of
from quaymaster._studies.simulation.driven import Run
from quaymaster._studies.simulation.history import History, PodLife

__all__ = [
    "ALL",
    "NAMESPACE",
    "LifeMetric",
    "group_of",
    "seconds_on_node",
    "statistics",
]

ALL: Final = ""
"""The group of all pods."""

NAMESPACE: Final = "namespace"
"""The word for groups by namespace, in place of a label."""


@attrs.define(kw_only=True, eq=False)
class LifeMetric(Metric):
    """A metric that is computed from the lives of pods, at the end.

    Pods that have a node from the beginning are left out, and those that were created
    before the warm-up ended.

    Attributes:
        by: The label whose values are groups, or ``namespace``. Each column then occurs
            once for all pods and once for each group, as ``GROUP.COLUMN``. Pods without
            the label are in no group.
        counts_from: When the warm-up ended, in seconds of the run.
        joins_resubmitted: Whether a pod that was created again after its loss counts
            once, from its first creation.
    """

    joins_resubmitted: ClassVar[bool] = False
    by: str = ""
    counts_from: float = attrs.field(init=False, default=0.0)
    _history: History | None = attrs.field(init=False, default=None)

    def begin(self, run: Run) -> None:
        """Begin to follow the pods."""
        self._history = History(run.cluster)

    def warm_up_ended(self, _run: Run, at: float) -> None:
        """Leave out the pods that were created before."""
        self.counts_from = at

    def end(self, run: Run) -> Measured:
        """Return the numbers of all pods, and of each group."""
        history = self._history
        assert history is not None, "begin comes first"
        history.close()
        groups = _groups(self._pods(run, history), self._groups_by)
        values: dict[str, Value] = {}
        for group, lives in groups.items():
            for name, value in self._measure(run, lives).items():
                values[f"{group}.{name}" if group else name] = value
        return Measured(values=values)

    def _pods(self, run: Run, history: History) -> Iterable[PodLife]:
        """Return the lives that count."""
        work = work_of(run) if self.joins_resubmitted else None
        for life in history.pods:
            if life.pod.node_name or (work and work.was_resubmitted(life)):
                continue
            created = work.first_created(life) if work else life.created
            if created >= self.counts_from:
                yield attrs.evolve(life, created=created) if work else life

    @property
    def _groups_by(self) -> str:
        """What columns are repeated by: a label, ``namespace``, or empty."""
        return self.by

    @abstractmethod
    def _measure(self, run: Run, lives: Sequence[PodLife]) -> Mapping[str, Value]:
        """Return the numbers of one group, by column."""


def group_of(pod: Pod, by: str) -> str | None:
    """Return the group of a pod by a label or by namespace; None if it has none."""
    return pod.namespace if by == NAMESPACE else pod.labels.get(by)


def seconds_on_node(life: PodLife, now: float) -> float:
    """Return for how many seconds a pod has been on its node up to now."""
    if life.bound is None:
        return 0.0
    until = life.ran_until
    return (now if until is None else until) - life.bound


def _groups(lives: Iterable[PodLife], by: str) -> Mapping[str, Sequence[PodLife]]:
    """Return all pods, and the pods of each group in the order of their names."""
    everything = list(lives)
    groups: dict[str, list[PodLife]] = {}
    for life in everything if by else ():
        group = group_of(life.pod, by)
        if group:
            groups.setdefault(group, []).append(life)
    return {ALL: everything, **dict(sorted(groups.items()))}


def statistics(
    numbers: Sequence[float], percentiles: Sequence[int]
) -> Mapping[str, float | None]:
    """Return mean, maximum and percentiles; None for each without numbers."""
    names = ["mean", "max", *(f"p{percentile}" for percentile in percentiles)]
    if not numbers:
        return dict.fromkeys(names)
    values = np.percentile(numbers, percentiles).tolist() if percentiles else []
    # Not `numpy.mean`, which adds pairwise: the sum has the order of the pods.
    mean = sum(numbers) / len(numbers)
    return dict(zip(names, [mean, max(numbers), *values], strict=True))
