"""Shortfalls: how many pods each workload lacks, and why."""

from collections.abc import Iterator

import attrs

from quaymaster._api.objects import ApiObject

__all__ = ["Shortfall", "Shortfalls"]


@attrs.frozen(kw_only=True)
class Shortfall:
    """The pods that one workload lacks.

    Attributes:
        owner: The workload.
        count: How many pods.
        refusal: Why the cluster did not let them in; empty if it was not asked.
        waits_for: The pod that has to be ready first; empty if there is none.
    """

    owner: ApiObject
    count: int
    refusal: str = ""
    waits_for: str = ""

    def __str__(self) -> str:
        one = self.count == 1
        if self.refusal:
            pods = "1 pod was" if one else f"{self.count} pods were"
            return f"{pods} not created: {self.refusal}"
        return f"{self.count} more {'waits' if one else 'wait'} for {self.waits_for}"


class Shortfalls:
    """The shortfalls of all workloads, in the order in which they were noted."""

    __slots__ = ("_by_owner",)

    def __init__(self) -> None:
        self._by_owner: dict[tuple[type[ApiObject], str], Shortfall] = {}

    def __iter__(self) -> Iterator[Shortfall]:
        """Each workload that lacks pods."""
        return iter(tuple(self._by_owner.values()))

    def add(
        self, owner: ApiObject, count: int, *, refusal: str = "", waits_for: str = ""
    ) -> None:
        """Note that a workload lacks more pods; the first reasons given stand."""
        if count <= 0:
            return
        known = self._by_owner.get((type(owner), owner.key))
        if known is not None:
            count += known.count
            refusal = known.refusal or refusal
            waits_for = known.waits_for or waits_for
        self._by_owner[type(owner), owner.key] = Shortfall(
            owner=owner, count=count, refusal=refusal, waits_for=waits_for
        )

    def clear(self, kind: type[ApiObject], key: str) -> None:
        """Forget a shortfall, because its workload is looked at anew or is gone."""
        self._by_owner.pop((kind, key), None)
