"""Saves and restores the content of one object, depending on its class."""

import array
import collections
import random
import sys
import threading
import types
import weakref
from collections.abc import Callable, Iterable, Iterator, Mapping
from enum import Enum
from functools import partial
from typing import Any, Final, Protocol, TypeAlias, TypeVar

import msgspec
import numpy as np
from msgspec.structs import force_setattr

from quaymaster._api.objects import ApiObject
from quaymaster._studies.simulation.trial_error import TrialError

__all__ = ["LEAVES", "Saver", "handler_of", "skip"]

_Buffer: TypeAlias = "bytearray | array.array[Any]"
_BufferT = TypeVar("_BufferT", bytearray, "array.array[Any]")
_Slots: TypeAlias = tuple[types.MemberDescriptorType, ...]
_Handler: TypeAlias = Callable[["Saver", Any], Iterable[object]]
"""Saves the content of an object, and returns the objects that it refers to."""

_RUNNING: Final = (types.GeneratorType, types.CoroutineType, types.AsyncGeneratorType)
_UNSET: Final = object()


class Saver(Protocol):
    """The interface with which handlers save content."""

    def on_restore(self, restore: Callable[..., object], *args: object) -> None:
        """Have a call made when the state is restored."""

    def content(self, values: Iterable[Any]) -> list[Any]:
        """Return the values, with counters replaced by copies of them."""

    def follows(self, function: Callable[..., object]) -> bool:
        """Return whether objects that only a function refers to are saved."""


def skip(_saved: Saver, _obj: object) -> Iterable[object]:
    return ()


def _elements(_saved: Saver, values: Iterable[object]) -> Iterable[object]:
    return values


def _dict(saved: Saver, obj: dict[Any, Any]) -> Iterator[object]:
    keys, values = list(dict.keys(obj)), saved.content(dict.values(obj))
    saved.on_restore(_fill_dict, obj, keys, values)
    yield from keys
    yield from values
    yield from _attributes(saved, obj)


def _fill_dict(obj: dict[Any, Any], keys: list[Any], values: list[Any]) -> None:
    # In place, as others refer to the same dict. By the base class, as a subclass may
    # react to changes.
    dict.clear(obj)
    dict.update(obj, zip(keys, values, strict=True))


def _ordered_dict(
    saved: Saver, obj: collections.OrderedDict[Any, Any]
) -> Iterator[object]:
    keys = list(collections.OrderedDict.keys(obj))
    values = saved.content(collections.OrderedDict.values(obj))
    saved.on_restore(_fill_ordered, obj, keys, values)
    yield from keys
    yield from values
    yield from _attributes(saved, obj)


def _fill_ordered(
    obj: collections.OrderedDict[Any, Any], keys: list[Any], values: list[Any]
) -> None:
    collections.OrderedDict.clear(obj)
    for key, value in zip(keys, values, strict=True):
        # One by one, since the order of an ordered dict is part of its state.
        collections.OrderedDict.__setitem__(obj, key, value)


def _list(saved: Saver, obj: list[Any]) -> Iterator[object]:
    content = saved.content(obj)
    saved.on_restore(list.__setitem__, obj, slice(None), content)
    yield from content
    yield from _attributes(saved, obj)


def _set(saved: Saver, obj: set[Any]) -> Iterator[object]:
    content = set(obj)
    saved.on_restore(_fill_set, obj, content)
    yield from content
    yield from _attributes(saved, obj)


def _fill_set(obj: set[Any], content: set[Any]) -> None:
    set.clear(obj)
    set.update(obj, content)


def _deque(saved: Saver, obj: collections.deque[Any]) -> Iterator[object]:
    content = saved.content(obj)
    saved.on_restore(_fill_deque, obj, content)
    yield from content
    yield from _attributes(saved, obj)


def _fill_deque(obj: collections.deque[Any], content: list[Any]) -> None:
    obj.clear()
    obj.extend(content)


def _buffer(saved: Saver, obj: _Buffer) -> Iterable[object]:
    content = obj[:]
    saved.on_restore(_fill_buffer, obj, content)
    return ()


