"""Copies of API objects as they were when they were first seen."""

import copy
from collections.abc import Iterable, Iterator

import msgspec

from quaymaster._api.objects import ApiObject

__all__ = ["PristineObjects"]

# To forget takes a look at each copy, so it waits until this many are not needed, and
# half of all.
_SPARE = 1024


class PristineObjects:
    """Keeps copies of objects, and puts back what has been changed in the originals.

    Objects are frozen, but the mappings in them are not.
    """

    def __init__(self) -> None:
        # The object is stored as well, so that its id cannot pass on to another one.
        self._copies: dict[int, tuple[ApiObject, ApiObject]] = {}

    def remember(self, objects: Iterable[ApiObject]) -> None:
        """Copy the objects that have not been seen yet."""
        known = self._copies
        for obj in objects:
            if id(obj) not in known:
                known[id(obj)] = obj, copy.deepcopy(obj)

    def keep_only(self, objects: Iterable[ApiObject]) -> None:
        """Forget most of the objects that do not exist any more."""
        wanted = {id(obj) for obj in objects}
        if len(self._copies) > 2 * len(wanted) + _SPARE:
            self._copies = {
                key: copies for key, copies in self._copies.items() if key in wanted
            }

    def restore(self, objects: Iterable[ApiObject]) -> Iterator[str]:
        """Put back what has been changed, and say what it was."""
        for obj in objects:
            original = self._copies[id(obj)][1]
            if obj != original:
                kind = type(obj).kind.lower()
                for path in _restored(obj, original):
                    yield f"{path} of {kind} '{obj.metadata.name}'"


def _restored(obj: msgspec.Struct, original: msgspec.Struct) -> Iterator[str]:
    for name in obj.__struct_fields__:
        found, saved = getattr(obj, name), getattr(original, name)
        if found == saved:
            continue
        if isinstance(saved, msgspec.Struct) and type(found) is type(saved):
            for path in _restored(found, saved):
                yield f"{name}.{path}"
            continue
        _put_back(obj, name, found, copy.deepcopy(saved))
        yield name


def _put_back(obj: msgspec.Struct, name: str, found: object, saved: object) -> None:
    """Put a value back, in place if possible: others may hold the same mapping."""
    if isinstance(found, dict) and isinstance(saved, dict):
        found.clear()
        found.update(saved)
    else:
        msgspec.structs.force_setattr(obj, name, saved)
