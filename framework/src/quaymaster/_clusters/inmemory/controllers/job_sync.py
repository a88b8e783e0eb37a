"""One sync of a Job: what has ended is counted, and pods are created or deleted.

Mirrors ``syncJob``, ``manageJob`` and ``trackJobStatusAndRemoveFinalizers`` of
``pkg/controller/job/job_controller.go`` (Kubernetes v1.37).
"""

from collections.abc import Iterable
from typing import Final

from msgspec.structs import replace

from quaymaster._api.objects import Job, JobCondition, JobStatus, Pod, PodGroup, Time
from quaymaster._clusters.inmemory.access import ClusterAccess
from quaymaster._clusters.inmemory.controllers.deletion_order import deletion_order
from quaymaster._clusters.inmemory.controllers.families import Family
from quaymaster._clusters.inmemory.controllers.job_conditions import (
    condition_of,
    matching_success_rule,
    new_condition,
    with_condition,
)
from quaymaster._clusters.inmemory.controllers.job_creation import JobCreation
from quaymaster._clusters.inmemory.controllers.job_failures import Backoff, judge
from quaymaster._clusters.inmemory.controllers.job_indexes import (
    FAILURES,
    JobIndexes,
    failure_count,
    index_of,
)
from quaymaster._clusters.inmemory.controllers.job_pods import JobPods

__all__ = ["JobSync", "desired_pods"]

_FAILURE: Final = "FailureTarget"
_SUCCESS: Final = "SuccessCriteriaMet"


