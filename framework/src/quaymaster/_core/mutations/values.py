"""Saved values of a cycle state, for a later comparison."""

from collections.abc import Callable, Iterator, Mapping, Set
from types import BuiltinFunctionType, FunctionType, MethodType, ModuleType
from typing import Any, Final

import msgspec
import numpy as np

from quaymaster._api.objects.resources import Resources
from quaymaster._core.contract.cycle_state import CycleState, StateKey

__all__ = ["SavedState"]

_PLAIN: Final = (str, bytes, int, float, bool, complex, type(None))
_OPAQUE: Final = (
    BuiltinFunctionType,
    FunctionType,
    MethodType,
    ModuleType,
    msgspec.Struct,
    type,
)
"""Types of values whose contents no plugin can change."""


class SavedState:
    """The saved contents of some values of a `CycleState`.

    Args:
        state: The state.
        is_saved: Whether to save the value of a key.
    """

    def __init__(
        self, state: CycleState, is_saved: Callable[[StateKey[object]], bool]
    ) -> None:
        self._state = state
        self._saved = {
            key: (value, _frozen(value, {}))
            for key, value in state.values().items()
            if is_saved(key)
        }

    def changes(self) -> Iterator[str]:
        """Yield the changed values; they are not restored, since the attempt fails."""
        values = self._state.values()
        for key, (value, saved) in self._saved.items():
            now = values.get(key)
            # Identity: another object under the key is a change, even if it is equal.
            if now is not value or _frozen(now, {}) != saved:
                yield f"'{key.name}' in the cycle state"


def _frozen(value: object, seen: dict[int, int]) -> object:
    """Convert a value to nested lists and tuples that are equal if its contents are."""
    if isinstance(value, _PLAIN):
        return value
    if isinstance(value, _OPAQUE) or _is_of_framework(value):
        return id(value)
    if id(value) in seen:
        return ("again", seen[id(value)])
    seen[id(value)] = len(seen)
    if isinstance(value, np.ndarray):
        return (value.shape, value.dtype.str, value.tobytes())
    if isinstance(value, Mapping):
        return [(_frozen(k, seen), _frozen(v, seen)) for k, v in value.items()]
    if isinstance(value, Set):
        return {part if isinstance(part, _PLAIN) else id(part) for part in value}
    if isinstance(value, (list, tuple)):
        return [_frozen(part, seen) for part in value]
    return [(name, _frozen(part, seen)) for name, part in _attributes(value)]


def _is_of_framework(value: object) -> bool:
    """Whether a value is compared elsewhere, or changed by the framework itself."""
    of_framework = type(value).__module__.startswith("quaymaster.")
    return of_framework and not isinstance(value, Resources)


def _attributes(value: object) -> Iterator[tuple[str, Any]]:
    yield from getattr(value, "__dict__", {}).items()
    for cls in type(value).__mro__:
        slots = cls.__dict__.get("__slots__", ())
        for name in (slots,) if isinstance(slots, str) else slots:
            if hasattr(value, name) and name not in ("__weakref__", "__dict__"):
                yield name, getattr(value, name)
