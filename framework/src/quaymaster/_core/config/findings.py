"""Mistakes in a document, collected while it is read."""

from collections.abc import Iterable

import msgspec
from msgspec.structs import replace

from quaymaster._base.errors import Problem
from quaymaster._base.raised import (
    class_place,
    describe_exception,
    exception_place,
    located,
)
from quaymaster._core.config.naming import join_path, show

__all__ = [
    "MISSING",
    "BrokenClassError",
    "Finding",
    "Findings",
    "FindingsError",
    "Missing",
]


class Finding(msgspec.Struct, frozen=True):
    """One mistake.

    Attributes:
        path: Its path, from the value that was checked.
        message: The message about it.
        got: For a value of the wrong type: the value, boxed.
    """

    path: str
    message: str
    got: tuple[object, ...] = ()

    @classmethod
    def wrong_type(cls, expected: str, got: object) -> "Finding":
        """Return the finding for a value of a wrong type."""
        return cls("", f"expected {expected}, got {show(got)}", (got,))

    def below(self, path: str) -> "Finding":
        """Return the same finding with the path of an enclosing value in front."""
        return replace(self, path=join_path(path, self.path))


class Missing:
    """The type of `MISSING`, which replaces a value that could not be built."""


MISSING = Missing()


class BrokenClassError(Exception):
    """A class failed while it checked a value; caught inside this package.

    Attributes:
        problem: The class, its part, the error, and the place.
    """

    def __init__(self, kind: type, part: str, cause: BaseException) -> None:
        place = "" if exception_place(cause) else class_place(kind)
        failure = located(describe_exception(cause), place)
        self.problem = f"{kind.__name__}: {part} failed: {failure}"
        super().__init__(self.problem)


class FindingsError(Exception):
    """A value has mistakes; caught inside this package.

    Attributes:
        findings: The mistakes.
        partial: The value without its wrong parts, for further checks, or `MISSING`.
    """

    def __init__(
        self, findings: Iterable[Finding], partial: object | Missing = MISSING
    ) -> None:
        self.findings = tuple(findings)
        self.partial = partial
        super().__init__("; ".join(f.message for f in self.findings))


class Findings:
    """Collects the mistakes and the warnings of one configuration."""

    def __init__(self, source: str) -> None:
        self.source = source
        self._problems: list[Problem] = []
        self._warnings: list[Problem] = []

    @property
    def problems(self) -> tuple[Problem, ...]:
        """The mistakes, each once."""
        # The default sets are merged into each profile, so that a mistake in them is
        # found once for every profile.
        return tuple(dict.fromkeys(self._problems))

    @property
    def warnings(self) -> tuple[Problem, ...]:
        """The probable mistakes, each once."""
        return tuple(dict.fromkeys(self._warnings))

    def add(self, path: str, message: str, source: str | None = None) -> None:
        """Add a mistake."""
        self._problems.append(self._problem(path, message, source))

    def extend(self, path: str, findings: Iterable[Finding]) -> None:
        """Add mistakes of the value at a path."""
        for finding in findings:
            self.add(join_path(path, finding.path), finding.message)

    def warn(self, path: str, message: str, source: str | None = None) -> None:
        """Add a probable mistake."""
        self._warnings.append(self._problem(path, message, source))

    def __len__(self) -> int:
        """Return the number of mistakes so far; equal mistakes count each time."""
        return len(self._problems)

    def _problem(self, path: str, message: str, source: str | None) -> Problem:
        where = self.source if source is None else source
        return Problem(where=where, path=path, message=message)
