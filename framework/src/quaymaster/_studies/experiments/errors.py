"""The errors of experiments."""

from collections.abc import Iterable

from quaymaster._base.errors import Problem, QuaymasterError

__all__ = ["ExperimentErrors"]


class ExperimentErrors(QuaymasterError, ValueError):
    """An experiment file is invalid; the error lists all its mistakes.

    Attributes:
        problems: One `Problem` per mistake.
    """

    def __init__(self, problems: Iterable[Problem]) -> None:
        self.problems = tuple(problems)
        super().__init__("\n".join(map(str, self.problems)))
