"""Measures the cycles of groups; only used with metrics.

Mirrors the calls of metrics in ``podGroupCycle``, ``submitPodGroupAlgorithmResult`` and
``podGroupSchedulingPlacementAlgorithm`` (Kubernetes v1.37,
``pkg/scheduler/schedule_one_podgroup.go``).
"""

from collections.abc import Iterator
from contextlib import contextmanager

from quaymaster._core.contract.status import Code, Status
from quaymaster._core.groups.results import GroupResult
from quaymaster._core.runtime.metrics import SchedulerMetrics

__all__ = ["MeasuredGroups"]


class MeasuredGroups:
    """Measures the cycles of groups, and their placements.

    Args:
        metrics: Records the values.
    """

    def __init__(self, metrics: SchedulerMetrics) -> None:
        self._metrics = metrics
        self._start = metrics.now()
        self._evaluation_start = self._start

    def begin(self) -> None:
        """Note the start of a cycle."""
        self._start = self._metrics.now()

    def decided(self) -> None:
        """Note that the algorithm has ended, with nodes or without."""
        self._metrics.group_algorithm.observe(self._metrics.now() - self._start)

    def preempted(self, status: Status | None) -> None:
        """Note what the PodGroupPostFilter plugins of a profile have returned."""
        label = Code.SUCCESS.label if status is None else status.code.label
        self._metrics.group_preemption_attempts[(label,)] += 1

    def ended(self, profile: str, result: GroupResult) -> None:
        """Note the end of a cycle.

        Args:
            profile: The name of the profile.
            result: The result of the group.
        """
        seconds = self._metrics.now() - self._start
        self._metrics.group_attempts[_label(result), profile].observe(seconds)

    @contextmanager
    def sampled(self) -> Iterator[None]:
        """Measure the hooks that are called in the block; no pod is tried in it."""
        self._metrics.sampling.begin(1)
        try:
            yield
        finally:
            self._metrics.sampling.end()

    def generated(self, profile: str, count: int) -> None:
        """Note how many placements were generated."""
        self._metrics.generated_placements[(profile,)] += count

    def evaluating(self) -> None:
        """Note that a group is tried on a placement."""
        self._evaluation_start = self._metrics.now()

    def evaluated(self, profile: str, *, is_feasible: bool) -> None:
        """Note whether the group fits on the placement."""
        seconds = self._metrics.now() - self._evaluation_start
        result = "feasible" if is_feasible else "infeasible"
        self._metrics.placements[result, profile].observe(seconds)


def _label(result: GroupResult) -> str:
    """Return upstream's name of the result of a group."""
    if result.status is None:
        return "scheduled"
    if not result.status.is_rejected:
        return "error"
    return "waiting_on_preemption" if result.is_waiting else "unschedulable"
