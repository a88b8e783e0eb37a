"""Count the volumes attached to each node, per driver.

The pods of a node are read when the node has changed. The volumes of a pod are cached
until one of the objects changes from which they were looked up.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Final, NamedTuple, TypeVar

import numpy as np

from quaymaster import ApiObject, Informers, Int64Array, NodeInfo, NodeTable, Pod
from quaymaster.columns import RowReader
from quaymaster.objects import (
    PersistentVolume,
    PersistentVolumeClaim,
    PodSpec,
    StorageClass,
)
from quaymaster.volumes import volumes_of
from quaymaster_node_volume_limits.attachable import (
    Attachable,
    VolumeError,
    volumes_to_attach,
)
from quaymaster_node_volume_limits.attachments import Attachments

__all__ = ["VolumeUsage"]

ObjT = TypeVar("ObjT", bound=ApiObject)

_Source = tuple[type[ApiObject], str]

_SOURCES: Final[Sequence[type[ApiObject]]] = (
    PersistentVolumeClaim,
    PersistentVolume,
    StorageClass,
)
_NONE: Final[frozenset[Attachable]] = frozenset()


class _PodUse(NamedTuple):
    """The volumes of one pod, and the objects from which they were looked up."""

    spec: PodSpec
    result: frozenset[Attachable] | VolumeError
    sources: tuple[_Source, ...]


class _RowUse:
    """The volumes that the pods of one row use."""

    __slots__ = ("counted", "in_use", "pods")

    def __init__(self) -> None:
        self.pods: dict[str, _PodUse] = {}
        self.in_use = _NONE
        self.counted: Mapping[str, int] = {}


class _Noting:
    """Looks objects up, and records which ones were requested."""

    def __init__(self, informers: Informers) -> None:
        self._informers = informers
        self.seen: dict[_Source, None] = {}

    def get(self, kind: type[ObjT], key: str) -> ObjT | None:
        self.seen[kind, key] = None
        return self._informers.get(kind, key)


class VolumeUsage:
    """Counts the volumes attached to all nodes that have a CSINode.

    Args:
        informers: The engine's copy of the cluster.
        attachments: The volumes of VolumeAttachments.

    Attributes:
        users: Volume -> the rows with pods that use it.
        problems: Row -> the errors in volumes of the pods there.
    """

    def __init__(self, informers: Informers, attachments: Attachments) -> None:
        self._informers = informers
        self._attachments = attachments
        self._reset()

    def _reset(self) -> None:
        self._reader = RowReader()
        self._revisions = [-1] * len(_SOURCES)
        self._attachments_revision = 0
        self._rows: dict[int, _RowUse] = {}
        self._found_from: dict[_Source, dict[tuple[int, str], None]] = {}
        self._counts: dict[str, Int64Array] = {}
        self._capacity = 0
        self.users: dict[Attachable, dict[int, None]] = {}
        self.problems: dict[int, VolumeError] = {}

    def counts(self, driver: str) -> Int64Array | None:
        """Return the number of volumes of a driver by row, or None without volumes."""
        return self._counts.get(driver)

    def sync(self, nodes: NodeTable) -> None:
        """Process the changes since the last call."""
        try:
            self._follow(nodes)
        except BaseException:
            self._reset()  # rows that were not counted must be counted next time
            raise

    def _follow(self, nodes: NodeTable) -> None:
        self._grow(nodes.capacity)
        changed = dict.fromkeys(self._reader.changed(nodes))
        for index, kind in enumerate(_SOURCES):
            log = self._informers.changes(kind)
            if log.revision != self._revisions[index]:
                keys = log.since(self._revisions[index])
                self._revisions[index] = log.revision
                changed |= dict.fromkeys(self._outdated(kind, keys))
        self._attachments.sync()
        log = self._attachments.changes
        if log.revision != self._attachments_revision:
            names = log.since(self._attachments_revision)
            self._attachments_revision = log.revision
            if names is None:
                changed |= dict.fromkeys(range(len(nodes.infos)))
            else:
                rows = map(nodes.row_of, names)
                changed |= {row: None for row in rows if row is not None}
        for row in changed:
            self._count(row, nodes.infos[row])

    def _outdated(
        self, kind: type[ApiObject], keys: Collection[str] | None
    ) -> Collection[int]:
        """Drop the cached volumes of changed objects, and return their rows."""
        if keys is None:
            keys = [key for source, key in self._found_from if source is kind]
        rows: dict[int, None] = {}
        for key in keys:
            for row, uid in list(self._found_from.get((kind, key), ())):
                self._forget(row, uid)
                rows[row] = None
        return rows

    def _count(self, row: int, info: NodeInfo | None) -> None:
        use = self._rows.get(row)
        pods = {} if info is None else _with_volumes(info)
        attached = _NONE if info is None else self._attachments.of(info.name)
        if use is None:
            if not pods and not attached:
                return
            use = self._rows[row] = _RowUse()
        for uid in [uid for uid in use.pods if uid not in pods]:
            self._forget(row, uid)
        for uid, pod in pods.items():
            lookup = use.pods.get(uid)
            # Identity: specs are never modified. An equal spec costs only a lookup.
            if lookup is None or lookup.spec is not pod.spec:
                self._forget(row, uid)
                self._find(row, use, pod)
        self._sum_up(row, use, pods, attached)
        if not pods and not attached:
            del self._rows[row]

    def _find(self, row: int, use: _RowUse, pod: Pod) -> None:
        noting = _Noting(self._informers)
        attachables: frozenset[Attachable] | VolumeError
        try:
            attachables = frozenset(
                volumes_to_attach(noting, pod, has_csi_node=True, is_new=False)
            )
        except VolumeError as error:
            attachables = error
        uid = pod.metadata.uid
        use.pods[uid] = _PodUse(pod.spec, attachables, tuple(noting.seen))
        for source in noting.seen:
            self._found_from.setdefault(source, {})[row, uid] = None

    def _forget(self, row: int, uid: str) -> None:
        lookup = self._rows[row].pods.pop(uid, None)
        for source in () if lookup is None else lookup.sources:
            listed = self._found_from[source]
            del listed[row, uid]
            if not listed:
                del self._found_from[source]

    def _sum_up(
        self,
        row: int,
        use: _RowUse,
        uids: Iterable[str],
        attached: frozenset[Attachable],
    ) -> None:
        results = [use.pods[uid].result for uid in uids]
        problems = [result for result in results if isinstance(result, VolumeError)]
        in_use = _NONE.union(
            *(result for result in results if not isinstance(result, VolumeError))
        )
        for volume in use.in_use - in_use:
            rows = self.users[volume]
            del rows[row]
            if not rows:
                del self.users[volume]
        for volume in in_use - use.in_use:
            self.users.setdefault(volume, {})[row] = None
        use.in_use = in_use
        counted: dict[str, int] = {}
        for volume in in_use | attached:
            counted[volume.driver] = counted.get(volume.driver, 0) + 1
        self._write_counts(row, use, counted)
        self.problems.pop(row, None)
        if problems:
            self.problems[row] = problems[0]

    def _write_counts(self, row: int, use: _RowUse, counted: Mapping[str, int]) -> None:
        for driver in use.counted.keys() - counted.keys():
            self._counts[driver][row] = 0
        for driver, count in counted.items():
            column = self._counts.get(driver)
            if column is None:
                column = np.zeros(self._capacity, dtype=np.int64)
                self._counts[driver] = column
            column[row] = count
        use.counted = counted

    def _grow(self, capacity: int) -> None:
        if capacity > self._capacity:
            for driver, column in self._counts.items():
                grown: Int64Array = np.zeros(capacity, dtype=np.int64)
                grown[: len(column)] = column
                self._counts[driver] = grown
            self._capacity = capacity


def _with_volumes(info: NodeInfo) -> Mapping[str, Pod]:
    return {
        uid: pod
        for uid, pod in info.pods.items()
        if pod.spec.volumes and volumes_of(pod)
    }
