"""Mistakes, as they are found while a document is read."""

from collections.abc import Iterable

import attrs

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


@attrs.frozen
class Finding:
    """One mistake.

    Attributes:
        path: Where it is, from the value that was looked at.
        message: What to say about it.
        got: For a value of the wrong type: the value, boxed.
    """

    path: str
    message: str
    got: tuple[object, ...] = ()

    @classmethod
    def wrong_type(cls, expected: str, got: object) -> "Finding":
        """A value that is not of the type that belongs there."""
        return cls("", f"expected {expected}, got {show(got)}", (got,))

    def below(self, path: str) -> "Finding":
        """The same finding, its path extended by that of a value around it."""
        return attrs.evolve(self, path=join_path(path, self.path))


class Missing:
    """The type of `MISSING`, which stands for a value that could not be made."""


MISSING = Missing()


class BrokenClassError(Exception):
    """A class fails where it should check a value; caught inside this package.

    Attributes:
        problem: Which class, which part of it, how it failed, and where.
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
        partial: The value without its wrong parts, so that more mistakes can be
            found in it, or `MISSING`.
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
        return tuple(dict.fromkeys(self._problems))

    @property
    def warnings(self) -> tuple[Problem, ...]:
        """What is probably a mistake, each once."""
        return tuple(dict.fromkeys(self._warnings))

    def add(self, path: str, message: str, source: str | None = None) -> None:
        """Note a mistake."""
        self._problems.append(self._problem(path, message, source))

    def extend(self, path: str, findings: Iterable[Finding]) -> None:
        """Note mistakes that were found in the value at a path."""
        for finding in findings:
            self.add(join_path(path, finding.path), finding.message)

    def warn(self, path: str, message: str, source: str | None = None) -> None:
        """Note what is probably a mistake."""
        self._warnings.append(self._problem(path, message, source))

    def __len__(self) -> int:
        """How many mistakes were noted so far; equal ones count each time."""
        return len(self._problems)

    def _problem(self, path: str, message: str, source: str | None) -> Problem:
        where = self.source if source is None else source
        return Problem(where=where, path=path, message=message)
