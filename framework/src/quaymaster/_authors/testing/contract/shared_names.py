"""The names that all instances of a plugin share: of its classes and its modules."""

import inspect
import sys
from collections import deque
from collections.abc import Iterator, Mapping, MutableMapping, MutableSequence
from collections.abc import MutableSet as AbstractMutableSet
from types import ModuleType
from typing import Any, Final
from weakref import WeakKeyDictionary, WeakSet, WeakValueDictionary

from quaymaster._authors.testing.contract.own_frames import NOT_PLUGINS

__all__ = ["MUTABLE", "REMEDY", "rebound", "shared_containers", "shared_names"]

MUTABLE: Final = (
    MutableMapping,
    MutableSequence,
    AbstractMutableSet,
    deque,
    bytearray,
)
"""The containers that can be changed."""

REMEDY: Final = (
    "although all instances share it, also those of other profiles and simulations, "
    "and after a reload: make it in __init__, or share it on purpose by handle.shared"
)
_WEAK: Final = (WeakKeyDictionary, WeakValueDictionary, WeakSet)


def shared_names(plugin: type) -> Mapping[str, object]:
    """Return the attributes of a plugin's classes, and the globals of its modules.

    Args:
        plugin: Its class.
    """
    return {
        text: value
        for text, name, value in _names(plugin)
        if not (name.startswith("__") and name.endswith("__"))
    }


def rebound(before: Mapping[str, object], after: Mapping[str, object]) -> str | None:
    """Return a shared name that has got another value, or None.

    Args:
        before: The shared names, see `shared_names`.
        after: The same names later.
    """
    missing = object()
    # Identity: an equal value that is set again is shared, too.
    for text, value in after.items():
        if before.get(text, missing) is not value:
            return text
    return None


def shared_containers(plugin: type) -> Mapping[str, Any]:
    """Return the containers that instances share, also those of default values.

    Args:
        plugin: Its class.
    """
    containers = {
        text: value
        for text, value in shared_names(plugin).items()
        if _is_container(value)
    }
    for kind in _classes(plugin):
        for name, value in vars(kind).items():
            if inspect.isfunction(value):
                for default in (
                    *(value.__defaults__ or ()),
                    *(value.__kwdefaults__ or {}).values(),
                ):
                    if _is_container(default):
                        containers[f"a default value of {name}"] = default
    return containers


def _is_container(value: object) -> bool:
    """Return whether a value is a container of which all entries remain."""
    return isinstance(value, MUTABLE) and not isinstance(value, _WEAK)


def _names(plugin: type) -> Iterator[tuple[str, str, object]]:
    """Yield the shared names: how to show them, the name itself, and its value."""
    classes = [*_classes(plugin)]
    for kind in classes:
        for name, value in vars(kind).items():
            yield f"the class attribute {name}", name, value
    for module in _modules(classes):
        for name, value in vars(module).copy().items():
            yield f"the global {name} of {module.__name__}", name, value
            if _is_helper(value, module) and value not in classes:
                for attribute, held in vars(value).copy().items():
                    yield f"the attribute {attribute} of {name}", attribute, held


def _classes(plugin: type) -> Iterator[type]:
    for kind in plugin.__mro__:
        if kind.__module__.partition(".")[0] not in NOT_PLUGINS:
            yield kind


def _modules(classes: list[type]) -> Iterator[ModuleType]:
    """Yield the modules of classes, and those beside and below them."""
    names = {kind.__module__ for kind in classes}
    parents = tuple({f"{parent}." for name in names if (parent := _parent(name))})
    for name, module in sorted(sys.modules.items()):
        if name in names or (parents and f"{name}.".startswith(parents)):
            yield module


def _parent(module: str) -> str:
    return module.rpartition(".")[0]


def _is_helper(value: object, module: ModuleType) -> bool:
    return isinstance(value, type) and value.__module__ == module.__name__
