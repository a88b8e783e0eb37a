"""How calls wait for their answers."""

from collections.abc import Callable
from typing import TypeAlias

from quaymaster._clusters.driver.frames import Answered

__all__ = ["Ask", "WaitFor", "never_in_a_task"]

Ask: TypeAlias = Callable[[Callable[[Answered], None]], None]
"""Asks for something; is given what takes the answer, on any thread."""

WaitFor: TypeAlias = Callable[[Ask], Answered | None]
"""Waits for an answer if a task is under way here; else returns None, unasked."""


def never_in_a_task(_ask: Ask) -> None:
    """Return None: there are no tasks, so each call blocks its thread."""
