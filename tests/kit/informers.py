"""Informers for tests: over objects that a test holds, or over a cluster's."""

from collections.abc import Callable, Hashable, Iterable, Sequence
from typing import TypeVar, cast

from quaymaster import ApiObject
from quaymaster.columns import ChangeLog
from quaymaster.inmemory import InMemoryCluster
from quaymaster.objects import ObjectIndex
from tests.kit.internals.engine import EngineInformers
from tests.kit.internals.registry import USUAL_KINDS

__all__ = ["Deaf", "HeldObjects", "StoredObjects", "follow"]

ObjT = TypeVar("ObjT", bound=ApiObject)
K = TypeVar("K", bound=Hashable)


class HeldObjects:
    """Informers over objects that a test holds, which it may change.

    Args:
        objects: What there is at first.
    """

    def __init__(self, objects: Iterable[ApiObject] = ()) -> None:
        self._objects: dict[type[ApiObject], dict[str, ApiObject]] = {}
        self._changes: dict[type[ApiObject], ChangeLog[str]] = {}
        for obj in objects:
            self.put(obj)

    def put(self, obj: ApiObject) -> None:
        """Add an object, or take over a changed one."""
        objects = self._objects.setdefault(type(obj), {})
        self.changes(type(obj)).note(obj.key, is_new=obj.key not in objects)
        objects[obj.key] = obj

    def remove(self, obj: ApiObject) -> None:
        """Remove an object."""
        self._objects[type(obj)].pop(obj.key, None)
        self.changes(type(obj)).note(obj.key)

    def get(self, kind: type[ObjT], key: str) -> ObjT | None:
        """One object by its key, or None."""
        return cast("ObjT | None", self._objects.get(kind, {}).get(key))

    def list(self, kind: type[ObjT], namespace: str | None = None) -> Sequence[ObjT]:
        """All objects of a kind, of one namespace if given."""
        objects = cast("Iterable[ObjT]", self._objects.get(kind, {}).values())
        return [obj for obj in objects if namespace in (None, obj.namespace)]

    def index(
        self, kind: type[ObjT], by: Callable[[ObjT], K | None]
    ) -> ObjectIndex[K, ObjT]:
        """An index over the objects of a kind."""
        return ObjectIndex(self, kind, by)

    def changes(self, kind: type[ApiObject]) -> ChangeLog[str]:
        """What came, changed and went of a kind."""
        return self._changes.setdefault(kind, ChangeLog())


class StoredObjects:
    """Informers that are never behind their cluster; they log no changes.

    Args:
        cluster: The cluster.
    """

    def __init__(self, cluster: InMemoryCluster) -> None:
        self._cluster = cluster

    def get(self, kind: type[ObjT], key: str) -> ObjT | None:
        """One object by its key, or None."""
        return next((obj for obj in self.list(kind) if obj.key == key), None)

    def list(self, kind: type[ObjT], namespace: str | None = None) -> Sequence[ObjT]:
        """All objects of a kind, of one namespace if given."""
        objects = self._cluster.list(kind).items
        return [obj for obj in objects if namespace in (None, obj.namespace)]

    def index(
        self, kind: type[ObjT], by: Callable[[ObjT], K | None]
    ) -> ObjectIndex[K, ObjT]:
        """An index over the objects of a kind."""
        return ObjectIndex(self, kind, by)

    def changes(self, kind: type[ApiObject]) -> ChangeLog[str]:
        """Nothing, whatever happens."""
        return ChangeLog()


class Deaf:
    """Takes what informers tell, and does nothing about it."""

    def changed(
        self,
        kind: type[ApiObject],
        old: ApiObject | None,
        new: ApiObject | None,
        *,
        missed: bool = False,
    ) -> None:
        """Hear of a change."""


def follow(cluster: InMemoryCluster) -> EngineInformers:
    """The engine's informers, at work on a cluster; nobody is told of anything."""
    informers = EngineInformers(cluster, lambda: None, kinds=USUAL_KINDS)
    informers.start(Deaf())
    return informers
