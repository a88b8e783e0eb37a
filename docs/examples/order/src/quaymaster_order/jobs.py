"""What orders read of a pod: its size, its requested time, when it was created."""

import math
from collections.abc import Sequence

import attrs
from quaymaster import Pod
from quaymaster.objects import pod_requests

__all__ = [
    "REQUESTED_SECONDS",
    "SUBMITTED_SECONDS",
    "BatchJob",
    "has_other_key",
    "requested_seconds",
]

REQUESTED_SECONDS = "batch.quaymaster.io/requested-seconds"
"""The annotation with the time that a pod may need at most, in seconds."""

SUBMITTED_SECONDS = "batch.quaymaster.io/submitted-seconds"
"""The annotation with the submit time of a job in its trace, in seconds."""


@attrs.frozen(kw_only=True)
class BatchJob:
    """A pod, or the pods of a PodGroup, that waits for its turn.

    Attributes:
        pod: The pod; of a PodGroup, the one that arrived first.
        number: Its number in the order of arrival.
        created: When it was created, in seconds since the Unix epoch.
        submitted: The same in seconds since the scheduler started; or the annotation
            with the time in a trace.
        requested_seconds: How long it may run; infinite if it does not say.
        cpus: The CPUs that it requests.
        priority: Its priority.
        members: The jobs of the single pods of a PodGroup, in the order of arrival.
    """

    pod: Pod
    number: int
    created: float
    submitted: float
    requested_seconds: float
    cpus: float
    priority: int
    members: tuple["BatchJob", ...] = ()

    @property
    def parts(self) -> Sequence["BatchJob"]:
        """The jobs of its single pods."""
        return self.members or (self,)

    @classmethod
    def of(cls, pod: Pod, number: int, started: float, now: float) -> "BatchJob":
        """Return the job of a pod.

        Args:
            pod: The pod.
            number: Its number in the order of arrival.
            started: When the scheduler started.
            now: When the pod was first seen, for a pod without a creation time.
        """
        time = pod.metadata.creation_timestamp
        created = now if time is None else float(time)
        submitted = _positive(pod, SUBMITTED_SECONDS)
        return cls(
            pod=pod,
            number=number,
            created=created,
            submitted=max(0.0, created - started) if submitted is None else submitted,
            requested_seconds=requested_seconds(pod),
            cpus=pod_requests(pod).milli_cpu / 1000,
            priority=pod.priority,
        )

    def waited(self, now: float) -> float:
        """Return for how many seconds it has waited."""
        return max(0.0, now - self.created)


def requested_seconds(pod: Pod) -> float:
    """Return how long a pod may run: its annotation, else its deadline, else for ever.

    Args:
        pod: The pod; ``spec.activeDeadlineSeconds`` is its deadline.
    """
    seconds = _positive(pod, REQUESTED_SECONDS)
    if seconds is not None:
        return seconds
    deadline = pod.spec.active_deadline_seconds
    return math.inf if deadline is None else float(deadline)


def has_other_key(old: Pod, new: Pod) -> bool:
    """Whether a changed pod may have another key: its spec or annotations differ."""
    # Identity: mostly a change leaves both as they were.
    if old.spec is not new.spec and old.spec != new.spec:
        return True
    before, after = old.metadata.annotations, new.metadata.annotations
    return before is not after and before != after


def _positive(pod: Pod, annotation: str) -> float | None:
    """Return the number of an annotation; None if it is missing or is not above 0."""
    try:
        number = float(pod.metadata.annotations.get(annotation, ""))
    except ValueError:
        return None
    return number if 0 < number < math.inf else None
