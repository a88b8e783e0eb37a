"""Who has a quota, and what the pods of each namespace use, kept up to date."""

from collections import Counter
from collections.abc import Mapping
from typing import Final

import attrs
from quaymaster import Handle, NodeTable, Pod
from quaymaster.columns import RowReader
from quaymaster.objects import Resources

from quaymaster_capacity_scheduling.amounts import Bounds, less, taken, total_of
from quaymaster_capacity_scheduling.elastic_quota import ElasticQuota

__all__ = ["Books", "Ledger"]


@attrs.frozen(eq=False, kw_only=True)
class Books:
    """How the quotas stand at one moment; nothing in it changes any more.

    Attributes:
        bounds: Namespace -> the bounds of its quota.
        used: Namespace -> what its pods on nodes request, for those with a quota.
        staying: The same without the pods that are on their way out.
        total_min: What all quotas together promise.
        total_used: What all namespaces with a quota use.
        total_staying: The same without the pods that are on their way out.
        lowest: Namespace -> the lowest priority of its pods on nodes, if there are any.
    """

    bounds: Mapping[str, Bounds]
    used: Mapping[str, Resources]
    staying: Mapping[str, Resources]
    total_min: Resources
    total_used: Resources
    total_staying: Resources
    lowest: Mapping[str, int]


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
        """Return how the quotas stand now; the same object if nothing has changed."""
        has_moved = self._usage.follow(self._handle.snapshot.nodes)
        if self._quota_revision != self._quotas.revision:
            self._read_quotas()
            self._books = None
        if self._books is None or has_moved:
            self._books = self._balance()
        return self._books

    def has_quota(self, namespace: str) -> bool:
        """Whether a namespace has a quota now."""
        if self._quota_revision != self._quotas.revision:
            self._read_quotas()
            self._books = None
        return namespace in self._bounds

    def _read_quotas(self) -> None:
        bounds: dict[str, Bounds] = {}
        for quota in self._handle.informers.list(ElasticQuota):
            if quota.namespace not in bounds:
                bounds[quota.namespace] = Bounds.of(quota)
        self._bounds = bounds
        self._total_min = total_of(each.min for each in bounds.values())
        self._quota_revision = self._quotas.revision

    def _balance(self) -> Books:
        used = {name: self._usage.used(name) for name in self._bounds}
        staying = {name: self._usage.staying(name) for name in self._bounds}
        return Books(
            bounds=self._bounds,
            used=used,
            staying=staying,
            total_min=self._total_min,
            total_used=total_of(used.values()),
            total_staying=total_of(staying.values()),
            lowest=self._usage.lowest(),
        )


class _Share:
    """What some pods of one namespace request, and their priorities."""

    __slots__ = ("leaving", "priorities", "used")

    def __init__(self) -> None:
        self.used = Resources()
        self.leaving = Resources()
        self.priorities: Counter[int] = Counter()

    def count(self, pod: Pod) -> None:
        self.used.add(taken(pod))
        if pod.is_terminating:
            self.leaving.add(taken(pod))
        self.priorities[pod.priority] += 1

    def with_change(self, before: "_Share | None", now: "_Share | None") -> "_Share":
        found = _Share()
        found.priorities.update(self.priorities)
        for share, sign in ((self, 1), (before, -1), (now, 1)):
            if share is None:
                continue
            found.used.add(share.used, sign)
            found.leaving.add(share.leaving, sign)
        if before is not None:
            found.priorities -= before.priorities
        if now is not None:
            found.priorities += now.priorities
        return found


_NOBODY: Final = _Share()


class _Usage:
    """What the pods on nodes request, by namespace."""

    def __init__(self) -> None:
        self._reader = RowReader()
        self._by_row: dict[int, Mapping[str, _Share]] = {}
        # Shares are not changed, but replaced: books have their amounts.
        self._total: dict[str, _Share] = {}

    def used(self, namespace: str) -> Resources:
        return self._total.get(namespace, _NOBODY).used

    def staying(self, namespace: str) -> Resources:
        share = self._total.get(namespace, _NOBODY)
        return less(share.used, share.leaving)

    def lowest(self) -> Mapping[str, int]:
        shares = self._total.items()
        return {name: min(one.priorities) for name, one in shares if one.priorities}

    def follow(self, nodes: NodeTable) -> bool:
        """Take over what has changed; return whether anything has."""
        rows = self._reader.changed(nodes)
        for row in rows:
            before = self._by_row.pop(row, {})
            info = nodes.infos[row]
            now: dict[str, _Share] = {}
            for pod in () if info is None else info.pods.values():
                now.setdefault(pod.namespace, _Share()).count(pod)
            if now:
                self._by_row[row] = now
            for name in before.keys() | now.keys():
                old = self._total.get(name, _NOBODY)
                self._total[name] = old.with_change(before.get(name), now.get(name))
        return bool(rows)