def _fill_buffer(obj: "_BufferT", content: "_BufferT") -> None:
    obj[:] = content


def _array(saved: Saver, obj: "np.ndarray[Any, Any]") -> Iterable[object]:
    # A read-only view shows another array, which its writer holds.
    if obj.flags.writeable:
        saved.on_restore(np.copyto, obj, obj.copy())
    # Arrays of numbers refer to nothing; only arrays of objects do.
    return obj.ravel().tolist() if obj.dtype.hasobject else ()


def _random(saved: Saver, obj: random.Random) -> Iterable[object]:
    saved.on_restore(obj.setstate, obj.getstate())
    return ()


def _bit_generator(saved: Saver, obj: np.random.BitGenerator) -> Iterable[object]:
    saved.on_restore(setattr, obj, "state", obj.state)
    return ()


def _generator(_saved: Saver, obj: np.random.Generator) -> Iterable[object]:
    return (obj.bit_generator,)


def _event(saved: Saver, obj: threading.Event) -> Iterable[object]:
    saved.on_restore(obj.set if obj.is_set() else obj.clear)
    return ()


def _function(saved: Saver, obj: types.FunctionType) -> Iterator[object]:
    if not saved.follows(obj):
        return
    yield from obj.__closure__ or ()
    yield from obj.__defaults__ or ()
    yield from (obj.__kwdefaults__ or {}).values()
    if obj.__dict__:
        yield obj.__dict__
    module = sys.modules.get(obj.__module__)
    # Identity: a function of a module has that module's own globals. A function that
    # was compiled from a text has other globals, possibly with state.
    if module is None or vars(module) is not obj.__globals__:
        names = obj.__globals__.items()
        yield from (value for name, value in names if name != "__builtins__")


def _method(saved: Saver, obj: types.MethodType) -> Iterable[object]:
    if not saved.follows(obj.__func__):
        return ()
    return (obj.__self__, obj.__func__)


def _builtin(
    _saved: Saver, obj: types.BuiltinMethodType | types.MethodWrapperType
) -> Iterable[object]:
    return (obj.__self__,)


def _partial(_saved: Saver, obj: "partial[Any]") -> Iterable[object]:
    return (obj.func, *obj.args, *obj.keywords.values())


def _cell(saved: Saver, obj: types.CellType) -> Iterable[object]:
    try:
        [content] = saved.content([obj.cell_contents])
    except ValueError:  # it is empty
        saved.on_restore(_empty_cell, obj)
        return ()
    saved.on_restore(setattr, obj, "cell_contents", content)
    return (content,)


def _empty_cell(obj: types.CellType) -> None:
    del obj.cell_contents


def _reference(_saved: Saver, obj: "weakref.ref[Any]") -> Iterable[object]:
    # The object that a weak reference shows may have state, even if nothing else that
    # is saved refers to it.
    return (obj(),)


def _proxy(_saved: Saver, obj: Mapping[Any, Any]) -> Iterable[object]:
    return (*obj.keys(), *obj.values())


def _running(_saved: Saver, obj: object) -> Iterable[object]:
    name = getattr(obj, "__qualname__", type(obj).__name__)
    raise TrialError(f"a trial cannot save the generator {name!r}, which is running")


def _struct(saved: Saver, obj: msgspec.Struct) -> Iterator[object]:
    names = obj.__struct_fields__
    values = saved.content(getattr(obj, name) for name in names)
    saved.on_restore(_fill_struct, obj, names, values)
    yield from values


def _fill_struct(
    obj: msgspec.Struct, names: tuple[str, ...], values: list[object]
) -> None:
    for name, value in zip(names, values, strict=True):
        # Frozen records may hold counters, which are replaced by copies.
        force_setattr(obj, name, value)


def _instance(saved: Saver, obj: object) -> Iterator[object]:
    yield from _attributes(saved, obj)


