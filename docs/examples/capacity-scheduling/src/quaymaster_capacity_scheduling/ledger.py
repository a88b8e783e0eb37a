"""Who has a quota, and what the pods of each namespace use, kept up to date."""

from collections.abc import Mapping

import attrs
from quaymaster import Handle, NodeTable
from quaymaster.columns import RowReader
from quaymaster.objects import Resources

from quaymaster_capacity_scheduling.amounts import Bounds, taken
from quaymaster_capacity_scheduling.elastic_quota import ElasticQuota

__all__ = ["Books", "Ledger"]


@attrs.frozen(eq=False, kw_only=True)
class Books:
    """How the quotas stand at one moment; nothing in it changes any more.

    Attributes:
        bounds: Namespace -> the bounds of its quota.
        used: Namespace -> what its pods on nodes request, for those with a quota.
        total_min: What all quotas together promise.
        total_used: What all namespaces with a quota use.
    """

    bounds: Mapping[str, Bounds]
    used: Mapping[str, Resources]
    total_min: Resources
    total_used: Resources


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
        self._bounds, self._total_min = bounds, Resources()
        for each in bounds.values():
            self._total_min.add(each.min)
        self._quota_revision = self._quotas.revision

    def _balance(self) -> Books:
        used = {name: self._usage.of(name) for name in self._bounds}
        total = Resources()
        for each in used.values():
            total.add(each)
        return Books(
            bounds=self._bounds,
            used=used,
            total_min=self._total_min,
            total_used=total,
        )


class _Usage:
    """What the pods on nodes request, by namespace."""

    def __init__(self) -> None:
        self._reader = RowReader()
        self._by_row: dict[int, Mapping[str, Resources]] = {}
        # The values are not changed, but replaced: books have them.
        self._total: dict[str, Resources] = {}

    def of(self, namespace: str) -> Resources:
        return self._total.get(namespace) or Resources()

    def follow(self, nodes: NodeTable) -> bool:
        """Take over what has changed; return whether anything has."""
        rows = self._reader.changed(nodes)
        for row in rows:
            before = self._by_row.pop(row, {})
            info = nodes.infos[row]
            now: dict[str, Resources] = {}
            for pod in () if info is None else info.pods.values():
                now.setdefault(pod.namespace, Resources()).add(taken(pod))
            if now:
                self._by_row[row] = now
            for name in before.keys() | now.keys():
                self._replace(name, before.get(name), now.get(name))
        return bool(rows)

    def _replace(
        self, namespace: str, before: Resources | None, now: Resources | None
    ) -> None:
        total = self.of(namespace).copy()
        if before is not None:
            total.add(before, -1)
        if now is not None:
            total.add(now)
        self._total[namespace] = total
