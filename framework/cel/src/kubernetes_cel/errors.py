"""The errors of expressions."""

__all__ = [
    "CelCompilationError",
    "CelCostError",
    "CelEndError",
    "CelError",
    "CelEvaluationError",
    "CelPanicError",
    "CelVariableError",
    "CelVersionError",
]

_LONGEST_SNIPPET = 16_384
_WIDE_DOT, _WIDE_MARK = "\uff0e", "\uff3e"
"""A dot and a caret that are as wide as Chinese characters."""


class CelError(Exception):
    """The base of all errors that this package raises on purpose."""


class CelCompilationError(CelError, ValueError):
    """An expression cannot be compiled.

    Attributes:
        problem: What is wrong with it.
        line: The line of the place, from 1; 0 if the whole expression is meant.
        column: The column of the place, from 1; 0 if the whole expression is meant.
        source: That line of the expression.
    """

    def __init__(
        self, problem: str, line: int = 0, column: int = 0, source: str = ""
    ) -> None:
        place = f"{line}:{column}: " if line else ""
        super().__init__(f"compilation failed: {place}{problem}")
        self.problem = problem
        self.line = line
        self.column = column
        self.source = source

    @property
    def detail(self) -> str:
        """The error in upstream's words, which show the place in lines of their own.

        Mirrors ``ToDisplayString`` of ``common/error.go`` (cel-go v0.29).
        """
        if not self.line:
            return self.problem
        text = f"compilation failed: ERROR: <input>:{self.line}:{self.column}: "
        text += self.problem
        if len(self.source.encode()) > _LONGEST_SNIPPET:
            return text
        before = self.column - 1
        dots = "".join(map(_dot, self.source[:before]))
        mark = _WIDE_MARK if _is_wide(self.source[before : before + 1]) else "^"
        line = self.source.replace("\t", " ")
        return f"{text}\n | {line}\n | {dots}{mark}"


class CelEvaluationError(CelError):
    """An expression has no value for these variables."""


class CelEndError(CelEvaluationError):
    """An error that ends an evaluation: ``&&`` and ``||`` do not absorb it."""


class CelPanicError(CelEndError):
    """An evaluation in which upstream's code panics."""

    def __init__(self) -> None:
        super().__init__("internal error: a function received an invalid argument")


class CelCostError(CelEndError):
    """An evaluation exceeded its cost limit and was ended."""

    def __init__(self) -> None:
        super().__init__("operation cancelled: actual cost limit exceeded")


class CelVariableError(CelError, ValueError):
    """An evaluation got other variables than the environment declares.

    Attributes:
        missing: The declared variables that have no value.
        unknown: The variables that are not declared.
    """

    def __init__(self, missing: list[str], unknown: list[str]) -> None:
        parts = [
            f"{problem} {', '.join(map(repr, names))}"
            for problem, names in (
                ("no value for", missing),
                ("undeclared", unknown),
            )
            if names
        ]
        super().__init__(f"variables: {'; '.join(parts)}")
        self.missing = missing
        self.unknown = unknown


class CelVersionError(CelError, ValueError):
    """A version of Kubernetes is not supported.

    Attributes:
        version: The version.
    """

    def __init__(self, version: str, supported: tuple[str, ...]) -> None:
        super().__init__(
            f"version: expected one of {', '.join(supported)}, got {version!r}"
        )
        self.version = version


def _is_wide(character: str) -> bool:
    return len(character.encode(errors="replace")) > 1


def _dot(character: str) -> str:
    return _WIDE_DOT if _is_wide(character) else "."
