"""Marks of what a scheduler does right now, for a process that watches it."""

from typing import Protocol

from quaymaster._api.objects import Pod

__all__ = ["AttemptMarks"]


class AttemptMarks(Protocol):
    """Marks the attempts and some hooks of a scheduler while they run."""

    def begin(self, pod: Pod, /) -> None:
        """Mark that an attempt to schedule a pod begins, on the engine's thread."""

    def end(self) -> None:
        """Mark that the attempt has ended."""

    def begin_hook(self, pod: Pod, plugin: str, hook: str, /) -> bytes:
        """Mark that a hook begins outside of an attempt, on any thread.

        Returns:
            The mark, for `end_hook`.
        """

    def end_hook(self, mark: bytes, /) -> None:
        """Mark that a hook has ended."""
