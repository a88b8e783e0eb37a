"""Maintain the quotas and the usage of each namespace."""

from collections.abc import Collection, Iterable, Mapping
from typing import Final

import attrs
from quaymaster import Handle, NodeTable, Pod
from quaymaster.columns import RowReader
from quaymaster.objects import Resources

from quaymaster_capacity_scheduling.amounts import Bounds, less, taken, total_of
from quaymaster_capacity_scheduling.elastic_quota import ElasticQuota

__all__ = ["Books", "Ledger", "Share"]


class Share:
    """What the pods of one namespace request, and their priorities.

    It is looked at in every attempt: pods that are on their way out, of which there are
    few, cost something only if there are any.

    Attributes:
        used: What they request.
        leaving: What those of them request that are on their way out; None if there
            are none.
        priorities: Priority -> how many pods have it.
    """

    __slots__ = ("leaving", "priorities", "used")

    def __init__(self) -> None:
        self.used = Resources()
        self.leaving: Resources | None = None
        self.priorities: dict[int, int] = {}

    @property
    def staying(self) -> Resources:
        """What those request that are not on their way out."""
        return self.used if self.leaving is None else less(self.used, self.leaving)

    def count(self, pod: Pod) -> None:
        """Count one more pod in."""
        requests = taken(pod)
        self.used.add(requests)
        if pod.is_terminating:
            self.leaving = self.leaving or Resources()
            self.leaving.add(requests)
        self.priorities[pod.priority] = self.priorities.get(pod.priority, 0) + 1

    def has_below(self, priority: int) -> bool:
        """Whether any of them has a lower priority."""
        return any(other < priority for other in self.priorities)

    def with_change(self, before: "Share", now: "Share") -> "Share":
        """Return another share, in which the pods of one node have changed."""
        found = Share()
        found.used = _moved(self.used, before.used, now.used)
        found.leaving = _moved_if_any(self.leaving, before.leaving, now.leaving)
        counts = dict(self.priorities)
        for share, sign in ((before, -1), (now, 1)):
            for priority, number in share.priorities.items():
                counts[priority] = counts.get(priority, 0) + sign * number
        found.priorities = {level: number for level, number in counts.items() if number}
        return found


def _moved(amounts: Resources, before: Resources, now: Resources) -> Resources:
    found = amounts.copy()
    found.add(before, -1)
    found.add(now)
    return found


def _moved_if_any(
    amounts: Resources | None, before: Resources | None, now: Resources | None
) -> Resources | None:
    if amounts is None and now is None:
        return None
    nothing = Resources()
    return _moved(amounts or nothing, before or nothing, now or nothing)


_NOBODY: Final = Share()


@attrs.frozen(eq=False, kw_only=True)
class Books:
    """The quotas and their usage at one moment; immutable.

    Attributes:
        bounds: Namespace -> its quota's guarantee and limit.
        shares: Namespace -> what its pods on nodes request, with a quota or without.
        total_min: What all quotas together promise.
        total_used: What all namespaces with a quota use.
        total_leaving: What those of their pods request that are on their way out.
    """

    bounds: Mapping[str, Bounds]
    shares: Mapping[str, Share]
    total_min: Resources
    total_used: Resources
    total_leaving: Resources

    @property
    def total_staying(self) -> Resources:
        """What all namespaces with a quota use beside that."""
        return less(self.total_used, self.total_leaving)

    def of(self, namespace: str) -> Share:
        """Return what the pods of a namespace request."""
        return self.shares.get(namespace, _NOBODY)


class Ledger:
    """Keeps books on the quotas and on the pods that are on nodes.

    Pods that are assumed on a node count from the moment of the decision on: the
    snapshot has them, and loses them when their binding fails.

    Args:
        handle: The framework.
    """

    def __init__(self, handle: Handle) -> None:
        self._handle = handle
        self._quotas = handle.informers.changes(ElasticQuota)
        self._quota_revision = -1
        self._bounds: Mapping[str, Bounds] = {}
        self._total_min = Resources()
        self._usage = _Usage()
        self._books: Books | None = None

    def books(self) -> Books:
        """Return the current state of the quotas, as the same object if unchanged."""
        moved = self._usage.follow(self._handle.snapshot.nodes)
        if self._quota_revision != self._quotas.revision:
            self._read_quotas()
        if self._books is None:
            self._books = self._open()
        elif moved:
            self._books = self._balance(self._books, moved)
        return self._books

    def has_quota(self, namespace: str) -> bool:
        """Whether a namespace has a quota now."""
        if self._quota_revision != self._quotas.revision:
            self._read_quotas()
        return namespace in self._bounds

    def _read_quotas(self) -> None:
        bounds: dict[str, Bounds] = {}
        for quota in self._handle.informers.list(ElasticQuota):
            if quota.namespace not in bounds:
                bounds[quota.namespace] = Bounds.of(quota)
        self._bounds = bounds
        self._total_min = total_of(each.min for each in bounds.values())
        self._quota_revision = self._quotas.revision
        self._books = None

    def _open(self) -> Books:
        """Make new books."""
        shares = dict(self._usage.shares)
        own = [shares[name] for name in self._bounds if name in shares]
        return Books(
            bounds=self._bounds,
            shares=shares,
            total_min=self._total_min,
            total_used=total_of(share.used for share in own),
            total_leaving=total_of(share.leaving for share in own if share.leaving),
        )

    def _balance(self, last: Books, moved: Iterable[str]) -> Books:
        """Go on from other books; namespaces without a quota count in no total."""
        shares = dict(self._usage.shares)
        used, leaving = last.total_used, last.total_leaving
        for name in moved:
            if name in self._bounds:
                before, now = last.of(name), shares.get(name, _NOBODY)
                used = _moved(used, before.used, now.used)
                leaving = _moved_if_any(leaving, before.leaving, now.leaving) or leaving
        return Books(
            bounds=self._bounds,
            shares=shares,
            total_min=self._total_min,
            total_used=used,
            total_leaving=leaving,
        )


class _Usage:
    """What the pods on nodes request, by namespace."""

    def __init__(self) -> None:
        self._reader = RowReader()
        self._by_row: dict[int, Mapping[str, Share]] = {}
        # Shares are not changed, but replaced: books have them.
        self.shares: dict[str, Share] = {}

    def follow(self, nodes: NodeTable) -> Collection[str]:
        """Process the changes; return the affected namespaces."""
        moved: set[str] = set()
        for row in self._reader.changed(nodes):
            before = self._by_row.pop(row, {})
            info = nodes.infos[row]
            now: dict[str, Share] = {}
            for pod in () if info is None else info.pods.values():
                now.setdefault(pod.namespace, Share()).count(pod)
            if now:
                self._by_row[row] = now
            for name in before.keys() | now.keys():
                self._change(name, before.get(name, _NOBODY), now.get(name, _NOBODY))
                moved.add(name)
        return moved

    def _change(self, namespace: str, before: Share, now: Share) -> None:
        share = self.shares.get(namespace, _NOBODY).with_change(before, now)
        if share.priorities:
            self.shares[namespace] = share
        else:
            self.shares.pop(namespace, None)  # its last pod has gone
