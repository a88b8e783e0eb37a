"""Collects the problems of one object."""

from collections.abc import Iterable, Iterator, Sequence

from quaymaster._api.objects.syntax import Form
from quaymaster._base.errors import Problem

__all__ = ["Report"]


class Report:
    """Collects problems, each with its path."""

    __slots__ = ("_problems",)

    def __init__(self) -> None:
        self._problems: list[tuple[str, str]] = []

    def __bool__(self) -> bool:
        return bool(self._problems)

    def __iter__(self) -> Iterator[tuple[str, str]]:
        """Yield the problems: path and message of each."""
        return iter(self._problems)

    def add(self, path: str, message: str) -> None:
        """Add a problem."""
        self._problems.append((path, message))

    def expect(self, is_right: bool, path: str, expected: str, got: object) -> None:
        """Add a problem unless a value is as expected."""
        if not is_right:
            shown = got if isinstance(got, int | float) else repr(str(got))
            self._problems.append((path, f"expected {expected}, got {shown}"))

    def one_of(self, value: str, allowed: Sequence[str], path: str) -> None:
        """Add a problem unless a text is an allowed one."""
        self.expect(value in allowed, path, " or ".join(filter(None, allowed)), value)

    def formed(self, text: str, form: Form, path: str) -> None:
        """Add a problem unless a text has a form."""
        if not form.fits(text):
            self.expect(False, path, form.expected, text)

    def named(self, name: str, form: Form, path: str) -> None:
        """Add a problem unless there is a name, and it has a form."""
        if name:
            self.formed(name, form, path)
        else:
            self.add(path, "expected a name, got none")

    def in_range(self, number: int | None, path: str, least: int, most: int) -> None:
        """Add a problem if a number is set but is too small or too large."""
        if number is not None and not least <= number <= most:
            self.expect(False, path, f"a number from {least} to {most}", number)

    def at_least(self, number: int | None, path: str, least: int = 0) -> None:
        """Add a problem if a number is set but is too small."""
        if number is not None and number < least:
            self.expect(False, path, f"a number of at least {least}", number)

    def unique(self, names: Iterable[tuple[str, str]], what: str) -> None:
        """Add a problem for each path whose name occurred before."""
        seen: set[str] = set()
        for path, name in names:
            if name in seen:
                self.add(path, f"expected a {what} of its own, got {name!r} again")
            seen.add(name)

    def include(self, other: "Report", prefix: str) -> None:
        """Add the problems of a part."""
        self._problems += [(f"{prefix}.{path}", message) for path, message in other]

    def problems(self, where: str) -> tuple[Problem, ...]:
        """Return all problems, with the place of the object."""
        return tuple(
            Problem(where=where, path=path, message=message)
            for path, message in self._problems
        )
