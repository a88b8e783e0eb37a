"""Jobs that fail while a change is simulated."""

from collections.abc import Iterator

from quaymaster._api.objects import Job
from quaymaster._clusters.inmemory.cluster import InMemoryCluster

__all__ = ["FailedJobs"]


class FailedJobs:
    """Finds the Jobs that have failed since it looked last.

    A Job that has failed makes no pods, so none of them is pending.

    Args:
        cluster: The cluster.
    """

    def __init__(self, cluster: InMemoryCluster) -> None:
        self._cluster = cluster
        self._seen: set[str] = set()

    def take(self) -> tuple[str, ...]:
        """Return a sentence about each Job that has failed since the last call."""
        return tuple(self._sentences())

    def _sentences(self) -> Iterator[str]:
        for job in self._cluster.list(Job).items:
            for condition in job.status.conditions:
                is_failure = condition.type == "Failed" and condition.status == "True"
                if is_failure and job.metadata.uid not in self._seen:
                    self._seen.add(job.metadata.uid)
                    why = f"{condition.reason}: {condition.message}"
                    yield f"job {job.key} failed and makes no more pods ({why})"
