"""Extreme clusters, which authors rarely draw: equal nodes, huge ones, odd labels."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final, TypeVar

import attrs
from msgspec.structs import replace

from quaymaster._api.objects import ApiObject, Node, Pod
from quaymaster._api.objects.quantity import Quantity
from quaymaster._authors.testing.contract.small_cluster import SmallCluster
from quaymaster._authors.testing.makers.metadata import make_uid

__all__ = [
    "NOT_NUMBERS",
    "ODD_NUMBERS",
    "copy_of",
    "copy_on",
    "relabelled",
    "stressed",
    "with_equal_nodes",
    "with_texts",
]

ObjT = TypeVar("ObjT", bound=ApiObject)

_VALUES: Final = ("", "0", "a.b.c.d.e.f.g.h", "a-b-c-d-e-f-g-h")
"""Values that every label may have, whatever their author expects."""

ODD_NUMBERS: Final[Mapping[str, str]] = {
    "nan": "float() accepts it, so test the number with math.isfinite",
    "inf": "float() accepts it, so test the number with math.isfinite",
    "1e400": "float() returns infinity, so test the number with math.isfinite",
    "0": "do not divide by it",
    "-1": "test whether the number is negative",
    "²": "isdigit() accepts it, but int() does not; isdecimal() is right",
    "9" * 5_000: "int() accepts 4300 digits only, so limit the length of the text",
}
"""Texts that look like numbers to some functions -> what to do about them."""

NOT_NUMBERS: Final = ("", "a.b", "a-b")
"""Texts that neither `int` nor `float` accepts."""

_LARGE: Final = "1000"
"""A larger value of nodes than most authors draw.

Pods do not get it: they would request more than any node has, and a plugin may leave it
to other filters to reject them. With 999999999, plugins made lists of so many devices.
"""

_EQUAL_NODES: Final = 4

_USUAL_KEYS: Final = ("kubernetes.io/", "k8s.io/")
"""Kubernetes itself writes these labels."""

_HUGE: Final[Mapping[str, Quantity]] = {
    "cpu": Quantity("448"),
    "memory": Quantity("24Ti"),
    "pods": Quantity("1000"),
}


def stressed(cluster: SmallCluster) -> Iterator[SmallCluster]:
    """Yield extreme variants of a cluster; an API server accepts their objects."""
    if not cluster.nodes:
        return
    first, *others = cluster.nodes
    yield attrs.evolve(cluster, nodes=(first,), pods=_on(cluster, first))
    yield with_equal_nodes(cluster, first)
    yield attrs.evolve(cluster, nodes=(_huge(first), *others))
    yield attrs.evolve(cluster, nodes=(_tainted(first, cluster), *others))
    for value in (*_VALUES, _LARGE):
        node = relabelled(first, cluster.nodes, value)
        yield attrs.evolve(cluster, nodes=(node, *others))
    for value in _VALUES:
        pending = tuple(
            relabelled(pod, cluster.pending, value) for pod in cluster.pending
        )
        yield attrs.evolve(cluster, pending=pending)


def with_equal_nodes(cluster: SmallCluster, model: Node) -> SmallCluster:
    """Return a cluster whose nodes and their pods differ only in their names.

    It has four nodes, so that two processes rarely draw the same one.
    """
    nodes = tuple(copy_of(model, f"n{at}") for at in range(_EQUAL_NODES))
    pods = tuple(
        copy_on(pod, node)
        for node in nodes
        for pod in cluster.pods
        if pod.node_name == model.name
    )
    return attrs.evolve(cluster, nodes=nodes, pods=pods)


def with_texts(cluster: SmallCluster, texts: Sequence[str]) -> SmallCluster:
    """Return a cluster with a further node, and a further waiting pod, for each text.

    Args:
        cluster: The cluster, which has a node and a waiting pod.
        texts: The values of all their labels and annotations.
    """
    nodes = [
        copy_of(relabelled(cluster.nodes[0], cluster.nodes, text), f"text-{at}")
        for at, text in enumerate(texts)
    ]
    pending = [
        _renamed(relabelled(cluster.pending[0], cluster.pending, text), f"text-{at}")
        for at, text in enumerate(texts)
    ]
    return attrs.evolve(
        cluster,
        nodes=(*cluster.nodes, *nodes),
        pending=(*cluster.pending, *pending),
    )


def _on(cluster: SmallCluster, node: Node) -> tuple[Pod, ...]:
    return tuple(pod for pod in cluster.pods if pod.node_name == node.name)


def copy_of(model: Node, name: str) -> Node:
    """Return a node like another, with a name of its own."""
    labels = {**model.metadata.labels, "kubernetes.io/hostname": name}
    uid = make_uid(Node, name)
    metadata = replace(model.metadata, name=name, uid=uid, labels=labels)
    return replace(model, metadata=metadata)


def copy_on(pod: Pod, node: Node) -> Pod:
    """Return a pod like another, with a name of its own, that runs on a node."""
    return replace(_renamed(pod, f"{pod.name}-{node.name}"), node_name=node.name)


def _renamed(pod: Pod, name: str) -> Pod:
    uid = make_uid(Pod, name, pod.namespace)
    return replace(pod, metadata=replace(pod.metadata, name=name, uid=uid))


def _huge(node: Node) -> Node:
    amounts = {**node.status.allocatable, **_HUGE}
    return replace(
        node, status=replace(node.status, allocatable=amounts, capacity=amounts)
    )


def _tainted(node: Node, cluster: SmallCluster) -> Node:
    """Return a node with the taints of all nodes."""
    taints = [taint for each in cluster.nodes for taint in each.spec.taints]
    return replace(node, spec=replace(node.spec, taints=tuple(dict.fromkeys(taints))))


def relabelled(obj: ObjT, alike: Iterable[ApiObject], value: str) -> ObjT:
    """Return an object that has one value for all labels and annotations.

    Labels stay as they are if the value cannot be that of a label.

    Args:
        obj: The object.
        alike: The objects whose keys it gets.
        value: The value.
    """
    labels, annotations = (
        {**part(obj), **dict.fromkeys(_keys(map(part, alike)), value)}
        for part in (_labels, _annotations)
    )
    if not _is_label_value(value):
        labels = {**_labels(obj)}
    metadata = replace(obj.metadata, labels=labels, annotations=annotations)
    return replace(obj, metadata=metadata)


def _is_label_value(text: str) -> bool:
    """Return whether a label can have a value, by its first and last characters."""
    ends = f"{text[:1]}{text[-1:]}"
    return (
        len(text) <= _MOST_CHARACTERS
        and (not ends or ends.isalnum())
        and text.isascii()
    )


_MOST_CHARACTERS: Final = 63


def _labels(obj: ApiObject) -> Mapping[str, str]:
    return obj.metadata.labels


def _annotations(obj: ApiObject) -> Mapping[str, str]:
    return obj.metadata.annotations


def _keys(parts: Iterable[Mapping[str, str]]) -> Sequence[str]:
    """Return the keys that Kubernetes itself does not write."""
    keys = dict.fromkeys(key for part in parts for key in part)
    return [key for key in keys if not any(usual in key for usual in _USUAL_KEYS)]
