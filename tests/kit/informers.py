"""Informers for tests: over objects of a test, or over a cluster's objects."""

from collections.abc import Callable, Hashable, Iterable, Sequence
from typing import TypeAlias, TypeVar, cast

from quaymaster import ApiObject
from quaymaster.columns import ChangeLog
from quaymaster.inmemory import InMemoryCluster
from quaymaster.objects import ObjectIndex
from tests.kit.internals.engine import EngineInformers
from tests.kit.internals.registry import USUAL_KINDS

__all__ = ["HeldObjects", "IgnoresChanges", "StoredObjects", "follow"]

ObjT = TypeVar("ObjT", bound=ApiObject)
K = TypeVar("K", bound=Hashable)
ObjectCallback: TypeAlias = Callable[[ObjT | None, ObjT | None], None]
_Callback: TypeAlias = tuple[type[ApiObject], ObjectCallback[ApiObject]]


class HeldObjects:
    """Informers over objects that a test holds and may change.

    Args:
        objects: The first objects.
    """

    def __init__(self, objects: Iterable[ApiObject] = ()) -> None:
        self._objects: dict[type[ApiObject], dict[str, ApiObject]] = {}
        self._changes: dict[type[ApiObject], ChangeLog[str]] = {}
        self._callbacks: list[_Callback] = []
        for obj in objects:
            self.put(obj)

    def put(self, obj: ApiObject) -> None:
        """Add an object, or replace it by a changed one."""
        objects = self._objects.setdefault(type(obj), {})
        old = objects.get(obj.key)
        self.changes(type(obj)).note(obj.key, is_new=old is None)
        objects[obj.key] = obj
        self._call(type(obj), old, obj)

    def remove(self, obj: ApiObject) -> None:
        """Remove an object."""
        old = self._objects[type(obj)].pop(obj.key, None)
        self.changes(type(obj)).note(obj.key)
        if old is not None:
            self._call(type(obj), old, None)

    def get(self, kind: type[ObjT], key: str) -> ObjT | None:
        """Return one object by its key, or None."""
        return cast("ObjT | None", self._objects.get(kind, {}).get(key))

    def list(self, kind: type[ObjT], namespace: str | None = None) -> Sequence[ObjT]:
        """Return all objects of a kind, of one namespace if given."""
        objects = cast("Iterable[ObjT]", self._objects.get(kind, {}).values())
        return [obj for obj in objects if namespace in (None, obj.namespace)]

    def index(
        self, kind: type[ObjT], by: Callable[[ObjT], K | None]
    ) -> ObjectIndex[K, ObjT]:
        """Return an index over the objects of a kind."""
        return ObjectIndex(self, kind, by)

    def changes(self, kind: type[ApiObject]) -> ChangeLog[str]:
        """Return the log of additions, changes and deletions of a kind."""
        return self._changes.setdefault(kind, ChangeLog())

    def on_change(
        self, kind: type[ObjT], callback: ObjectCallback[ObjT]
    ) -> Callable[[], None]:
        """Call a function for each object of a kind, and after each change."""
        entry: _Callback = (kind, cast("ObjectCallback[ApiObject]", callback))
        for obj in self.list(kind):
            callback(None, obj)
        self._callbacks.append(entry)
        return lambda: self._callbacks.remove(entry)

    def _call(
        self, kind: type[ApiObject], old: ApiObject | None, new: ApiObject | None
    ) -> None:
        for followed, callback in tuple(self._callbacks):
            if followed is kind:
                callback(old, new)


class StoredObjects:
    """Informers that are never behind their cluster; they log no changes.

    Args:
        cluster: The cluster.
    """

    def __init__(self, cluster: InMemoryCluster) -> None:
        self._cluster = cluster

    def get(self, kind: type[ObjT], key: str) -> ObjT | None:
        """Return one object by its key, or None."""
        return next((obj for obj in self.list(kind) if obj.key == key), None)

    def list(self, kind: type[ObjT], namespace: str | None = None) -> Sequence[ObjT]:
        """Return all objects of a kind, of one namespace if given."""
        objects = self._cluster.list(kind).items
        return [obj for obj in objects if namespace in (None, obj.namespace)]

    def index(
        self, kind: type[ObjT], by: Callable[[ObjT], K | None]
    ) -> ObjectIndex[K, ObjT]:
        """Return an index over the objects of a kind."""
        return ObjectIndex(self, kind, by)

    def changes(self, kind: type[ApiObject]) -> ChangeLog[str]:
        """Return an empty log."""
        return ChangeLog()

    def on_change(
        self, kind: type[ObjT], callback: ObjectCallback[ObjT]
    ) -> Callable[[], None]:
        """Call a function for each object of a kind, but for no later change."""
        for obj in self.list(kind):
            callback(None, obj)
        return lambda: None


class IgnoresChanges:
    """A change handler that ignores all changes."""

    def changed(
        self,
        kind: type[ApiObject],
        old: ApiObject | None,
        new: ApiObject | None,
        *,
        missed: bool = False,
    ) -> None:
        """Ignore a change."""


def follow(cluster: InMemoryCluster) -> EngineInformers:
    """Start the engine's informers on a cluster, without any change handler."""
    informers = EngineInformers(cluster, lambda: None, kinds=USUAL_KINDS)
    informers.start(IgnoresChanges())
    return informers
