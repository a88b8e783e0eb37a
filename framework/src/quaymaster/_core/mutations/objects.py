"""Copies of API objects, made when they are seen first."""

import copy
from collections.abc import Iterable, Iterator

import msgspec

from quaymaster._api.objects import ApiObject

__all__ = ["PristineObjects"]

# Chosen, not measured: dropping copies scans all of them, so it waits until this many
# copies, and more than half of all, are not needed.
_SPARE = 1024


class PristineObjects:
    """Keeps copies of objects, and restores changed originals.

    Objects are frozen, but the mappings in them are not.
    """

    def __init__(self) -> None:
        # The object is stored as well, so that its id is not reused by another one.
        self._copies: dict[int, tuple[ApiObject, ApiObject]] = {}

    def save(self, objects: Iterable[ApiObject]) -> None:
        """Copy the objects that have not been seen yet."""
        copies = self._copies
        for obj in objects:
            if id(obj) not in copies:
                copies[id(obj)] = obj, copy.deepcopy(obj)

    def keep_only(self, objects: Iterable[ApiObject]) -> None:
        """Drop the copies of other objects, if they are many."""
        needed = {id(obj) for obj in objects}
        if len(self._copies) > 2 * len(needed) + _SPARE:
            self._copies = {
                key: copies for key, copies in self._copies.items() if key in needed
            }

    def restore(self, objects: Iterable[ApiObject]) -> Iterator[str]:
        """Restore the changed fields, and yield their names."""
        for obj in objects:
            original = self._copies[id(obj)][1]
            if obj != original:
                kind = type(obj).kind.lower()
                for path in _restored(obj, original):
                    yield f"{path} of {kind} '{obj.metadata.name}'"


def _restored(obj: msgspec.Struct, original: msgspec.Struct) -> Iterator[str]:
    for name in obj.__struct_fields__:
        value, saved = getattr(obj, name), getattr(original, name)
        if value == saved:
            continue
        if isinstance(saved, msgspec.Struct) and type(value) is type(saved):
            for path in _restored(value, saved):
                yield f"{name}.{path}"
            continue
        _put_back(obj, name, value, copy.deepcopy(saved))
        yield name


def _put_back(obj: msgspec.Struct, name: str, value: object, saved: object) -> None:
    """Restore a value, in place if possible: other objects may share the mapping."""
    if isinstance(value, dict) and isinstance(saved, dict):
        value.clear()
        value.update(saved)
    else:
        msgspec.structs.force_setattr(obj, name, saved)
