"""Informers and nominations that do not change, for a plugin under test."""

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from typing import Any, TypeVar, cast

from quaymaster._api.objects import ApiObject, Pod
from quaymaster._core.contract.informers import ObjectCallback, UnfollowedKindError
from quaymaster._core.contract.object_index import ObjectIndex
from quaymaster._core.registry.access import USUAL_KINDS
from quaymaster._core.state.change_log import ChangeLog

__all__ = ["FixedNominations", "FixedObjects"]

ObjT = TypeVar("ObjT", bound=ApiObject)
K = TypeVar("K", bound=Hashable)


class FixedObjects:
    """Informers whose objects change only by `put`.

    They have the kinds that a scheduler would watch, and no others.

    Args:
        objects: The objects to begin with.
        kinds: The watched kinds.
    """

    def __init__(
        self,
        objects: Iterable[ApiObject],
        kinds: Iterable[type[ApiObject]] = USUAL_KINDS,
    ) -> None:
        self._objects: dict[type[ApiObject], dict[str, ApiObject]] = {}
        self._changes: dict[type[ApiObject], ChangeLog[str]] = {}
        self._callbacks: dict[type[ApiObject], list[ObjectCallback[Any]]] = {}
        self._followed = tuple(kinds)
        for obj in objects:
            self.put(obj)

    def put(self, obj: ApiObject) -> None:
        """Add an object, in place of any with the same key."""
        old = self._drop(obj)
        self._objects.setdefault(type(obj), {})[obj.key] = obj
        self._log(type(obj)).note(obj.key, is_new=True)
        self._pass_on(type(obj), old, obj)

    def remove(self, obj: ApiObject) -> None:
        """Remove the object of this key."""
        old = self._drop(obj)
        self._log(type(obj)).note(obj.key)
        if old is not None:
            self._pass_on(type(obj), old, None)

    def get(self, kind: type[ObjT], key: str) -> ObjT | None:
        return self._of(kind).get(key)

    def list(self, kind: type[ObjT], namespace: str | None = None) -> Sequence[ObjT]:
        objects = self._of(kind).values()
        return [obj for obj in objects if namespace in (None, obj.namespace)]

    def stored(self, kind: type[ApiObject]) -> Mapping[str, ApiObject]:
        """Return the objects of a kind by key, whether or not the kind is watched."""
        return self._objects.get(kind, {})

    def all_stored(self) -> Sequence[ApiObject]:
        """Return the objects of all kinds, whether or not they are watched."""
        return [obj for objects in self._objects.values() for obj in objects.values()]

    def changes(self, kind: type[ApiObject]) -> ChangeLog[str]:
        self._of(kind)
        return self._log(kind)

    def index(
        self, kind: type[ObjT], by: Callable[[ObjT], K | None]
    ) -> ObjectIndex[K, ObjT]:
        """See `quaymaster.Informers.index`."""
        return ObjectIndex(self, kind, by)

    def on_change(
        self, kind: type[ObjT], callback: ObjectCallback[ObjT]
    ) -> Callable[[], None]:
        """See `quaymaster.Informers.on_change`."""
        for obj in list(self._of(kind).values()):
            callback(None, obj)
        callbacks = self._callbacks.setdefault(kind, [])
        callbacks.append(callback)

        def end() -> None:
            if callback in callbacks:
                callbacks.remove(callback)

        return end

    def _pass_on(
        self, kind: type[ApiObject], old: ApiObject | None, new: ApiObject | None
    ) -> None:
        for callback in tuple(self._callbacks.get(kind, ())):
            callback(old, new)

    def _log(self, kind: type[ApiObject]) -> ChangeLog[str]:
        return self._changes.setdefault(kind, ChangeLog())

    def _drop(self, obj: ApiObject) -> ApiObject | None:
        return self._objects.get(type(obj), {}).pop(obj.key, None)

    def _of(self, kind: type[ObjT]) -> Mapping[str, ObjT]:
        if kind not in self._followed:
            raise UnfollowedKindError(kind, self._followed)
        objects: Any = self._objects.get(kind, {})
        return cast("Mapping[str, ObjT]", objects)


class FixedNominations:
    """Nominations that never change."""

    def __init__(self, pods: Mapping[str, Sequence[Pod]]) -> None:
        self._pods = pods
        self.changes: ChangeLog[str] = ChangeLog()

    def pods_on(self, node_name: str) -> Sequence[Pod]:
        return self._pods.get(node_name, ())

    @property
    def is_empty(self) -> bool:
        return not any(self._pods.values())

    def nodes(self) -> Sequence[str]:
        return [name for name, pods in self._pods.items() if pods]
