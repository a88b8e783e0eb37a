"""A cluster that does not change, for a plugin under test."""

from collections.abc import Iterable, Mapping, Sequence
from typing import TypeVar

from quaymaster._objects import ApiObject, Pod
from quaymaster._state.change_log import ChangeLog

__all__ = ["FixedNominations", "FixedObjects"]

ObjT = TypeVar("ObjT", bound=ApiObject)


class FixedObjects:
    """Informers whose objects change only by `put`."""

    def __init__(self, objects: Iterable[ApiObject]) -> None:
        self._objects = list(objects)
        self._changes: dict[type[ApiObject], ChangeLog[str]] = {}

    def put(self, obj: ApiObject) -> None:
        """Add an object, in place of any with the same key."""
        self._drop(obj)
        self._objects.append(obj)
        self.changes(type(obj)).note(obj.key, is_new=True)

    def remove(self, obj: ApiObject) -> None:
        """Take the object of this key away."""
        self._drop(obj)
        self.changes(type(obj)).note(obj.key)

    def get(self, kind: type[ObjT], key: str) -> ObjT | None:
        found = (obj for obj in self.list(kind) if obj.key == key)
        return next(found, None)

    def list(self, kind: type[ObjT], namespace: str | None = None) -> Sequence[ObjT]:
        return [
            obj
            for obj in self._objects
            if isinstance(obj, kind) and namespace in (None, obj.namespace)
        ]

    def changes(self, kind: type[ApiObject]) -> ChangeLog[str]:
        return self._changes.setdefault(kind, ChangeLog())

    def _drop(self, obj: ApiObject) -> None:
        same = type(obj), obj.key
        self._objects = [one for one in self._objects if (type(one), one.key) != same]


class FixedNominations:
    """Nominations that never change."""

    def __init__(self, pods: Mapping[str, Sequence[Pod]]) -> None:
        self._pods = pods

    def pods_on(self, node_name: str) -> Sequence[Pod]:
        return self._pods.get(node_name, ())

    def nodes(self) -> Sequence[str]:
        return list(self._pods)
