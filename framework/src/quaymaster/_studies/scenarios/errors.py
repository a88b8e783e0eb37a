"""The errors of scenario files."""

from collections.abc import Iterable

from quaymaster._base.errors import Problem, QuaymasterError

__all__ = ["ScenarioErrors"]


class ScenarioErrors(QuaymasterError, ValueError):
    """Scenario files are invalid; the error lists all their mistakes.

    Attributes:
        problems: One `Problem` per mistake.
    """

    def __init__(self, problems: Iterable[Problem]) -> None:
        self.problems = tuple(problems)
        super().__init__("\n".join(map(str, self.problems)))
