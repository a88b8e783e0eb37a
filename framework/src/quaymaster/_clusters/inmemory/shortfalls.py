"""Shortfalls: how many pods each workload lacks, and why."""

from collections.abc import Iterator

import msgspec

from quaymaster._api.objects import ApiObject

__all__ = ["Shortfall", "Shortfalls"]


class Shortfall(msgspec.Struct, frozen=True, kw_only=True):
    """The pods that one workload lacks.

    Attributes:
        owner: The workload.
        count: The number of missing pods.
        refusal: Why the cluster rejected them; empty if they were not created yet.
        waits_for: The pod that must be ready first; empty if there is none.
    """

    owner: ApiObject
    count: int
    refusal: str = ""
    waits_for: str = ""

    def __str__(self) -> str:
        is_single = self.count == 1
        if self.refusal:
            pods = "1 pod was" if is_single else f"{self.count} pods were"
            return f"{pods} not created: {self.refusal}"
        return (
            f"{self.count} more {'waits' if is_single else 'wait'} for {self.waits_for}"
        )


class Shortfalls:
    """The shortfalls of all workloads, in the order in which they were added."""

    __slots__ = ("_by_owner",)

    def __init__(self) -> None:
        self._by_owner: dict[tuple[type[ApiObject], str], Shortfall] = {}

    def __iter__(self) -> Iterator[Shortfall]:
        """Yield each workload that lacks pods."""
        return iter(tuple(self._by_owner.values()))

    def add(
        self, owner: ApiObject, count: int, *, refusal: str = "", waits_for: str = ""
    ) -> None:
        """Add to the missing pods of a workload; the first reasons stay."""
        if count <= 0:
            return
        shortfall = self._by_owner.get((type(owner), owner.key))
        if shortfall is not None:
            count += shortfall.count
            refusal = shortfall.refusal or refusal
            waits_for = shortfall.waits_for or waits_for
        self._by_owner[type(owner), owner.key] = Shortfall(
            owner=owner, count=count, refusal=refusal, waits_for=waits_for
        )

    def clear(self, kind: type[ApiObject], key: str) -> None:
        """Remove a shortfall, because its workload is synced again or was removed."""
        self._by_owner.pop((kind, key), None)
