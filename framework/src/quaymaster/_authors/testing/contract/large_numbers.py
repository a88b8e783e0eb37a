"""Clusters with numbers as large as those of real clusters, which authors rarely draw.

A sum over the nodes of a zone is a thousand times what a node of a test has, and memory
is counted in bytes. Such numbers do not fit into 32 bits.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import Final

import attrs
from msgspec.structs import replace

from quaymaster._api.objects import (
    ApiObject,
    Container,
    Node,
    Pod,
    ResourceRequirements,
    to_wire,
)
from quaymaster._api.objects.quantity import Quantity
from quaymaster._api.objects.wire import read_tree
from quaymaster._authors.testing.contract.other_numbers import multiplied
from quaymaster._authors.testing.contract.small_cluster import SmallCluster
from quaymaster._authors.testing.contract.stressed import copy_on
from quaymaster._base.errors import ObjectError

__all__ = ["with_large_numbers"]

_FACTORS: Final[Mapping[str, int]] = {
    "cpu": 1_000_000,
    "memory": 1 << 16,
    "ephemeral-storage": 1 << 16,
}
"""Resource -> how many times as much; 16Gi become 1Pi, as a thousand nodes have.

Other resources are devices, of which a plugin may make a list.
"""

_FACTOR: Final = 1_000_000
"""Of the numbers in labels, annotations and own kinds."""


def with_large_numbers(cluster: SmallCluster) -> Iterator[tuple[SmallCluster, str]]:
    """Yield variants of a cluster with large numbers, and a description of each.

    The requests of all pods and the amounts of nodes are large in the first variant, so
    that the same pods fit. In the second one, the numbers in labels, annotations and
    objects of own kinds are. In both, pods like the waiting ones run on each node.
    """
    copies = tuple(
        copy_on(_ungated(pod), node)
        for node in cluster.nodes
        for pod in cluster.pending
    )
    cluster = attrs.evolve(cluster, pods=(*cluster.pods, *copies))
    nodes = tuple(map(_large_node, cluster.nodes))
    pods, pending = (
        tuple(map(_large_pod, group)) for group in (cluster.pods, cluster.pending)
    )
    if nodes != cluster.nodes or pods != cluster.pods or pending != cluster.pending:
        large = attrs.evolve(cluster, nodes=nodes, pods=pods, pending=pending)
        yield large, "requests of pods and amounts of nodes"
    numbers = attrs.evolve(
        cluster,
        nodes=tuple(multiplied(node, _FACTOR) for node in cluster.nodes),
        pods=tuple(multiplied(pod, _FACTOR) for pod in cluster.pods),
        pending=tuple(multiplied(pod, _FACTOR) for pod in cluster.pending),
        objects=tuple(map(_large_object, cluster.objects)),
    )
    if _parts(numbers) != _parts(cluster):
        yield numbers, "numbers of labels, annotations and objects"


def _ungated(pod: Pod) -> Pod:
    return replace(pod, spec=replace(pod.spec, scheduling_gates=()))


def _parts(cluster: SmallCluster) -> object:
    return cluster.nodes, cluster.pods, cluster.pending, cluster.objects


def _large_object(obj: ApiObject) -> ApiObject:
    large = multiplied(obj, _FACTOR)
    try:
        read_tree(to_wire(large), type(large))
    except ObjectError:
        return obj  # its kind limits the number
    return large


def _large_node(node: Node) -> Node:
    status = node.status
    amounts, capacity = map(_large_amounts, (status.allocatable, status.capacity))
    return replace(node, status=replace(status, allocatable=amounts, capacity=capacity))


def _large_pod(pod: Pod) -> Pod:
    spec = pod.spec
    spec = replace(
        spec,
        containers=_large_containers(spec.containers),
        init_containers=_large_containers(spec.init_containers),
        overhead=_large_amounts(spec.overhead),
        resources=spec.resources and _large_resources(spec.resources),
    )
    return replace(pod, spec=spec)


def _large_containers(containers: Iterable[Container]) -> tuple[Container, ...]:
    return tuple(map(_large_container, containers))


def _large_container(container: Container) -> Container:
    return replace(container, resources=_large_resources(container.resources))


def _large_resources(resources: ResourceRequirements) -> ResourceRequirements:
    requests, limits = map(_large_amounts, (resources.requests, resources.limits))
    return replace(resources, requests=requests, limits=limits)


def _large_amounts(amounts: Mapping[str, Quantity]) -> Mapping[str, Quantity]:
    return {
        name: Quantity.from_milli(amount.milli_value * _FACTORS[name], amount.format)
        if name in _FACTORS
        else amount
        for name, amount in amounts.items()
    }
