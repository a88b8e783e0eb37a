"""The progress of a Job: its status, and the pods that it does not count yet.

Mirrors how ``pkg/controller/job`` (Kubernetes v1.36) counts: the status does not count
a pod that still has the tracking finalizer. Counted pods may have been removed.
"""

from typing import Final

from quaymaster._api.objects import Job, Pod, UncountedTerminatedPods
from quaymaster._clusters.inmemory.access import ClusterAccess
from quaymaster._clusters.inmemory.controllers.families import Family
from quaymaster._clusters.inmemory.controllers.index_ranges import (
    IndexRanges,
    parse_index,
)

__all__ = ["Progress", "index_of", "is_ending", "is_finished"]

_INDEX: Final = "batch.kubernetes.io/job-completion-index"
_FINALIZER: Final = "batch.kubernetes.io/job-tracking"
_NOTHING: Final = UncountedTerminatedPods()


class Progress:
    """The ended pods of a Job, including removed ones.

    Args:
        job: The Job, as it was loaded.
        family: Its pods then.
        cluster: The cluster.

    Attributes:
        completed: The indexes that have succeeded, by its status.
        failed_for_good: The indexes that are not tried again.
    """

    __slots__ = ("_failed", "_succeeded", "completed", "failed_for_good")

    def __init__(self, job: Job, family: Family, cluster: ClusterAccess) -> None:
        status, pods = job.status, cluster.objects(Pod)
        uncounted = status.uncounted_terminated_pods or _NOTHING
        limit = job.spec.completions or 0
        completed = IndexRanges(status.completed_indexes, limit)
        failed = IndexRanges(status.failed_indexes or "", limit)
        succeeded = status.succeeded + len(uncounted.succeeded)
        self._succeeded = _gone(
            max(succeeded, len(completed)),
            [pods[key] for key in family.succeeded],
            uncounted.succeeded,
        )
        self._failed = _gone(
            status.failed + len(uncounted.failed),
            [pods[key] for key in family.failed],
            uncounted.failed,
        )
        self.completed = completed
        self.failed_for_good = failed

    def end_of_done(self, index: int) -> int | None:
        """Return the next index that may need pods; None if this one may."""
        end = self.completed.end_of(index)
        return self.failed_for_good.end_of(index) if end is None else end

    def succeeded(self, family: Family) -> int:
        """Return how many pods have succeeded."""
        return self._succeeded + len(family.succeeded)

    def failed(self, family: Family) -> int:
        """Return how many pods have failed."""
        return self._failed + len(family.failed)


def is_finished(job: Job) -> bool:
    """Return whether a Job's status is final, so that nothing is left to do."""
    return _has(job, "Complete", "Failed")


def is_ending(job: Job) -> bool:
    """Return whether a Job's result is decided: its running pods are deleted."""
    return _has(job, "SuccessCriteriaMet", "FailureTarget")


def index_of(pod: Pod) -> int | None:
    """Return the index of an Indexed Job that a pod is for."""
    return parse_index(pod.metadata.annotations.get(_INDEX, ""))


def _gone(total: int, present: list[Pod], uncounted: tuple[str, ...]) -> int:
    """Return the number of pods that the status counts but that no longer exist."""
    counted = sum(
        _FINALIZER not in pod.metadata.finalizers or pod.uid in uncounted
        for pod in present
    )
    return max(0, total - counted)


def _has(job: Job, *types: str) -> bool:
    return any(
        condition.type in types and condition.status == "True"
        for condition in job.status.conditions
    )
