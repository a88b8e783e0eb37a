"""What plugins read and write, as their classes declare it.

A plugin's class says ``reads = (Service,)`` and ``writes = (Write(...),)``. One that
says neither is taken to need what a scheduler of every profile needs.
"""

import inspect
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
"""What is followed for a plugin that does not declare what it reads, in the order in
which a batch of changes is handled: what pods refer to comes before the pods."""

_CORE_KINDS: Final = (Node, Pod)
_ATTRIBUTES: Final = ("reads", "writes")

_USUAL_WRITES: Final = (
    Write(Verb.CREATE, Pod, "binding"),
    Write(Verb.DELETE, Pod),
    Write(Verb.PATCH, Pod, "status"),
    Write(Verb.UPDATE, PersistentVolume),
    Write(Verb.UPDATE, PersistentVolumeClaim),
)
"""What a plugin that does not declare what it writes may write."""


def declares_access(plugin: type) -> bool:
    """Whether a plugin's class says what it reads and writes."""
    return any(_declared(plugin, name) is not None for name in _ATTRIBUTES)


def _declared(plugin: type, name: str) -> Any:  # noqa: ANN401 - checked at load
    """What an attribute of a class declares; None if there is none, or a method."""
    found = inspect.getattr_static(plugin, name, None)
    return None if hasattr(found, "__get__") else found


def reads_of_plugin(plugin: type) -> Sequence[type[ApiObject]]:
    """The kinds that a plugin reads, nodes and pods first; its class is all right."""
    if not declares_access(plugin):
        return in_order((*USUAL_KINDS, *kinds_of_plugin(plugin)))
    declared = _declared(plugin, "reads") or ()
    return in_order((*_CORE_KINDS, *declared, *kinds_of_plugin(plugin)))


def writes_of_plugin(plugin: type) -> Sequence[Write]:
    """The writes that a plugin makes; its class is all right."""
    if declares_access(plugin):
        return tuple(_declared(plugin, "writes") or ())
    own = (Write(Verb.PATCH, kind, "status") for kind in kinds_of_plugin(plugin))
    return (*_USUAL_WRITES, *own)


def in_order(kinds: Iterable[type[ApiObject]]) -> Sequence[type[ApiObject]]:
    """Return kinds, each once, in the order in which changes are handled."""
    found = dict.fromkeys(kinds)
    usual = [kind for kind in USUAL_KINDS if kind in found]
    last = [kind for kind in usual if kind in _CORE_KINDS]
    others = [kind for kind in found if kind not in USUAL_KINDS]
    return (*(kind for kind in usual if kind not in last), *others, *last)


def access_problem(plugin: type) -> str:
    """What is wrong with the reads and writes that a class declares, or empty."""
    for name in _ATTRIBUTES:
        found = _declared(plugin, name)
        if not isinstance(found, (tuple, list, NoneType)):
            return f"{name}: expected a tuple, got {found!r}"
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
    return f"{name} is no kind of Kubernetes itself: name it in kinds = ({name},)"


def _write_problem(write: Write) -> str:
    verb: object = write.verb
    if not isinstance(verb, Verb):
        return f"expected a Verb, got {verb!r}"
    return kind_problem(write.kind)
