"""What a check of a package finds."""

import enum
from collections.abc import Sequence

import attrs

__all__ = ["Finding", "Level"]


class Level(enum.StrEnum):
    """How much a finding weighs."""

    ERROR = "error"
    """It does not work, or will not for others."""

    WARNING = "warning"
    """It works, but those who use it would miss something."""


@attrs.frozen(kw_only=True)
class Finding:
    """One thing that is not as it should be.

    Attributes:
        level: How much it weighs.
        check: The name of the check.
        where: What it is about: a field of the metadata, a plugin, a hook.
        message: What was found and what was expected.
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
        """Make a finding that keeps the package from working."""
        return cls(level=Level.ERROR, check=check, where=where, message=message)

    @classmethod
    def warning(cls, check: str, where: str, message: str) -> "Finding":
        """Make a finding that the package works with."""
        return cls(level=Level.WARNING, check=check, where=where, message=message)
