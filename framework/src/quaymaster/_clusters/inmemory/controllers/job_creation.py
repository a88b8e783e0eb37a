"""Creates the missing pods of a Job.

Mirrors the second half of ``manageJob`` of ``pkg/controller/job/job_controller.go``
(Kubernetes v1.37).
"""

from collections.abc import Mapping
from typing import Final

from quaymaster._api.objects import Job, Pod, PodGroup
from quaymaster._clusters.inmemory.access import ClusterAccess
from quaymaster._clusters.inmemory.controllers.families import Family
from quaymaster._clusters.inmemory.controllers.job_failures import (
    Backoff,
    backoff_seconds,
    finished_at,
    judge,
)
from quaymaster._clusters.inmemory.controllers.job_group_objects import in_group
from quaymaster._clusters.inmemory.controllers.job_indexes import (
    FAILURES,
    IGNORED_FAILURES,
    INDEX,
    JobIndexes,
    failure_count,
)
from quaymaster._clusters.inmemory.controllers.job_pods import (
    JobPods,
    replaces_failed_only,
)
from quaymaster._clusters.inmemory.controllers.pods import add_pods, pod_of_template
from quaymaster._clusters.inmemory.names import limit_base

__all__ = ["JobCreation"]

_NAME_LABELS: Final = ("job-name", "batch.kubernetes.io/job-name")
_UID_LABELS: Final = ("controller-uid", "batch.kubernetes.io/controller-uid")


class JobCreation:
    """Creates pods of one Job.

    Args:
        cluster: The cluster.
        job: The Job.
        family: Its pods.
        pods: Which of them are counted.
        delayed: The failed pods that the next ones of their indexes must follow.
        group: The group of new pods; None if they have none.
    """

    def __init__(
        self,
        cluster: ClusterAccess,
        job: Job,
        family: Family,
        pods: JobPods,
        delayed: Mapping[int, Pod],
        group: PodGroup | None = None,
    ) -> None:
        self._cluster = cluster
        self._job = job
        self._group = group
        self._family = family
        self._pods = pods
        self._delayed = delayed

    def create(self, missing: int, backoff: Backoff) -> float | None:
        """Create pods, unless they must wait.

        Args:
            missing: How many more pods may run.
            backoff: The failures since the last success of the Job.

        Returns:
            In how many seconds the pods may be created; None if none waits.
        """
        # Terminating pods still count as running under this policy, so the new ones
        # must wait for them.
        if replaces_failed_only(self._job):
            missing -= len(self._family.leaving)
        if missing <= 0:
            return None
        # With a limit per index, each index has its own backoff (`_seconds_left`).
        if self._job.spec.backoff_limit_per_index is None:
            seconds = backoff.seconds_left(self._cluster.clock.now())
            if seconds > 0:
                return seconds
        if self._pods.indexes is None:
            add_pods(self._cluster, self._job, self._pod(), missing)
            return None
        return self._create_indexed(self._pods.indexes, missing)

    def _create_indexed(self, indexes: JobIndexes, count: int) -> float | None:
        waits: list[float] = []
        due: list[int] = []
        for index in indexes.lowest_open(count):
            seconds = self._seconds_left(index)
            if seconds > 0:
                waits.append(seconds)
            else:
                due.append(index)
        for number, index in enumerate(due):
            if not add_pods(self._cluster, self._job, self._pod(index)):
                # `add_pods` has recorded one missing pod; the later indexes were not
                # tried.
                self._cluster.shortfalls.add(self._job, len(due) - number - 1)
                break
        # The pods that were created lead to another sync, which waits for the others.
        return None if due else min(waits, default=None)

    def _seconds_left(self, index: int) -> float:
        """Return how long the next pod of an index must wait."""
        last = self._delayed.get(index)
        if last is None:
            return 0.0
        now = self._cluster.clock.now()
        return backoff_seconds(failure_count(last) + 1, finished_at(last), now)

    def _pod(self, index: int | None = None) -> Pod:
        job, template = self._job, self._job.spec.template
        if self._group is not None:
            template = in_group(template, self._group)
        # Both the old labels and those with a prefix, as upstream sets both for old
        # clients.
        labels = dict.fromkeys(_NAME_LABELS, job.name)
        labels |= dict.fromkeys(_UID_LABELS, job.uid) | template.metadata.labels
        if index is None:
            return pod_of_template(job, template, labels=labels)
        number = {INDEX: str(index)}
        return pod_of_template(
            job,
            template,
            # The index stays in the name when the Job's name is long: the Job's name is
            # cut instead.
            base=limit_base(job.name, f"-{index}-"),
            labels=labels | number,
            annotations=number | self._failures_before(index),
        )

    def _failures_before(self, index: int) -> dict[str, str]:
        """Return the annotations that count the earlier failures of an index."""
        if self._job.spec.backoff_limit_per_index is None:
            return {}
        last, counted, ignored = self._delayed.get(index), 0, 0
        if last is not None:
            counts = judge(self._job.spec.pod_failure_policy, last).counts
            counted = failure_count(last, FAILURES) + counts
            # A failure that is ignored has its own counter: it delays the next pod, but
            # does not bring the limit nearer.
            ignored = failure_count(last, IGNORED_FAILURES) + (not counts)
        annotations = {FAILURES: str(counted)}
        return annotations | ({IGNORED_FAILURES: str(ignored)} if ignored else {})
