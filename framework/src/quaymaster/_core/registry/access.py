"""The kinds that plugins read and write, as their classes declare them.

A plugin's class declares ``reads = (Service,)`` and ``writes = (Write(...),)``. A class
that declares neither gets the usual kinds and writes.
"""

from collections.abc import Iterable, Sequence
from types import NoneType
from typing import Any, Final

from quaymaster._api.objects import (
    ApiObject,
    CSIDriver,
    CSINode,
    CSIStorageCapacity,
    DeviceClass,
    DeviceTaintRule,
    Namespace,
    Node,
    PersistentVolume,
    PersistentVolumeClaim,
    Pod,
    PodDisruptionBudget,
    ReplicaSet,
    ReplicationController,
    ResourceClaim,
    ResourceSlice,
    Service,
    StatefulSet,
    StorageClass,
    VolumeAttachment,
)
from quaymaster._api.objects.kind_checks import kind_problem
from quaymaster._api.objects.kinds import KINDS
from quaymaster._core.contract.declarations import Verb, Write
from quaymaster._core.registry.kinds import kinds_of_plugin

__all__ = [
    "USUAL_KINDS",
    "access_problem",
    "declares_access",
    "in_order",
    "reads_of_plugin",
    "writes_of_plugin",
]

USUAL_KINDS: Final[Sequence[type[ApiObject]]] = (
    Namespace,
    Service,
    ReplicationController,
    ReplicaSet,
    StatefulSet,
    PodDisruptionBudget,
    StorageClass,
    PersistentVolume,
    PersistentVolumeClaim,
    CSIDriver,
    CSINode,
    CSIStorageCapacity,
    VolumeAttachment,
    DeviceClass,
    DeviceTaintRule,
    ResourceSlice,
    ResourceClaim,
    Node,
    Pod,
)
"""The kinds to follow for a plugin that does not declare its reads, in the order in
which a batch of changes is handled: objects that pods refer to come before the pods."""

_CORE_KINDS: Final = (Node, Pod)
_ATTRIBUTES: Final = ("reads", "writes")

_USUAL_WRITES: Final = (
    Write(Verb.CREATE, Pod, "binding"),
    Write(Verb.DELETE, Pod),
    Write(Verb.PATCH, Pod, "status"),
    Write(Verb.UPDATE, PersistentVolume),
    Write(Verb.UPDATE, PersistentVolumeClaim),
)
"""The writes allowed to a plugin that does not declare its writes."""


def declares_access(plugin: type) -> bool:
    """Whether a plugin's class declares its reads or its writes."""
    return any(_declared(plugin, name) is not None for name in _ATTRIBUTES)


def _declared(plugin: type, name: str) -> Any:  # noqa: ANN401 - checked at load
    """Return an attribute of a class; None if it is missing or a method."""
    owners = (base for base in plugin.__mro__ if name in vars(base))
    value = next((vars(owner)[name] for owner in owners), None)
    # A method or property called ``reads`` is the plugin's own business, and getting it
    # from the class would call a descriptor.
    return None if hasattr(value, "__get__") else value


def reads_of_plugin(plugin: type) -> Sequence[type[ApiObject]]:
    """Return the kinds that a plugin reads; its class must have been checked."""
    if not declares_access(plugin):
        return in_order((*USUAL_KINDS, *kinds_of_plugin(plugin)))
    declared = _declared(plugin, "reads") or ()
    return in_order((*_CORE_KINDS, *declared, *kinds_of_plugin(plugin)))


def writes_of_plugin(plugin: type) -> Sequence[Write]:
    """Return the writes that a plugin makes; its class must have been checked."""
    if declares_access(plugin):
        return tuple(_declared(plugin, "writes") or ())
    own = (Write(Verb.PATCH, kind, "status") for kind in kinds_of_plugin(plugin))
    return (*_USUAL_WRITES, *own)


def in_order(kinds: Iterable[type[ApiObject]]) -> Sequence[type[ApiObject]]:
    """Return kinds, each once, in the order in which changes are handled."""
    distinct = dict.fromkeys(kinds)
    usual = [kind for kind in USUAL_KINDS if kind in distinct]
    last = [kind for kind in usual if kind in _CORE_KINDS]
    others = [kind for kind in distinct if kind not in USUAL_KINDS]
    return (*(kind for kind in usual if kind not in last), *others, *last)


def access_problem(plugin: type) -> str:
    """Describe the error in the reads and writes of a class; empty if valid."""
    for name in _ATTRIBUTES:
        value = _declared(plugin, name)
        if not isinstance(value, (tuple, list, NoneType)):
            return f"{name}: expected a tuple, got {value!r}"
    for kind in _declared(plugin, "reads") or ():
        problem = kind_problem(kind) or _foreign(plugin, kind)
        if problem:
            return f"reads: {problem}"
    for write in _declared(plugin, "writes") or ():
        if not isinstance(write, Write):
            return f"writes: expected a Write, got {write!r}"
        problem = _write_problem(write)
        if problem:
            return f"writes: {problem}"
    return ""


def _foreign(plugin: type, kind: type[ApiObject]) -> str:
    if kind in KINDS.values() or kind in kinds_of_plugin(plugin):
        return ""
    name = kind.__name__
    return f"{name} is not a kind of Kubernetes itself: name it in kinds = ({name},)"


def _write_problem(write: Write) -> str:
    verb: object = write.verb
    if not isinstance(verb, Verb):
        return f"expected a Verb, got {verb!r}"
    return kind_problem(write.kind)
