"""The keys by which a plugin looks up objects, and those that no object can have."""

from collections.abc import Sequence
from typing import TypeVar

import attrs

from quaymaster._api.objects import ApiObject
from quaymaster._authors.testing.contract.subject import Subject
from quaymaster._authors.testing.fixed_objects import FixedObjects

__all__ = ["ConfusedKey", "WatchedObjects"]

ObjT = TypeVar("ObjT", bound=ApiObject)


@attrs.frozen
class ConfusedKey:
    """A key with a namespace that has to lack it, or the reverse.

    Attributes:
        key: The key.
        meant: The object that has this name.
    """

    key: str
    meant: ApiObject

    def __str__(self) -> str:
        kind, key = self.meant.kind, self.meant.key
        why = f"{kind} is cluster-wide"
        if self.meant.namespaced:
            why = (
                f"{kind} is namespaced; if it should be cluster-wide, its class needs "
                "namespaced = False"
            )
        text = f"looks up {kind} '{self.key}', which can never exist"
        return f"{text}: the key of this one is '{key}', because {why}"


class WatchedObjects(FixedObjects):
    """Informers that record the keys by which a plugin looks up objects.

    Args:
        subject: The plugin.
    """

    def __init__(self, subject: Subject) -> None:
        self._looked_up: dict[type[ApiObject], set[str]] = {}
        super().__init__(subject.objects, subject.kinds)

    def get(self, kind: type[ObjT], key: str) -> ObjT | None:
        self._looked_up.setdefault(kind, set()).add(key)
        return super().get(kind, key)

    def confused_key(self, objects: Sequence[ApiObject]) -> ConfusedKey | None:
        """Return a confused key, if all keys of its kind were confused.

        Otherwise, it may come from a text that users write.

        Args:
            objects: The objects that the plugin may have meant.
        """
        for obj in objects:
            keys = self._looked_up.get(type(obj), set()) - {""}
            if any(("/" in key) == obj.namespaced for key in keys):
                continue
            for key in sorted(keys):
                if key.rpartition("/")[2] == obj.name:
                    return ConfusedKey(key, obj)
        return None
