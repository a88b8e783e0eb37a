"""The errors of expressions."""

from collections.abc import Sequence

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
        problem: What is wrong with it, at the first place.
        line: The line of the place, from 1; 0 if the whole expression is meant.
        column: The column of the place, from 1; 0 if the whole expression is meant.
        source: That line of the expression.
        further: The other errors of the expression, by place.
        omitted: The number of errors beyond those.
    """

    def __init__(
        self,
        problem: str,
        line: int = 0,
        column: int = 0,
        source: str = "",
        *,
        further: Sequence["CelCompilationError"] = (),
        omitted: int = 0,
    ) -> None:
        self.problem = problem
        self.line = line
        self.column = column
        self.source = source
        self.further = tuple(further)
        self.omitted = omitted
        texts = [each.located for each in (self, *further)]
        if omitted:
            texts.append(f"{omitted} more errors")
        super().__init__(f"compilation failed: {'; '.join(texts)}")

    @property
    def located(self) -> str:
        """The first error with its place, on one line."""
        place = f"{self.line}:{self.column}: " if self.line else ""
        return f"{place}{self.problem}"

    @property
    def detail(self) -> str:
        """The errors in upstream's words, which show the places in lines of their own.

        Mirrors ``ToDisplayString`` of ``common/errors.go`` (cel-go v0.29).
        """
        if not self.line:
            return self.problem
        texts = [_display(each) for each in (self, *self.further)]
        if self.omitted:
            texts.append(f"{self.omitted} more errors were truncated")
        return "compilation failed: " + "\n".join(texts)


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


def _display(error: CelCompilationError) -> str:
    """Return one error with its place, as ``common/error.go`` does."""
    text = f"ERROR: <input>:{error.line}:{error.column}: {error.problem}"
    # Upstream leaves the snippet out if the line is too long.
    if len(error.source.encode()) > _LONGEST_SNIPPET:
        return text
    before = error.column - 1
    dots = "".join(map(_dot, error.source[:before]))
    mark = _WIDE_MARK if _is_wide(error.source[before : before + 1]) else "^"
    # One column for each character, so that the mark below is at the right place.
    line = error.source.replace("\t", " ")
    return f"{text}\n | {line}\n | {dots}{mark}"


def _is_wide(character: str) -> bool:
    # As upstream, which takes each character of several bytes for a wide one.
    return len(character.encode(errors="replace")) > 1


def _dot(character: str) -> str:
    return _WIDE_DOT if _is_wide(character) else "."