def _attributes(saved: Saver, obj: object) -> Iterator[object]:
    """Save the attributes of an instance; a plain list, for example, has none."""
    slots = _slots(type(obj))
    if slots:
        values = saved.content(_get(slot, obj) for slot in slots)
        saved.on_restore(_fill_slots, obj, slots, values)
        yield from values
    attributes = getattr(obj, "__dict__", None)
    # A class may compute its ``__dict__``, and then it holds no state of its own.
    if type(attributes) is dict:
        yield attributes


def _get(slot: types.MemberDescriptorType, obj: object) -> object:
    try:
        return slot.__get__(obj)
    except AttributeError:
        return _UNSET


def _fill_slots(obj: object, slots: _Slots, values: list[object]) -> None:
    for slot, value in zip(slots, values, strict=True):
        if value is not _UNSET:
            slot.__set__(obj, value)
        elif _get(slot, obj) is not _UNSET:
            # A slot that was empty before the trial must be empty again, not None.
            slot.__delete__(obj)


_SLOTS: Final[dict[type, _Slots]] = {}


def _slots(kind: type) -> _Slots:
    slots = _SLOTS.get(kind)
    if slots is None:
        slots = _SLOTS[kind] = tuple(
            member
            # Each class of the hierarchy has slots of its own.
            for base in kind.__mro__
            if "__slots__" in vars(base)
            for member in vars(base).values()
            if isinstance(member, types.MemberDescriptorType)
        )
    return slots


def handler_of(kind: type) -> _Handler:
    """Return the function that saves objects of a class."""
    handler = _HANDLERS.get(kind)
    if handler is None:
        handler = _HANDLERS[kind] = _inherited(kind)
    return handler


def _inherited(kind: type) -> _Handler:
    """Return the handler of a base class for a class without its own handler."""
    for base, handler in _BASES:
        if issubclass(kind, base):
            return handler
    if issubclass(kind, msgspec.Struct):
        return skip if _is_api_value(kind) else _struct
    if issubclass(kind, _ATOMS):
        return skip
    # Before the rule for the standard library, whose other classes hold nothing of a
    # simulation.
    if kind.__module__ in _OPEN_MODULES:
        return _instance
    if kind.__module__.partition(".")[0] in sys.stdlib_module_names:
        return skip
    # A class written in C without attributes has no state that can be seen from Python.
    has_attributes = bool(_slots(kind)) or bool(kind.__dictoffset__)
    return _instance if has_attributes else skip


def _is_api_value(kind: type[msgspec.Struct]) -> bool:
    """Return whether instances are API objects or parts of them, which never change.

    Other frozen structs are records, which may refer to objects that do.
    """
    is_of_api = issubclass(kind, ApiObject) or kind.__module__.startswith(_API)
    return is_of_api and kind.__struct_config__.frozen


_API: Final = "quaymaster._api."

LEAVES: Final = frozenset(
    {int, float, complex, str, bytes, bool, type(None), type, types.ModuleType}
)
_ATOMS: Final = (type, Enum, BaseException, np.generic, np.dtype)
_OPEN_MODULES: Final = frozenset({"weakref", "collections", "types"})
"""Modules of the standard library whose classes hold objects of others."""

_BASES: Final[tuple[tuple[type, _Handler], ...]] = (
    (collections.OrderedDict, _ordered_dict),
    (dict, _dict),
    (list, _list),
    (set, _set),
    (collections.deque, _deque),
    (tuple, _elements),
    (frozenset, _elements),
    (np.ndarray, _array),
    (random.SystemRandom, skip),
    (random.Random, _random),
    (np.random.BitGenerator, _bit_generator),
    (threading.Event, _event),
    (weakref.ref, _reference),
    *((kind, _running) for kind in _RUNNING),
)

_HANDLERS: Final[dict[type, _Handler]] = {
    bytearray: _buffer,
    array.array: _buffer,
    np.random.Generator: _generator,
    types.FunctionType: _function,
    types.MethodType: _method,
    types.BuiltinMethodType: _builtin,
    types.MethodWrapperType: _builtin,
    types.CellType: _cell,
    types.MappingProxyType: _proxy,
    partial: _partial,
}
"""Class -> its handler; classes are added when they are first seen."""
