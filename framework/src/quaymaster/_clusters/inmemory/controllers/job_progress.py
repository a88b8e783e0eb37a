"""The progress of a Job: its status, and the pods that are not in it yet.

Mirrors how ``pkg/controller/job`` (Kubernetes v1.36) counts: a pod that still has the
tracking finalizer is not in the status yet. Pods that the status counts may be gone.
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
    """The pods of a Job that have ended, those that are gone included.

    Args:
        job: The Job, as it came in.
        family: Its pods then.
        cluster: The cluster.

    Attributes:
        completed: The indexes that have succeeded, as its status tells.
        failed_for_good: Those that are not tried again.
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
        """The next index that may need pods; None if this one itself may."""
        end = self.completed.end_of(index)
        return self.failed_for_good.end_of(index) if end is None else end

    def succeeded(self, family: Family) -> int:
        """How many pods have ended well by now."""
        return self._succeeded + len(family.succeeded)

    def failed(self, family: Family) -> int:
        """How many pods have ended badly by now."""
        return self._failed + len(family.failed)


def is_finished(job: Job) -> bool:
    """Whether a Job's status says that it is over, so that nothing is left to do."""
    return _has(job, "Complete", "Failed")


def is_ending(job: Job) -> bool:
    """Whether it is decided how a Job ends, so that its running pods are deleted."""
    return _has(job, "SuccessCriteriaMet", "FailureTarget")


def index_of(pod: Pod) -> int | None:
    """The index of an Indexed Job that a pod is for."""
    return parse_index(pod.metadata.annotations.get(_INDEX, ""))


def _gone(total: int, present: list[Pod], uncounted: tuple[str, ...]) -> int:
    """The number of pods that the status counts and that are gone."""
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
