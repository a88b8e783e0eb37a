"""The cluster behind the handles of a bench: it stores what plugins write."""

from collections.abc import Callable, Mapping
from typing import TypeVar, cast

from msgspec.structs import replace

from quaymaster._api.objects import ApiObject, Pod
from quaymaster._api.objects.status import with_status
from quaymaster._authors.testing.fixed_objects import FixedObjects
from quaymaster._authors.testing.makers.metadata import make_uid
from quaymaster._base.errors import ObjectError
from quaymaster._core.contract.cluster import (
    AlreadyExistsError,
    Cluster,
    ConflictError,
    EventNote,
    InvalidError,
    ListResult,
    NotFoundError,
    PodStatusPatch,
    Watch,
)

__all__ = ["StoredObjects", "next_version"]

ObjT = TypeVar("ObjT", bound=ApiObject)


def next_version(obj: ApiObject) -> str:
    """Return the resource version of an object after its next change."""
    version = obj.metadata.resource_version
    return str(int(version) + 1) if version.isdecimal() else "1"


class StoredObjects:
    """The objects of a bench, as its API server stores them.

    It validates nothing, and no controller acts on its objects. Plugins see their
    writes here at once, but informers only after `take`: until a hook has returned, no
    watch delivers anything.

    Args:
        informers: The objects that the informers have delivered.
        rest: Gets the calls about pods, and Events.
    """

    def __init__(self, informers: FixedObjects, rest: Cluster) -> None:
        self._informers = informers
        self._rest = rest
        self._written: dict[tuple[type[ApiObject], str], ApiObject | None] = {}

    def take(self) -> Mapping[tuple[type[ApiObject], str], ApiObject | None]:
        """Return the writes since the last call; None for a deleted object."""
        written, self._written = self._written, {}
        return written

    def change_version(self, kind: type[ApiObject], key: str) -> None:
        """Give an object another version, as when another client changes it."""
        try:
            stored = self.get(kind, key)
        except NotFoundError:
            return
        self._store(stored, stored)

    # As in `Cluster` ----------------------------------------------------------------

    def list(self, kind: type[ObjT]) -> ListResult[ObjT]:
        objects: dict[str, ApiObject | None] = dict(self._informers.stored(kind))
        objects.update(
            {key: obj for (of, key), obj in self._written.items() if of is kind}
        )
        items = [cast("ObjT", obj) for obj in objects.values() if obj is not None]
        return ListResult(items, 0)

    def get(self, kind: type[ObjT], key: str) -> ObjT:
        delivered = self._informers.stored(kind).get(key)
        obj = self._written.get((kind, key), delivered)
        if obj is None:
            raise NotFoundError(f"{kind.__name__} {key}: there is none")
        return cast("ObjT", obj)

    def watch(
        self, kind: type[ObjT], resource_version: int, notify: Callable[[], None]
    ) -> Watch[ObjT]:
        return self._rest.watch(kind, resource_version, notify)

    def create(self, obj: ObjT) -> ObjT:
        try:
            self.get(type(obj), obj.key)
        except NotFoundError:
            return self._store(_with_uid(obj), obj)
        raise AlreadyExistsError(f"{_place_of(obj)} exists already")

    def update(self, obj: ObjT) -> ObjT:
        return self._store(obj, self._current(obj))

    def delete(
        self,
        kind: type[ApiObject],
        key: str,
        *,
        uid: str | None = None,
        grace_period_seconds: float | None = None,
    ) -> None:
        if kind is Pod:
            self._rest.delete(
                kind, key, uid=uid, grace_period_seconds=grace_period_seconds
            )
            return
        stored = self.get(kind, key)
        if uid not in (None, stored.uid):
            raise ConflictError(f"{_place_of(stored)}: its uid is not {uid}")
        self._written[kind, key] = None

    def bind(
        self,
        pod: Pod,
        node_name: str,
        *,
        annotations: Mapping[str, str] | None = None,
    ) -> None:
        self._rest.bind(pod, node_name, annotations=annotations)

    def patch_pod_status(self, pod: Pod, patch: PodStatusPatch) -> None:
        self._rest.patch_pod_status(pod, patch)

    def patch_status(self, obj: ObjT, changes: Mapping[str, object]) -> ObjT:
        stored = self._current(obj)
        try:
            new = with_status(stored, changes)
        except ObjectError as error:
            raise InvalidError(f"{_place_of(obj)}: {error}") from error
        return self._store(new, stored)

    def record(self, note: EventNote) -> None:
        self._rest.record(note)

    def _current(self, obj: ObjT) -> ObjT:
        """Return the stored version of an object that the caller has read."""
        stored = self.get(type(obj), obj.key)
        read, now = obj.metadata, stored.metadata
        if read.uid not in ("", now.uid):
            raise ConflictError(f"{_place_of(obj)} has another uid")
        if read.resource_version not in ("", now.resource_version):
            raise ConflictError(f"{_place_of(obj)} was changed meanwhile")
        return stored

    def _store(self, obj: ObjT, before: ApiObject) -> ObjT:
        metadata = replace(obj.metadata, resource_version=next_version(before))
        new = replace(obj, metadata=metadata)
        self._written[type(obj), obj.key] = new
        return new


def _with_uid(obj: ObjT) -> ObjT:
    """Return an object with a uid, as an API server stores it."""
    metadata = obj.metadata
    uid = metadata.uid or make_uid(type(obj), metadata.name, metadata.namespace)
    return replace(obj, metadata=replace(metadata, uid=uid))


def _place_of(obj: ApiObject) -> str:
    return f"{obj.kind} {obj.key}"
