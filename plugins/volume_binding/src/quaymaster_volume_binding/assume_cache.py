"""Assumed objects: decided changes that the informers have not delivered yet.

Mirrors ``passiveAssumeCache`` (kube-scheduler 1.36.2,
``pkg/scheduler/framework/plugins/volumebinding/passive_assume_cache.go``): an assumed
object replaces the informer's object as long as this is the one that it was made from.
"""

from typing import Generic, TypeVar

from quaymaster import ApiObject, Informers
from quaymaster.columns import ChangeLog
from quaymaster.errors import QuaymasterError

__all__ = ["AssumeCache", "OutOfSyncError", "not_found"]

ObjT = TypeVar("ObjT", bound=ApiObject)


class OutOfSyncError(QuaymasterError):
    """An object has changed since the decision about it."""


class AssumeCache(Generic[ObjT]):
    """Returns the informer's objects of one kind, or the assumed versions.

    Args:
        kind: The class of the objects.
        informers: The engine's copy of the cluster.

    Attributes:
        changes: The keys of assumed and restored objects.
    """

    def __init__(self, kind: type[ObjT], informers: Informers) -> None:
        self._kind = kind
        self._informers = informers
        self._assumed: dict[str, ObjT] = {}
        self.changes: ChangeLog[str] = ChangeLog()

    def get(self, key: str) -> ObjT | None:
        """Return an object, preferably its assumed version, or None."""
        stored = self._informers.get(self._kind, key)
        return self._overlaid(key, stored) if key in self._assumed else stored

    def assume(self, obj: ObjT) -> None:
        """Assume an object instead of the informer's version.

        Raises:
            OutOfSyncError: The informer has a newer version, or no longer any.
        """
        key = obj.key
        stored = self._informers.get(self._kind, key)
        if stored is None:
            raise OutOfSyncError(not_found(obj))
        here, there = obj.metadata.resource_version, stored.metadata.resource_version
        # The decision was made from an older version. Its write would fail with a
        # conflict, so the pod fails now and is tried again with the newer version.
        if here != there:
            text = f'"{key}" is out of sync (stored: {there}, assume: {here})'
            raise OutOfSyncError(text)
        self._assumed[key] = obj
        self.changes.note(key)

    def restore(self, obj: ObjT) -> None:
        """Drop an assumed object, if it has not been replaced."""
        # Identity: another pod may have assumed an equal object since.
        if self._assumed.get(obj.key) is obj:
            del self._assumed[obj.key]
            self.changes.note(obj.key)

    def __len__(self) -> int:
        """Return the number of assumed objects that may still be valid."""
        return len(self._assumed)

    def _overlaid(self, key: str, stored: ObjT | None) -> ObjT | None:
        assumed = self._assumed[key]
        if stored is not None and (
            # The assumed object has the version of the object that it replaces. Any
            # other version in the informer is newer: our own write or another.
            stored.metadata.resource_version == assumed.metadata.resource_version
        ):
            return assumed
        del self._assumed[key]
        return stored


def not_found(obj: ApiObject) -> str:
    """Return the text for an object that the informers no longer have.

    Upstream's caches report the plural and the key (``assume_cache.go``); its listers
    report the singular and the name.
    """
    return f'{obj.kind.lower()}s "{obj.key}" not found'
