"""The errors of experiments."""

from collections.abc import Iterable

from quaymaster._base.errors import Problem, QuaymasterError

__all__ = ["ExperimentErrors", "InterferenceError"]


class ExperimentErrors(QuaymasterError, ValueError):
    """An experiment file is invalid; the error lists all its mistakes.

    Attributes:
        problems: One `Problem` per mistake.
    """

    def __init__(self, problems: Iterable[Problem]) -> None:
        self.problems = tuple(problems)
        super().__init__("\n".join(map(str, self.problems)))


class InterferenceError(QuaymasterError, ValueError):
    """A model of interference has returned a speed that is not from 0 to 1.

    Attributes:
        model: The name of its class.
        speed: The speed.
    """

    def __init__(self, model: str, speed: float) -> None:
        super().__init__(f"{model}.speed: expected a number from 0 to 1, got {speed}")
        self.model = model
        self.speed = speed
