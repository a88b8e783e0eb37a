"""Assumed objects: objects as decided, before the informers know of them.

Mirrors ``passiveAssumeCache`` (kube-scheduler 1.36.2,
``pkg/scheduler/framework/plugins/volumebinding/passive_assume_cache.go``): an assumed
object stands for the informer's one as long as that is the one it was made from.
"""

from typing import Generic, TypeVar

from quaymaster import ApiObject, Informers
from quaymaster.columns import ChangeLog
from quaymaster.errors import QuaymasterError

__all__ = ["AssumeCache", "OutOfSyncError"]

ObjT = TypeVar("ObjT", bound=ApiObject)


class OutOfSyncError(QuaymasterError):
    """An object has changed since the decision about it was made."""


class AssumeCache(Generic[ObjT]):
    """Keeps the informer's objects of one kind, with assumed ones in their place.

    Args:
        kind: The class of the objects.
        informers: The engine's copy of the cluster.

    Attributes:
        changes: The keys of what was assumed and restored.
    """

    def __init__(self, kind: type[ObjT], informers: Informers) -> None:
        self._kind = kind
        self._informers = informers
        self._assumed: dict[str, ObjT] = {}
        self.changes: ChangeLog[str] = ChangeLog()

    def get(self, key: str) -> ObjT | None:
        """Return one object, the assumed one if there is one; None if there is none."""
        stored = self._informers.get(self._kind, key)
        return self._overlaid(key, stored) if key in self._assumed else stored

    def assume(self, obj: ObjT) -> None:
        """Put an object in the place of the informer's one.

        Raises:
            OutOfSyncError: The informer has a newer one, or none any more.
        """
        key = obj.key
        stored = self._informers.get(self._kind, key)
        if stored is None:
            raise OutOfSyncError(f'{self._kind.kind.lower()} "{key}" not found')
        here, there = obj.metadata.resource_version, stored.metadata.resource_version
        if here != there:
            text = f'"{key}" is out of sync (stored: {there}, assume: {here})'
            raise OutOfSyncError(text)
        self._assumed[key] = obj
        self.changes.note(key)

    def restore(self, obj: ObjT) -> None:
        """Take an assumed object back, if it has not been replaced."""
        # Identity: another pod may have assumed an equal object since.
        if self._assumed.get(obj.key) is obj:
            del self._assumed[obj.key]
            self.changes.note(obj.key)

    def __len__(self) -> int:
        """Count the objects that are assumed and may still be valid."""
        return len(self._assumed)

    def _overlaid(self, key: str, stored: ObjT | None) -> ObjT | None:
        assumed = self._assumed[key]
        if stored is not None and (
            stored.metadata.resource_version == assumed.metadata.resource_version
        ):
            return assumed
        del self._assumed[key]
        return stored