class JobSync:
    """One sync of a Job that is not finished.

    Args:
        cluster: The cluster.
        job: The Job.
        family: Its pods.
        pods: Which of them are counted.
        backoff: The failures since its last success, before this sync.
        group: The group of new pods; None if they have none.

    Attributes:
        backoff: The failures since its last success.
        retry_after: In how many seconds pods may be created; None if none waits.
    """

    def __init__(
        self,
        cluster: ClusterAccess,
        job: Job,
        family: Family,
        pods: JobPods,
        backoff: Backoff,
        group: PodGroup | None = None,
    ) -> None:
        self._group = group
        self._cluster = cluster
        self._now = cluster.clock.now()
        self._job = job
        self._family = family
        self._pods = pods
        self._status = job.status
        self._succeeded, self._failed = self._new_ends()
        # Before the ends are counted: counting empties both lists.
        self.backoff = backoff.after(self._succeeded, self._failed, self._now)
        self.retry_after: float | None = None

    def run(self) -> JobStatus:
        """Create and delete pods, and return the new status of the Job."""
        if self._status.start_time is None and not self._job.spec.suspend:
            self._status = replace(self._status, start_time=Time(self._now))
        failures = self._count_of(self._failed)
        # An end that is decided is never changed: the Job only waits for its pods
        # (``FailureTarget``, ``SuccessCriteriaMet``).
        end = self._earlier_end() or self._end_by_limits(failures)
        delayed: dict[int, Pod] = {}
        if self._pods.indexes is not None:
            self._note_indexes(self._pods.indexes)
            # The limits come before the success policy, as in ``syncJob``: a Job that
            # reaches both at once fails.
            end = end or self._end_by_indexes(self._pods.indexes)
            delayed = self._delayed(self._pods.indexes)
        if end is None:
            self._manage(delayed)
            end = self._end_by_completions()
            if end is None:
                self._note_suspension()
                # A failed pod counts only when the next one of its index has its count.
                if self._pods.indexes is not None:
                    delayed = self._delayed(self._pods.indexes)
        else:
            self._delete_active(is_failure=end.type == _FAILURE)
            delayed = {}
        self._count(delayed)
        self._finish(end)
        return self._counted_status()

    def _new_ends(self) -> tuple[list[Pod], list[Pod]]:
        """Return the pods that have succeeded and failed since the last sync."""
        succeeded: list[Pod] = []
        failed: list[Pod] = []
        indexes = self._pods.indexes
        for pod in self._pods.uncounted.values():
            # A pod with an index that the Job does not have counts neither way.
            if indexes is not None and not indexes.has(pod):
                continue
            (succeeded if pod.status.phase == "Succeeded" else failed).append(pod)
        return succeeded, failed

    def _count_of(self, failed: Iterable[Pod]) -> int:
        """Return how many failed pods the failure policy counts."""
        policy = self._job.spec.pod_failure_policy
        return sum(judge(policy, pod).counts for pod in failed)

    def _earlier_end(self) -> JobCondition | None:
        """Return the end that an earlier sync or the failure policy has decided."""
        end = condition_of(self._status.conditions, _SUCCESS) or condition_of(
            self._status.conditions, _FAILURE
        )
        if end is not None:
            return end
        for pod in self._failed:
            message = judge(self._job.spec.pod_failure_policy, pod).message
            if message:
                return self._failure("PodFailurePolicy", message)
        return None

    def _end_by_limits(self, failures: int) -> JobCondition | None:
        spec = self._job.spec
        limit = spec.backoff_limit or 0
        if self._status.failed + failures > limit or self._restarts_exceed(limit):
            return self._failure(
                "BackoffLimitExceeded", "Job has reached the specified backoff limit"
            )
        start, deadline = self._status.start_time, spec.active_deadline_seconds
        # Time does not pass for a suspended Job.
        if deadline is None or start is None or spec.suspend:
            return None
        if self._now - start < deadline:
            return None
        message = "Job was active longer than specified deadline"
        return self._failure("DeadlineExceeded", message)

    def _restarts_exceed(self, limit: int) -> bool:
        """Return whether the containers of running pods restarted too often."""
        if self._job.spec.template.spec.restart_policy != "OnFailure":
            return False
        pods = self._cluster.objects(Pod)
        # Pods that are being deleted may have restarted, too.
        running = (pods[key] for key in (*self._family.active, *self._family.leaving))
        restarts = sum(
            status.restart_count
            for pod in running
            for status in (
                *pod.status.init_container_statuses,
                *pod.status.container_statuses,
            )
        )
        # ``pastBackoffLimitOnFailure``: limits of 0 and 1 both end with the first
        # restart.
        return restarts >= max(limit, 1)

    def _note_indexes(self, indexes: JobIndexes) -> None:
        """Note the indexes that have succeeded, and those that have failed."""
        for pod in self._succeeded:
            indexes.add_completed(index_of(pod) or 0)
        limit = self._job.spec.backoff_limit_per_index
        if limit is None:
            return
        for pod in self._failed:
            verdict = judge(self._job.spec.pod_failure_policy, pod)
            is_over = verdict.counts and failure_count(pod, FAILURES) >= limit
            if verdict.fails_index or is_over:
                indexes.failed.add(index_of(pod) or 0)

    def _end_by_indexes(self, indexes: JobIndexes) -> JobCondition | None:
        spec, failed = self._job.spec, len(indexes.failed)
        if spec.backoff_limit_per_index is not None and failed:
            if spec.max_failed_indexes is not None and failed > spec.max_failed_indexes:
                return self._failure(
                    "MaxFailedIndexesExceeded",
                    "Job has exceeded the specified maximal number of failed indexes",
                )
            if failed + len(indexes.completed) >= indexes.completions:
                return self._failure("FailedIndexes", "Job has failed indexes")
        rule = matching_success_rule(self._job, indexes.completed)
        if rule is None:
            return None
        message = f"Matched rules at index {rule}"
        return new_condition(_SUCCESS, "SuccessPolicy", message, self._now)

    def _delayed(self, indexes: JobIndexes) -> dict[int, Pod]:
        """Return the failed pod of each index whose next pod is still missing."""
        delayed: dict[int, Pod] = {}
        if self._job.spec.backoff_limit_per_index is None:
            return delayed
        for pod in self._failed:
            index = index_of(pod) or 0
            # A next pod that is there already carries the count in its annotation, so
            # this one need not wait any longer.
            if not indexes.is_done(index) and index not in indexes.active:
                last = delayed.get(index)
                if last is None or failure_count(last) <= failure_count(pod):
                    delayed[index] = pod
        return delayed

    def _manage(self, delayed: dict[int, Pod]) -> None:
        """Delete surplus pods, or create missing ones."""
        active = len(self._family.active)
        parallelism = desired_pods(self._job, self._family, self._total_succeeded())
        surplus = active - parallelism
        indexes = self._pods.indexes
        if surplus > 0 or (indexes is not None and indexes.surplus):
            self._delete_surplus(surplus)
            return
        creation = JobCreation(
            self._cluster, self._job, self._family, self._pods, delayed, self._group
        )
        self.retry_after = creation.create(parallelism - active, self.backoff)

    def _delete_surplus(self, count: int) -> None:
        indexes, stored = self._pods.indexes, self._cluster.objects(Pod)
        victims: dict[str, Pod] = {}
        active = [stored[key] for key in self._family.active]
        order = deletion_order(active, self._now)
        if indexes is not None:
            kept: set[int] = set()
            # Of the pods of one index, the last in the order stays.
            for pod in reversed(order):
                index = index_of(pod)
                if index is None or index >= indexes.completions or index in kept:
                    victims[pod.key] = pod
                else:
                    kept.add(index)
        for pod in order:
            if len(victims) >= count:
                break
            victims[pod.key] = pod
        for pod in victims.values():
            # Settled before it is deleted: a pod that was too many counts neither as
            # failed nor as succeeded.
            self._pods.settle(pod)
            self._cluster.delete(stored[pod.key])

    def _delete_active(self, *, is_failure: bool) -> None:
        """Delete the pods of a Job whose end is decided.

        All of them count as failed if the Job has failed, and otherwise none.
        """
        stored = self._cluster.objects(Pod)
        active = list(self._family.active)
        members = [stored[key] for key in (*active, *self._family.leaving)]
        uncounted = self._pods.uncounted
        rest = [
            pod
            for pod in members
            # Pods that have ended are counted by `_count`, whatever the end.
            if not self._pods.is_settled(pod) and pod.metadata.uid not in uncounted
        ]
        if is_failure:
            indexes = self._pods.indexes
            counted = [pod for pod in rest if indexes is None or indexes.has(pod)]
            self._add_failed(self._count_of(counted))
        for pod in rest:
            self._pods.settle(pod)
        for key in active:
            self._cluster.delete(stored[key])

    def _count(self, delayed: dict[int, Pod]) -> None:
        """Count the pods that have ended, but those that another one must follow."""
        waiting = {pod.metadata.uid for pod in delayed.values()}
        # Counting would remove the pod, and with it the number of failures that the
        # next pod of its index copies.
        failed = [pod for pod in self._failed if pod.metadata.uid not in waiting]
        self._add_failed(self._count_of(failed))
        succeeded = self._total_succeeded()
        self._status = replace(self._status, succeeded=succeeded)
        for uid, pod in list(self._pods.uncounted.items()):
            if uid not in waiting:
                self._pods.settle(pod)
        self._succeeded, self._failed = [], []

    def _add_failed(self, count: int) -> None:
        if count:
            failed = self._status.failed + count
            self._status = replace(self._status, failed=failed)

    def _total_succeeded(self) -> int:
        if self._pods.indexes is not None:
            return len(self._pods.indexes.completed)
        return self._status.succeeded + len(self._succeeded)

    def _end_by_completions(self) -> JobCondition | None:
        succeeded, completions = self._total_succeeded(), self._job.spec.completions
        least = 1 if completions is None else completions
        # Running pods of a Job with enough completions are still waited for, as
        # upstream does.
        if self._family.active or succeeded < least:
            return None
        message = "Reached expected number of succeeded pods"
        return new_condition(_SUCCESS, "CompletionsReached", message, self._now)

    def _note_suspension(self) -> None:
        is_suspended = bool(self._job.spec.suspend)
        word = "suspended" if is_suspended else "resumed"
        condition = new_condition(
            "Suspended",
            f"Job{word.capitalize()}",
            f"Job {word}",
            self._now,
            status="True" if is_suspended else "False",
        )
        conditions = with_condition(self._status.conditions, condition)
        # Identity: they are the same object unless the condition has changed.
        if conditions is not self._status.conditions:
            # ``syncJob`` resets the start, so that the deadline does not run while a
            # Job is suspended.
            start = None if is_suspended else Time(self._now)
            self._status = replace(
                self._status, conditions=conditions, start_time=start
            )

    def _finish(self, end: JobCondition | None) -> None:
        """Add the condition of the end, and the final one once all pods are gone."""
        if end is None:
            return
        conditions = self._status.conditions
        if condition_of(conditions, end.type) is None:
            conditions = (*conditions, end)
        # The final condition waits for the last pod, so that a Job that is Complete
        # uses no resources.
        if not self._family.leaving:
            final = "Failed" if end.type == _FAILURE else "Complete"
            last = new_condition(final, end.reason, end.message, self._now)
            conditions = with_condition(conditions, last)
            if final == "Complete":
                time = last.last_transition_time
                self._status = replace(self._status, completion_time=time)
        self._status = replace(self._status, conditions=conditions)

    def _counted_status(self) -> JobStatus:
        indexes = self._pods.indexes
        status = replace(
            self._status,
            active=len(self._family.active),
            ready=len(self._pods.ready),
            terminating=len(self._family.leaving),
        )
        if indexes is None:
            return status
        has_failed = self._job.spec.backoff_limit_per_index is not None
        return replace(
            status,
            completed_indexes=str(indexes.completed),
            failed_indexes=str(indexes.failed) if has_failed else None,
        )

    def _failure(self, reason: str, message: str) -> JobCondition:
        return new_condition(_FAILURE, reason, message, self._now)


def desired_pods(job: Job, family: Family, succeeded: int) -> int:
    """Return the number of pods that may run at once now."""
    parallelism = 1 if job.spec.parallelism is None else job.spec.parallelism
    if job.spec.suspend:
        return 0
    if job.spec.completions is not None:
        return max(0, min(parallelism, job.spec.completions - succeeded))
    # Without completions, the first pod that succeeds ends the Job.
    return len(family.active) if succeeded else parallelism
