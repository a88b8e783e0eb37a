"""The error of autoscalers and their files."""

from quaymaster._base.errors import QuaymasterError

__all__ = ["AutoscalerError"]


class AutoscalerError(QuaymasterError, ValueError):
    """An autoscaler that cannot work as it is described.

    Attributes:
        where: The place: a file, and what of it.
        problem: What is wrong there.
    """

    def __init__(self, where: str, problem: str) -> None:
        super().__init__(f"{where}: {problem}")
        self.where = where
        self.problem = problem
