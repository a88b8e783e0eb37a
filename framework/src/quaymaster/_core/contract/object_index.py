"""Indexes of the objects of one kind: by a label, a namespace, an owner."""

from collections.abc import Callable, Collection, Hashable, Sequence
from typing import Generic, Protocol, TypeVar

from quaymaster._api.objects import ApiObject
from quaymaster._core.state.change_log import ChangeLog

__all__ = ["ObjectIndex"]

ObjT = TypeVar("ObjT", bound=ApiObject)
OtherT = TypeVar("OtherT", bound=ApiObject)
K = TypeVar("K", bound=Hashable)


class _Source(Protocol):
    """The part of informers that an index needs."""

    def get(self, kind: type[OtherT], key: str) -> OtherT | None:
        """Return one object by its key, or None."""

    def list(self, kind: type[OtherT]) -> Sequence[OtherT]:
        """Return the objects of a kind."""

    def changes(self, kind: type[ApiObject]) -> ChangeLog[str]:
        """Return the log of added, changed and deleted objects of a kind."""


class ObjectIndex(Generic[K, ObjT]):
    """Finds objects by a key; `Informers.index` creates it.

    It follows the informers: each call first reads the objects that have changed.

    Args:
        source: The informers.
        kind: The class of the objects.
        by: Returns the key of an object; None leaves the object out of the index.
    """

    __slots__ = (
        "_by",
        "_groups",
        "_keys",
        "_kind",
        "_log",
        "_revision",
        "_source",
        "_tuples",
    )

    def __init__(
        self, source: _Source, kind: type[ObjT], by: Callable[[ObjT], K | None]
    ) -> None:
        self._source = source
        self._kind = kind
        self._by = by
        self._log = source.changes(kind)
        self._revision = -1
        # Key of the index -> key of the object -> object.
        self._groups: dict[K, dict[str, ObjT]] = {}
        self._keys: dict[str, K] = {}
        # Key of the index -> the objects as a tuple, built by `get`.
        self._tuples: dict[K, Sequence[ObjT]] = {}

    def get(self, key: K) -> Sequence[ObjT]:
        """Return the objects with this key, in the order in which they got it."""
        self._catch_up()
        objects = self._tuples.get(key)
        if objects is None:
            group = self._groups.get(key)
            if group is None:
                return ()
            objects = self._tuples[key] = tuple(group.values())
        return objects

    def count(self, key: K) -> int:
        """Return how many objects have this key; that is quicker than to `get` them."""
        self._catch_up()
        group = self._groups.get(key)
        return 0 if group is None else len(group)

    def keys(self) -> Collection[K]:
        """Return the keys that objects have."""
        self._catch_up()
        return tuple(self._groups)

    def _catch_up(self) -> None:
        revision = self._log.revision
        if revision == self._revision:
            return
        try:
            changed = self._log.since(self._revision)
            # The log no longer has all changes since the last call, so that only the
            # whole list is reliable.
            if changed is None:
                self._read_all()
            for key in changed or ():
                self._read(key, self._source.get(self._kind, key))
        except BaseException:
            self._revision = -1  # the next call must read the objects left out
            raise
        self._revision = revision

    def _read_all(self) -> None:
        self._groups.clear()
        self._keys.clear()
        self._tuples.clear()
        for obj in self._source.list(self._kind):
            self._read(obj.key, obj)

    def _read(self, key: str, obj: ObjT | None) -> None:
        before = self._keys.get(key)
        now = None if obj is None else self._by(obj)
        # An object whose key stays the same keeps its place in the group: the order of
        # answers must not depend on how often an object was updated.
        if before is not None and before != now:
            group = self._groups[before]
            del group[key], self._keys[key]
            self._tuples.pop(before, None)
            if not group:
                del self._groups[before]
        if obj is not None and now is not None:
            self._keys[key] = now
            self._groups.setdefault(now, {})[key] = obj
            self._tuples.pop(now, None)
