"""The error about workloads that cannot be played on shared columns."""

from quaymaster._base.errors import QuaymasterError

__all__ = ["UnsupportedWorkloadError"]


class UnsupportedWorkloadError(QuaymasterError):
    """A workload has something that `SchedulerVectorEnv` does not simulate.

    Attributes:
        subject: What cannot be simulated: a pod's key, or another part of the workload.
    """

    def __init__(self, subject: str, reason: str) -> None:
        super().__init__(
            f"{subject}: {reason}; SchedulerVectorEnv does not simulate this: "
            "use SchedulingEnv"
        )
        self.subject = subject
