"""A cluster that only applies the changes of a record."""

from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from msgspec.structs import replace

from quaymaster._api.objects import ApiObject, Pod
from quaymaster._clusters.inmemory.store import KindStore
from quaymaster._core.contract.cluster import (
    EventNote,
    ForbiddenError,
    ListResult,
    NotFoundError,
    PodStatusPatch,
    Watch,
    WatchEventType,
)
from quaymaster._studies.recording.state import Entry

__all__ = ["RecordedWorld"]

ObjT = TypeVar("ObjT", bound=ApiObject)

_HISTORY = 1000  # changes of each kind, for a watch that starts again


class RecordedWorld:
    """The cluster of a record, behind the port `quaymaster.cluster`.

    Writes have no effect; the record alone decides about the objects.

    Attributes:
        deleted: The keys of the pods that the scheduler tried to delete, until a caller
            takes them.
    """

    def __init__(self) -> None:
        self.deleted: list[str] = []
        self._version = 0
        self._stores: dict[type[ApiObject], KindStore[Any]] = {}

    def apply(self, entry: Entry) -> None:
        """Apply a change of the record."""
        store, key = self._store(entry.kind), entry.key
        exists = key in store.objects
        self._version += 1
        if entry.new is None:
            if exists:
                store.drop(key, store.objects[key], self._version)
            return
        metadata = replace(entry.new.metadata, resource_version=str(self._version))
        new = replace(entry.new, metadata=metadata)
        change = WatchEventType.MODIFIED if exists else WatchEventType.ADDED
        store.put(change, key, new, self._version)

    def list(self, kind: type[ObjT]) -> ListResult[ObjT]:
        """See `quaymaster.cluster.Cluster.list`."""
        return ListResult(tuple(self._store(kind).objects.values()), self._version)

    def get(self, kind: type[ObjT], key: str) -> ObjT:
        """See `quaymaster.cluster.Cluster.get`."""
        obj = self._store(kind).objects.get(key)
        if obj is None:
            raise NotFoundError(f"{kind.kind} {key}: there is none")
        return obj

    def watch(
        self, kind: type[ObjT], resource_version: int, notify: Callable[[], None]
    ) -> Watch[ObjT]:
        """See `quaymaster.cluster.Cluster.watch`."""
        return self._store(kind).watch(resource_version, notify)

    def create(self, obj: ObjT) -> ObjT:
        """Do nothing."""
        return obj

    def update(self, obj: ObjT) -> ObjT:
        """Do nothing."""
        return obj

    def delete(
        self,
        kind: type[ApiObject],
        key: str,
        *,
        uid: str | None = None,  # noqa: ARG002 - as the port has it
        grace_period_seconds: float | None = None,  # noqa: ARG002 - as the port has it
    ) -> None:
        """Note that the scheduler tried to delete a pod.

        Raises:
            ForbiddenError: The object is not a pod. A plugin would forget an object
                that the record still has.
        """
        if kind is not Pod:
            raise ForbiddenError(kind.kind, key, "a record cannot be changed")
        self.deleted.append(key)

    def bind(
        self,
        pod: Pod,
        node_name: str,
        *,
        annotations: Mapping[str, str] | None = None,
    ) -> None:
        """Do nothing."""

    def patch_pod_status(self, pod: Pod, patch: PodStatusPatch) -> None:
        """Do nothing."""

    def patch_status(self, obj: ObjT, changes: Mapping[str, object]) -> ObjT:  # noqa: ARG002 - as the port has it
        """Do nothing."""
        return obj

    def record(self, note: EventNote) -> None:
        """Do nothing."""

    def _store(self, kind: type[ObjT]) -> KindStore[ObjT]:
        store = self._stores.get(kind)
        if store is None:
            store = self._stores[kind] = KindStore(kind, _HISTORY)
        return store
