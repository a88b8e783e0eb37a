"""Families: the pods of each owner, updated with every change of a pod."""

from collections.abc import Iterator
from typing import Final

from quaymaster._api.objects import Pod

__all__ = ["Families", "Family"]

_ACTIVE: Final = 0
_LEAVING: Final = 1
_SUCCEEDED: Final = 2
_FAILED: Final = 3


class Family:
    """The keys of one owner's pods by their state, oldest first.

    Attributes:
        active: The pods that run or will run.
        leaving: The pods that are being deleted.
        succeeded: The pods that have succeeded.
        failed: The pods that have failed.
        wants_starts: Whether the owner must be synced when a pod begins to run.
    """

    __slots__ = ("_parts", "active", "failed", "leaving", "succeeded", "wants_starts")

    def __init__(self) -> None:
        self.active: dict[str, None] = {}
        self.leaving: dict[str, None] = {}
        self.succeeded: dict[str, None] = {}
        self.failed: dict[str, None] = {}
        self.wants_starts = False
        self._parts = (self.active, self.leaving, self.succeeded, self.failed)

    def __iter__(self) -> Iterator[str]:
        """Yield the keys of all pods."""
        for part in self._parts:
            yield from part

    def move(self, key: str, before: int | None, after: int | None) -> None:
        """Move a pod from one state to another; None means that it is not a member."""
        if before is not None:
            self._parts[before].pop(key, None)
        if after is not None:
            self._parts[after][key] = None


class Families:
    """The families of all owners, by the owner's uid."""

    __slots__ = ("_by_owner",)

    def __init__(self) -> None:
        self._by_owner: dict[str, Family] = {}

    def of(self, uid: str) -> Family:
        """Return the family of an owner; empty if it has no pods."""
        family = self._by_owner.get(uid)
        if family is None:
            family = self._by_owner[uid] = Family()
        return family

    def update(self, uid: str, old: Pod | None, new: Pod | None) -> bool:
        """Apply the change of a pod of an owner.

        Returns:
            Whether the owner must be synced.
        """
        family = self.of(uid)
        before = None if old is None else _part(old)
        after = None if new is None else _part(new)
        if before != after:
            pod = old if new is None else new
            if pod is not None:
                family.move(pod.key, before, after)
            return True
        # A pod that starts changes no state here, and only updates wait for it.
        # Otherwise each start would sync its owner.
        return family.wants_starts


def _part(pod: Pod) -> int:
    phase = pod.status.phase
    # The phase comes before the deletion: a pod that has ended no longer counts as
    # active, even if it terminates.
    if phase == "Succeeded":
        return _SUCCEEDED
    if phase == "Failed":
        return _FAILED
    return _ACTIVE if pod.metadata.deletion_timestamp is None else _LEAVING
