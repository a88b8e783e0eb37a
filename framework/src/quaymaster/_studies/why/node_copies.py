"""Copies of nodes, with the objects and the pods that come with every node."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final, TypeAlias

import msgspec

from quaymaster._api.objects import (
    ApiObject,
    CSIStorageCapacity,
    DaemonSet,
    Node,
    ObjectMeta,
    Pod,
    ResourceSlice,
)
from quaymaster._api.objects.wire import from_wire, to_wire
from quaymaster._studies.why.label_families import HOSTNAME, is_identity
from quaymaster._studies.why.node_facts import passing_taints

__all__ = ["MIRROR", "copies"]

MIRROR: Final = "kubernetes.io/config.mirror"
"""The annotation of static pods."""
_BY_SERVER: Final = ("uid", "resourceVersion", "creationTimestamp", "managedFields")

Json: TypeAlias = Any
"""A value of a JSON document."""


def copies(
    objects: Iterable[ApiObject],
    node: Node,
    name: str,
    labels: Mapping[str, str | None],
) -> Iterator[ApiObject]:
    """Yield a new node, and copies of what comes with the old one.

    Args:
        objects: The objects of the input.
        node: The old node.
        name: The name of the new node.
        labels: The labels that differ; None for those that the new node lacks.
    """
    given = list(objects)
    workloads = {
        (obj.namespace or "default", obj.name)
        for obj in given
        if isinstance(obj, DaemonSet)
    }
    yield _copied_node(node, name, labels)
    for obj in given:
        if isinstance(obj, Pod):
            if obj.node_name == node.name and _is_agent(obj, workloads):
                yield _renamed(obj, node, name)
        elif not isinstance(obj, Node) and _belongs(obj, node):
            yield _renamed(obj, node, name)


def _copied_node(node: Node, name: str, labels: Mapping[str, str | None]) -> Node:
    own = {
        key: name if value in _names(node) or key == HOSTNAME else value
        for key, value in node.labels.items()
        if value in _names(node) or not is_identity(key) or key == HOSTNAME
    } | dict(labels)
    metadata = ObjectMeta(
        name=name,
        labels={key: value for key, value in own.items() if value is not None},
        annotations=node.annotations,
    )
    passing = set(passing_taints(node.spec.taints))
    taints = tuple(taint for taint in node.spec.taints if taint not in passing)
    # The id belongs to one machine, and a cordon or passing taints to its present
    # state.
    spec = msgspec.structs.replace(
        node.spec, provider_id="", unschedulable=False, taints=taints
    )
    status = msgspec.structs.replace(
        node.status, conditions=(), volumes_in_use=(), volumes_attached=()
    )
    return Node(metadata=metadata, spec=spec, status=status)


def _names(node: Node) -> tuple[str, str]:
    return node.name, node.labels.get(HOSTNAME, node.name)


def _is_agent(pod: Pod, workloads: Iterable[tuple[str, str]]) -> bool:
    """Whether a pod of a node runs on every node like it, and no controller adds it.

    These are static pods, and pods of DaemonSets that the input lacks.
    """
    if pod.is_finished or pod.is_terminating:
        return False
    owner = pod.metadata.controller
    if owner is None:
        return False
    if owner.kind == DaemonSet.kind:
        return (pod.namespace or "default", owner.name) not in workloads
    return _is_static(pod)


def _is_static(pod: Pod) -> bool:
    owner = pod.metadata.controller
    return owner is not None and owner.kind == Node.kind


def _belongs(obj: ApiObject, node: Node) -> bool:
    """Whether an object describes a node: it has its name, or its spec names it.

    Examples are CSINodes, NodeResourceTopologies, ResourceSlices, and the capacities of
    local storage.
    """
    if isinstance(obj, CSIStorageCapacity):
        topology = obj.node_topology
        labels = topology.match_labels if topology is not None else {}
        return any(value in _names(node) for value in labels.values())
    if obj.namespaced:
        return False
    spec = getattr(obj, "spec", None)
    return obj.name == node.name or getattr(spec, "node_name", None) == node.name


def _renamed(obj: ApiObject, node: Node, new: str) -> ApiObject:
    tree = _replaced(to_wire(obj), _names(node), new)
    metadata: dict[str, Any] = tree["metadata"]
    for field in _BY_SERVER:
        metadata.pop(field, None)
    # The owner is mostly the old node, and the copy would be collected with it.
    if not isinstance(obj, Pod):
        metadata.pop("ownerReferences", None)
    elif _is_static(obj):
        # Its owner is the old node, by uid.
        metadata.pop("ownerReferences", None)
        metadata.setdefault("annotations", {}).setdefault(MIRROR, new)
    if metadata["name"] == obj.name:
        metadata["name"] = f"{obj.name}-{new}"
    # The slices of a pool are one set: with the old name, the copy would belong to the
    # devices of the old node.
    pool = tree["spec"].get("pool") if isinstance(obj, ResourceSlice) else None
    if pool and pool["name"] != new:
        pool["name"] = f"{pool['name']}-{new}"
    return from_wire(tree, type(obj))


def _replaced(value: Json, old: tuple[str, ...], new: str) -> Json:
    """Return a tree in which every text that equals one of some names is replaced.

    Fields named ``available`` become equal to ``allocatable`` beside them, because
    nothing runs on the new node yet.
    """
    if isinstance(value, dict):
        tree = {key: _replaced(each, old, new) for key, each in value.items()}
        # A zone of a NodeResourceTopology: on a new node, nothing is in use.
        if "available" in tree and "allocatable" in tree:
            tree["available"] = tree["allocatable"]
        return tree
    if isinstance(value, list):
        return [_replaced(each, old, new) for each in value]
    return new if value in old else value
