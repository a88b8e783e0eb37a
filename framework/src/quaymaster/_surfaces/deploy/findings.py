"""What a check of the doctor finds."""

import enum

import attrs

from quaymaster._surfaces.deploy.rights import Need

__all__ = ["Finding", "State", "fine", "missing", "worrying"]


class State(enum.StrEnum):
    """How it stands."""

    OK = "ok"
    WARNING = "warning"
    MISSING = "missing"


@attrs.frozen
class Finding:
    """One thing that was looked at.

    Attributes:
        check: What it belongs to, in a word.
        state: How it stands.
        text: What was found, and what was expected.
        need: The right that is missing, if it is one.
    """

    check: str
    state: State
    text: str
    need: Need | None = None


def fine(check: str, text: str) -> Finding:
    """Nothing is wrong."""
    return Finding(check, State.OK, text)


def worrying(check: str, text: str) -> Finding:
    """A scheduler would run, and yet something may be wrong."""
    return Finding(check, State.WARNING, text)


def missing(check: str, text: str) -> Finding:
    """A scheduler would not do its work."""
    return Finding(check, State.MISSING, text)
