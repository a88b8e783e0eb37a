"""The types with which calls wait for their responses."""

from collections.abc import Callable
from typing import TypeAlias

from quaymaster._clusters.driver.frames import Response

__all__ = ["Ask", "WaitFor", "never_in_a_task"]

Ask: TypeAlias = Callable[[Callable[[Response], None]], None]
"""Sends a request; its argument receives the response, on any thread."""

WaitFor: TypeAlias = Callable[[Ask], Response | None]
"""Waits for a response inside a task; outside one, sends nothing and returns None."""


def never_in_a_task(_ask: Ask) -> None:
    """Return None, because there are no tasks: each call blocks its thread."""
