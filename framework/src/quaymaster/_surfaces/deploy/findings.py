"""The findings of the doctor's checks."""

import enum

import attrs

from quaymaster._surfaces.deploy.rights import Need

__all__ = ["Finding", "State", "fine", "missing", "worrying"]


class State(enum.StrEnum):
    """The severity of a finding."""

    OK = "ok"
    WARNING = "warning"
    MISSING = "missing"


@attrs.frozen
class Finding:
    """The result of a check.

    Attributes:
        check: The check, as one word.
        state: The severity.
        text: A message about the finding, and what was expected.
        need: The missing right, if it is about one.
    """

    check: str
    state: State
    text: str
    need: Need | None = None


def fine(check: str, text: str) -> Finding:
    """Create a finding without a problem."""
    return Finding(check, State.OK, text)


def worrying(check: str, text: str) -> Finding:
    """Create a finding that may be a problem; a scheduler would run."""
    return Finding(check, State.WARNING, text)


def missing(check: str, text: str) -> Finding:
    """Create a finding that prevents a scheduler from working."""
    return Finding(check, State.MISSING, text)
