"""A maker of nodes."""

from collections.abc import Iterable, Mapping
from typing import Final

from quaymaster._api.objects import (
    ContainerImage,
    Node,
    NodeCondition,
    NodeSpec,
    NodeStatus,
    Taint,
)
from quaymaster._authors.testing.makers.metadata import make_metadata
from quaymaster._authors.testing.shorthand import (
    Amounts,
    Moment,
    parse_taint,
    to_resource_list,
)

__all__ = ["make_node"]

_HOSTNAME: Final = "kubernetes.io/hostname"
_ZONE: Final = "topology.kubernetes.io/zone"
_REGION: Final = "topology.kubernetes.io/region"
_DEFAULT_CAPACITY: Final = {
    "cpu": "4",
    "memory": "16Gi",
    "ephemeral-storage": "100Gi",
    "pods": "110",
}


def make_node(
    *,
    name: str = "node",
    labels: Mapping[str, str] | None = None,
    annotations: Mapping[str, str] | None = None,
    zone: str | None = None,
    region: str | None = None,
    capacity: Amounts | None = None,
    allocatable: Amounts | None = None,
    taints: Iterable[str | Taint] = (),
    unschedulable: bool = False,
    images: Mapping[str, int] | None = None,
    declared_features: Iterable[str] = (),
    ready: bool = True,
    uid: str | None = None,
    creation_timestamp: Moment | None = None,
) -> Node:
    """Make a node, with the hostname label that its kubelet would set.

    Args:
        name: Its name.
        labels: More labels.
        annotations: Its annotations.
        zone: Its zone, as the well-known label.
        region: Its region, as the well-known label.
        capacity: What differs from 4 CPUs, 16Gi memory, 100Gi ephemeral storage and 110
            pods; extended resources, too.
        allocatable: The differences from the capacity.
        taints: Such as ``"key=value:NoSchedule"``.
        unschedulable: Whether it is cordoned (its taint is not added).
        images: The images that it has, with their sizes in bytes.
        declared_features: The features that its kubelet declares.
        ready: Whether it is ready.
        uid: Its uid; by default it is derived from the name.
        creation_timestamp: When it was created.
    """
    own = {_HOSTNAME: name}
    if zone is not None:
        own[_ZONE] = zone
    if region is not None:
        own[_REGION] = region
    amounts = to_resource_list({**_DEFAULT_CAPACITY, **(capacity or {})})
    return Node(
        metadata=make_metadata(
            Node,
            name=name,
            labels={**own, **(labels or {})},
            annotations=annotations,
            uid=uid,
            creation_timestamp=creation_timestamp,
        ),
        spec=NodeSpec(
            taints=tuple(map(parse_taint, taints)), unschedulable=unschedulable
        ),
        status=NodeStatus(
            capacity=amounts,
            allocatable={**amounts, **to_resource_list(allocatable)},
            conditions=(
                NodeCondition(type="Ready", status="True" if ready else "False"),
            ),
            images=tuple(
                ContainerImage(names=(image,), size_bytes=size)
                for image, size in (images or {}).items()
            ),
            declared_features=tuple(declared_features),
        ),
    )
