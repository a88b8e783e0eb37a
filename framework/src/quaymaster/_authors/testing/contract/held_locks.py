"""Finds the locks of a plugin that are held."""

import sys
import threading
from collections.abc import Collection, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from typing import Any, Final

from quaymaster._authors.testing.contract.own_frames import packages_of

__all__ = ["held_locks"]

_LOCK: Final = type(threading.Lock())
_RE_ENTRANT: Final = type(threading.RLock())
_KINDS: Final = (_LOCK, _RE_ENTRANT, threading.Condition, threading.Semaphore)
_DEPTH: Final = 4


def held_locks(plugin: object) -> frozenset[int]:
    """Return the identities of the locks that are held.

    Args:
        plugin: The plugin. Locks count in its attributes, in its classes and in their
            modules, and in the containers and objects of these.
    """
    packages = packages_of(type(plugin))
    own = [
        base
        for base in type(plugin).__mro__
        if base.__module__.partition(".")[0] in packages
    ]
    modules = dict.fromkeys(base.__module__ for base in own)
    roots: list[object] = [plugin, *map(vars, own)]
    roots += [vars(sys.modules[name]) for name in modules if name in sys.modules]
    seen: set[int] = set()
    locks = [lock for root in roots for lock in _locks(root, packages, seen, _DEPTH)]
    return frozenset(id(lock) for lock in locks if _is_held(lock))


def _is_held(lock: object) -> bool:
    """Return whether another thread would wait for a lock."""
    # These attributes are private, since nothing public shows it.
    if isinstance(lock, threading.Semaphore):
        return lock._value == 0
    inner: Any = getattr(lock, "_lock", lock)  # of a Condition
    is_held = inner.locked if isinstance(inner, _LOCK) else inner._is_owned
    return bool(is_held())


def _locks(
    value: object, packages: Collection[str], seen: set[int], depth: int
) -> Iterator[object]:
    """Yield the locks in a value, but not those of other packages' objects."""
    if isinstance(value, _KINDS):
        yield value
        return
    if id(value) in seen or not depth:
        return
    seen.add(id(value))
    for part in _parts(value, packages):
        yield from _locks(part, packages, seen, depth - 1)


def _parts(value: object, packages: Collection[str]) -> Sequence[object]:
    if isinstance(value, Mapping):
        return list(value.values())
    if isinstance(value, list | tuple | AbstractSet):
        return list(value)
    kind = type(value)
    if isinstance(value, type) or kind.__module__.partition(".")[0] not in packages:
        return ()
    slots = [getattr(base, "__slots__", ()) for base in kind.__mro__]
    names = [
        name for each in slots for name in ([each] if isinstance(each, str) else each)
    ]
    parts = [getattr(value, name, None) for name in names if name != "__weakref__"]
    return [*parts, *getattr(value, "__dict__", {}).values()]
