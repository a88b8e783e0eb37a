"""Copies nodes with the objects that drivers keep for them."""

from collections.abc import Collection, Iterator
from contextlib import suppress

from msgspec.structs import replace

from quaymaster._api.objects import (
    ApiObject,
    CSINode,
    Node,
    NodeStatus,
    ObjectMeta,
    ResourceSlice,
)
from quaymaster._clusters.inmemory.cluster import InMemoryCluster
from quaymaster._clusters.inmemory.simulated_devices import DEVICES_ANNOTATION
from quaymaster._core.contract.cluster import NotFoundError

__all__ = ["copies_for", "copy_of_node", "objects_of_node"]

_HOSTNAME = "kubernetes.io/hostname"
_OWN_TAINTS = "node.kubernetes.io/"
"""The node controllers add and remove taints with this prefix."""


def copy_of_node(node: Node, taken: Collection[str]) -> Node:
    """Return a new, empty node of the same kind.

    Labels with the name of the old node get the new name. Images, conditions and taints
    of the node controllers are not copied.

    Args:
        node: The node.
        taken: The names of nodes that exist.
    """
    name = _free_name(node.name, taken)
    return replace(
        node,
        metadata=ObjectMeta(
            name=name,
            labels=_labels(node, name),
            annotations=node.annotations,
        ),
        spec=replace(
            node.spec,
            provider_id="",
            unschedulable=False,
            taints=tuple(
                taint
                for taint in node.spec.taints
                if not taint.key.startswith(_OWN_TAINTS)
            ),
        ),
        status=NodeStatus(
            capacity=node.status.capacity,
            allocatable=node.status.allocatable,
            declared_features=node.status.declared_features,
        ),
    )


def objects_of_node(cluster: InMemoryCluster, node: Node) -> list[ApiObject]:
    """Return the objects that drivers keep for a node: its CSINode and its devices."""
    objects: list[ApiObject] = []
    with suppress(NotFoundError):
        objects.append(cluster.get(CSINode, node.name))
    # The cluster itself keeps the slices of devices from an annotation.
    if DEVICES_ANNOTATION not in node.annotations:
        objects += [
            part
            for part in cluster.list(ResourceSlice).items
            if part.spec.node_name == node.name
        ]
    return objects


def copies_for(objects: list[ApiObject], old: Node, new: Node) -> Iterator[ApiObject]:
    """Yield copies of the old node's driver objects for the new node."""
    for obj in objects:
        if isinstance(obj, CSINode):
            yield replace(obj, metadata=ObjectMeta(name=new.name))
        elif isinstance(obj, ResourceSlice):
            pool = obj.spec.pool
            if pool.name == old.name:
                pool = replace(pool, name=new.name)
            yield replace(
                obj,
                metadata=ObjectMeta(name=f"{new.name}-{obj.name}"),
                spec=replace(obj.spec, node_name=new.name, pool=pool),
            )


def _labels(node: Node, name: str) -> dict[str, str]:
    labels = {
        key: name if value == node.name else value for key, value in node.labels.items()
    }
    return labels | ({_HOSTNAME: name} if _HOSTNAME in labels else {})


def _free_name(name: str, taken: Collection[str]) -> str:
    number = 1
    while f"{name}-{number}" in taken:
        number += 1
    return f"{name}-{number}"
