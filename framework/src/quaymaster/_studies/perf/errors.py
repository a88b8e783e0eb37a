"""The errors of benchmark files and workloads."""

from collections.abc import Iterable

from quaymaster._base.errors import Problem, QuaymasterError

__all__ = ["PerfErrors", "WorkloadError"]


class PerfErrors(QuaymasterError, ValueError):
    """Benchmark files are invalid; the error lists all their mistakes.

    Attributes:
        problems: One `Problem` per mistake.
    """

    def __init__(self, problems: Iterable[Problem]) -> None:
        self.problems = tuple(problems)
        super().__init__("\n".join(map(str, self.problems)))


class WorkloadError(QuaymasterError):
    """A workload could not be completed."""
