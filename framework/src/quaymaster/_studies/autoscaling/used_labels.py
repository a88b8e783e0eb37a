"""The labels of nodes, and the resources, that the pods of a cluster depend on."""

from collections.abc import Iterable, Mapping
from typing import Final

import msgspec

from quaymaster._api.objects import (
    ApiObject,
    Node,
    NodeSelectorRequirement,
    PersistentVolume,
    PodSpec,
    ResourceRequirements,
    StorageClass,
)

__all__ = ["used_labels", "used_resources"]

_OF_VOLUMES: Final = (
    "topology.kubernetes.io/zone",
    "topology.kubernetes.io/region",
    "failure-domain.beta.kubernetes.io/zone",
    "failure-domain.beta.kubernetes.io/region",
)
_ALWAYS: Final = frozenset(("cpu", "memory", "pods"))


def used_labels(objects: Iterable[ApiObject]) -> frozenset[str]:
    """Return the labels of nodes that decide where pods of some objects may be.

    Templates of pods count as pods do, in objects of all kinds.

    Args:
        objects: The objects of a cluster.
    """
    keys: set[str] = set()
    for spec in _structs(objects, (PersistentVolume, PodSpec, StorageClass)):
        for part in _parts(spec):
            keys.update(_keys_of(part))
    return frozenset(keys)


def used_resources(objects: Iterable[ApiObject]) -> frozenset[str]:
    """Return the resources that pods of some objects request.

    Args:
        objects: The objects of a cluster.
    """
    names = set(_ALWAYS)
    for spec in _structs(objects, (PodSpec,)):
        for part in _parts(spec):
            if isinstance(part, ResourceRequirements):
                names.update(part.requests, part.limits)
    return frozenset(names)


def _keys_of(part: msgspec.Struct) -> Iterable[str]:
    if isinstance(part, NodeSelectorRequirement):
        return (part.key,)
    if isinstance(part, PodSpec):
        # Volumes may be in some zones only, wherever they are made.
        volumes = _OF_VOLUMES if part.volumes else ()
        return (*part.node_selector, *volumes)
    if isinstance(part, StorageClass):
        return _OF_VOLUMES if part.allowed_topologies else ()
    key = getattr(part, "topology_key", "")
    return (key,) if key else ()


def _structs(
    objects: Iterable[ApiObject], kinds: tuple[type[msgspec.Struct], ...]
) -> Iterable[msgspec.Struct]:
    """Return the parts of some kinds in objects; specs that are shared come once."""
    parts: dict[int, msgspec.Struct] = {}
    for obj in objects:
        if isinstance(obj, Node):
            continue
        own = [obj] if isinstance(obj, kinds) else []
        for part in own or _parts(obj, kinds):
            if isinstance(part, kinds):
                # By identity: pods of one workload share their spec, and comparing
                # specs would cost as much as reading them.
                parts[id(part)] = part
    return parts.values()


def _parts(
    struct: msgspec.Struct, stops: tuple[type[msgspec.Struct], ...] = ()
) -> list[msgspec.Struct]:
    """Return a struct and all structs in it, at any depth.

    Args:
        struct: The struct.
        stops: Structs of these classes are not looked into.
    """
    parts: list[msgspec.Struct] = []
    open_values: list[object] = [struct]
    while open_values:
        value = open_values.pop()
        if isinstance(value, msgspec.Struct):
            parts.append(value)
            # Identity: the struct itself is always looked into, an equal part is not.
            if value is struct or not isinstance(value, stops):
                names = value.__struct_fields__
                open_values += (getattr(value, name) for name in names)
        elif isinstance(value, Mapping):
            open_values += value.values()
        elif isinstance(value, list | tuple):
            open_values += value
    return parts
