"""The nominated pods of a priority or above, by row, kept up to date."""

from collections.abc import Collection, Mapping, Sequence
from typing import Protocol

from quaymaster._api.objects import Pod
from quaymaster._api.objects.resources import PodUsage
from quaymaster._core.state.arrays import BoolArray
from quaymaster._core.state.change_log import ChangeLog
from quaymaster._core.state.node_table import NodeTable

__all__ = ["NominatedRows"]


class _Nominations(Protocol):
    """The part of a nominator that is used here."""

    @property
    def changes(self) -> ChangeLog[str]: ...
    def pods_on(self, node_name: str, /) -> Sequence[Pod]: ...
    def nodes(self) -> Sequence[str]: ...


class _OnRow:
    """The nominated pods on a row, and the usage that was added for each."""

    __slots__ = ("name", "pods", "usages")

    def __init__(
        self, name: str, pods: Sequence[Pod], usages: Sequence[PodUsage | None]
    ) -> None:
        self.name = name
        self.pods = pods
        self.usages = usages


class NominatedRows:
    """The nominated pods of a priority or a higher one: by row, and as sums.

    Args:
        priority: The priority of the pods that leave room for them.
        nodes: The columns of all nodes.

    Attributes:
        changes: The log of the rows whose pods have changed.
    """

    def __init__(self, priority: int, nodes: NodeTable) -> None:
        self.changes: ChangeLog[int] = ChangeLog()
        self._priority = priority
        self._nodes = nodes
        self._revision = self._node_revision = -1
        self._on_row: dict[int, _OnRow] = {}
        self._row_of: dict[str, int] = {}
        # Row -> the pods; in the order of rows if `_is_sorted`.
        self._pods: dict[int, Sequence[Pod]] = {}
        self._is_sorted = True
        # Uid -> the rows that the pod is nominated to; normally one.
        self._rows_of_pod: dict[str, set[int]] = {}
        self._sums = nodes.no_sums()
        self._shape = nodes.requested.shape
        # Nodes with a pod that requests a resource without a column.
        self._uncounted: dict[str, None] = {}

    def has_shape_of(self, nodes: NodeTable) -> bool:
        """Whether the sums have as many rows and resources as a table."""
        return self._shape == nodes.requested.shape

    def follow(self, nominator: _Nominations) -> None:
        """Apply the changes since the last call."""
        changed = self._changed(nominator)
        for name in changed:
            self._leave(name)
        # Only then, since a node may have the row that another node had before.
        for name in changed:
            self._enter(name, nominator.pods_on(name))

    def others(self, uid: str) -> Mapping[int, Sequence[Pod]]:
        """Return row -> the nominated pods, without one pod; ascending."""
        if not self._is_sorted:
            self._pods = {row: self._pods[row] for row in sorted(self._pods)}
            self._is_sorted = True
        own = self._rows_of_pod.get(uid)
        if own is None:
            return self._pods
        others = dict(self._pods)
        for row in own:
            left = [pod for pod in others[row] if pod.uid != uid]
            if left:
                others[row] = left
            else:
                del others[row]
        return others

    def rows_of(self, uid: str) -> Collection[int]:
        """Return the rows that a pod is nominated to."""
        return self._rows_of_pod.get(uid, ())

    def imagined(self, uid: str) -> tuple[NodeTable, BoolArray] | None:
        """Add the pods, without one pod, to a copy of the table.

        Returns:
            The table, and a flag for each row with such pods. None if one of them
            requests a resource for which the table has no column.
        """
        if self._uncounted:
            return None
        table = self._nodes.imagined()
        table.imagine_sums(self._sums)
        counts: BoolArray = self._sums.pod_count > 0
        for row in self.rows_of(uid):
            on_row = self._on_row[row]
            for pod, usage in zip(on_row.pods, on_row.usages, strict=True):
                if pod.uid == uid and usage is not None:
                    table.imagine_pod(row, usage, times=-1)
            counts[row] = any(pod.uid != uid for pod in on_row.pods)
        return table, counts

    def _changed(self, nominator: _Nominations) -> Collection[str]:
        """Return the nodes to read again, by name."""
        log, node_log = nominator.changes, self._nodes.node_changes
        if log.revision == self._revision and (
            node_log.revision == self._node_revision and not self._uncounted
        ):
            return ()
        names, rows = log.since(self._revision), node_log.since(self._node_revision)
        self._revision, self._node_revision = log.revision, node_log.revision
        if names is None or rows is None:
            return dict.fromkeys((*self._row_of, *nominator.nodes()))
        changed = dict.fromkeys((*names, *self._uncounted))
        infos = self._nodes.infos
        for row in rows:
            if row in self._on_row:
                changed[self._on_row[row].name] = None
            info = infos[row] if row < len(infos) else None
            if info is not None:
                changed[info.name] = None
        return changed

    def _leave(self, name: str) -> None:
        self._uncounted.pop(name, None)
        row = self._row_of.pop(name, None)
        if row is None:
            return
        self.changes.note(row)
        left = self._on_row.pop(row)
        del self._pods[row]
        for pod, usage in zip(left.pods, left.usages, strict=True):
            if usage is not None:
                self._sums.add(row, usage, times=-1)
            rows = self._rows_of_pod[pod.uid]
            rows.discard(row)
            if not rows:
                del self._rows_of_pod[pod.uid]

    def _enter(self, name: str, nominated: Sequence[Pod]) -> None:
        pods = [pod for pod in nominated if pod.priority >= self._priority]
        row = self._nodes.row_of(name) if pods else None
        if row is None:
            return
        info = self._nodes.infos[row]
        assert info is not None, "the row is that of a node"
        usages: list[PodUsage | None] = []
        for pod in pods:
            usage = info.usage_of(pod)
            is_counted = self._sums.add(row, usage)
            usages.append(usage if is_counted else None)
            if not is_counted:
                self._uncounted[name] = None
        if self._pods and row < next(reversed(self._pods)):
            self._is_sorted = False
        self.changes.note(row)
        self._pods[row] = pods
        self._on_row[row] = _OnRow(name, pods, usages)
        self._row_of[name] = row
        for pod in pods:
            self._rows_of_pod.setdefault(pod.uid, set()).add(row)
