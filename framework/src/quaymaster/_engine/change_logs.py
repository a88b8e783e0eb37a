"""The changes of each kind that somebody wants to read about later."""

from typing import Protocol

from quaymaster.change_log import ChangeLog
from quaymaster.objects import ApiObject

__all__ = ["ChangeHandler", "ChangeLogs"]


class ChangeHandler(Protocol):
    """Takes every change of the cluster, one by one, on the engine's thread."""

    def changed(
        self,
        kind: type[ApiObject],
        old: ApiObject | None,
        new: ApiObject | None,
        *,
        missed: bool = False,
    ) -> None:
        """One object was added (no old), changed, or deleted (no new).

        Args:
            kind: The class of the object.
            old: The object as it was last known, or None.
            new: The object as it is now, or None.
            missed: Whether the deletion itself was missed, and ``old`` may be stale.
        """


class ChangeLogs:
    """Writes changes down, kind by kind, before it passes them on.

    A kind that nobody has asked for costs nothing.

    Args:
        handler: Takes the changes.
    """

    def __init__(self, handler: ChangeHandler) -> None:
        self._handler = handler
        self._logs: dict[type[ApiObject], ChangeLog] = {}

    def of(self, kind: type[ApiObject]) -> ChangeLog:
        """The log of one kind, which is kept from now on."""
        log = self._logs.get(kind)
        if log is None:
            log = self._logs[kind] = ChangeLog()
        return log

    def changed(
        self,
        kind: type[ApiObject],
        old: ApiObject | None,
        new: ApiObject | None,
        *,
        missed: bool = False,
    ) -> None:
        """Implements `ChangeHandler`."""
        log = self._logs.get(kind)
        obj = old if new is None else new
        if log is not None and obj is not None:
            log.note(obj.key, is_new=old is None)
        self._handler.changed(kind, old, new, missed=missed)
