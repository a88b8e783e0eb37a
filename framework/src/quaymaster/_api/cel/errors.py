"""What can go wrong with an expression."""

from quaymaster._base.errors import QuaymasterError

__all__ = [
    "CelCompilationError",
    "CelCostError",
    "CelEndError",
    "CelEvaluationError",
    "CelPanicError",
]


class CelCompilationError(ValueError, QuaymasterError):
    """An expression that cannot be compiled.

    Attributes:
        problem: What is wrong with it.
        line: The line of the place, from 1; 0 if the whole expression is meant.
        column: The column of the place, from 1; 0 if the whole expression is meant.
    """

    def __init__(self, problem: str, line: int = 0, column: int = 0) -> None:
        place = f"{line}:{column}: " if line else ""
        super().__init__(f"compilation failed: {place}{problem}")
        self.problem = problem
        self.line = line
        self.column = column


class CelEvaluationError(QuaymasterError):
    """An expression that has no value for what it was evaluated on."""


class CelEndError(CelEvaluationError):
    """An error that ends an evaluation: it is not absorbed by ``&&`` and ``||``."""


class CelPanicError(CelEndError):
    """An evaluation in which upstream's code panics."""

    def __init__(self) -> None:
        super().__init__("internal error: a function got what it cannot take")


class CelCostError(CelEndError):
    """An evaluation that was ended because it had become too dear."""

    def __init__(self) -> None:
        super().__init__("operation cancelled: actual cost limit exceeded")
