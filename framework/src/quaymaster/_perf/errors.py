"""What can be wrong with a benchmark file, or happen during a workload."""

from collections.abc import Iterable

from quaymaster._errors import Problem, QuaymasterError

__all__ = ["PerfErrors", "UnsupportedError", "WorkloadError"]


class PerfErrors(QuaymasterError, ValueError):
    """Benchmark files that cannot be used, with everything that is wrong with them.

    Attributes:
        problems: One `Problem` per mistake.
    """

    def __init__(self, problems: Iterable[Problem]) -> None:
        self.problems = tuple(problems)
        super().__init__("\n".join(map(str, self.problems)))


class UnsupportedError(QuaymasterError):
    """A workload that needs something which the product does not have."""


class WorkloadError(QuaymasterError):
    """A workload that could not be run to its end."""
