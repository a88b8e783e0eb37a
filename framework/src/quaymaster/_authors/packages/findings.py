"""The findings of a check of a package."""

import enum
from collections.abc import Sequence

import attrs

__all__ = ["Finding", "Level"]


class Level(enum.StrEnum):
    """The severity of a finding."""

    ERROR = "error"
    """The package does not work, or will not for others."""

    WARNING = "warning"
    """The package works, but its users would miss something."""


@attrs.frozen(kw_only=True)
class Finding:
    """A problem of a package.

    Attributes:
        level: The severity.
        check: The name of the check.
        where: The subject: a field of the metadata, a plugin, a hook.
        message: The problem and the expectation.
        example: The smallest cluster that shows it, an object a line, if there is one.
    """

    level: Level
    check: str
    where: str
    message: str
    example: Sequence[str] = ()

    def __str__(self) -> str:
        return f"{self.level}: [{self.check}] {self.where}: {self.message}"

    @classmethod
    def error(cls, check: str, where: str, message: str) -> "Finding":
        """Make a finding that prevents the package from working."""
        return cls(level=Level.ERROR, check=check, where=where, message=message)

    @classmethod
    def warning(cls, check: str, where: str, message: str) -> "Finding":
        """Make a finding with which the package still works."""
        return cls(level=Level.WARNING, check=check, where=where, message=message)
