"""Volumes reduce the published storage capacity until they are deleted."""

from msgspec.structs import replace

from quaymaster import ApiObject
from quaymaster.inmemory import InMemoryCluster
from quaymaster.objects import (
    CSIStorageCapacity,
    PersistentVolume,
    PersistentVolumeClaim,
    Quantity,
    StorageClass,
)
from quaymaster.testing import (
    make_csi_storage_capacity,
    make_node,
    make_persistent_volume_claim,
    make_storage_class,
)
from quaymaster.volumes import SELECTED_NODE
from tests.kit.clusters import make_cluster, react

KEY = "topology.topolvm.io/node"
KINDS: tuple[type[ApiObject], ...] = (
    StorageClass,
    CSIStorageCapacity,
    PersistentVolumeClaim,
    PersistentVolume,
)
NODES = tuple(make_node(name=name, labels={KEY: name}) for name in ("a", "b"))


def class_named(name: str, **parameters: str) -> StorageClass:
    storage_class = make_storage_class(name=name, provisioner="topolvm.io")
    return replace(storage_class, parameters=parameters)


def capacity_of(node: str, *, storage_class: str = "standard") -> CSIStorageCapacity:
    return make_csi_storage_capacity(
        name=f"{storage_class}-{node}",
        storage_class=storage_class,
        node_topology={KEY: node},
        capacity="10Gi",
        maximum_volume_size="8Gi",
    )


def cluster_with(*objects: ApiObject) -> InMemoryCluster:
    standard = (class_named("standard"), capacity_of("a"), capacity_of("b"))
    return make_cluster(*NODES, *standard, *objects)


def claim_at(
    node: str | None, name: str = "claim", storage: str = "7Gi"
) -> PersistentVolumeClaim:
    claim = make_persistent_volume_claim(name=name, storage=storage)
    annotations = {} if node is None else {SELECTED_NODE: node}
    return replace(claim, metadata=replace(claim.metadata, annotations=annotations))


def room(cluster: InMemoryCluster, name: str) -> tuple[str, str]:
    """Return the published capacity and the largest possible volume."""
    capacity = cluster.get(CSIStorageCapacity, f"default/{name}")
    return str(capacity.capacity), str(capacity.maximum_volume_size)


def test_volume_reduces_the_capacity_of_its_node_only() -> None:
    cluster = cluster_with(claim_at("a"))
    assert room(cluster, "standard-a") == ("3Gi", "3Gi")
    assert room(cluster, "standard-b") == ("10Gi", "8Gi")


def test_largest_volume_shrinks_only_to_what_is_left() -> None:
    cluster = cluster_with(claim_at("a", storage="1Gi"))
    assert room(cluster, "standard-a") == ("9Gi", "8Gi")


def test_deleted_volume_restores_the_capacity() -> None:
    cluster = cluster_with(claim_at("a"))
    cluster.delete(PersistentVolumeClaim, "default/claim")
    react(cluster)
    assert room(cluster, "standard-a") == ("10Gi", "8Gi")


def test_retained_volume_keeps_its_capacity() -> None:
    storage_class = replace(class_named("kept"), reclaim_policy="Retain")
    claim = make_persistent_volume_claim(storage_class="kept", storage="7Gi")
    metadata = replace(claim.metadata, annotations={SELECTED_NODE: "a"})
    capacity = capacity_of("a", storage_class="kept")
    cluster = make_cluster(
        *NODES, storage_class, capacity, replace(claim, metadata=metadata)
    )
    cluster.delete(PersistentVolumeClaim, "default/claim")
    react(cluster)
    assert room(cluster, "kept-a") == ("3Gi", "3Gi")


def test_capacity_does_not_fall_below_0() -> None:
    cluster = cluster_with(claim_at("a", "c1"), claim_at("a", "c2"))
    assert room(cluster, "standard-a") == ("0", "0")
    for name in ("c1", "c2"):
        cluster.delete(PersistentVolumeClaim, f"default/{name}")
    react(cluster)
    assert room(cluster, "standard-a") == ("10Gi", "8Gi")


def test_capacity_is_reduced_once_the_node_is_selected() -> None:
    cluster = cluster_with(claim_at(None))
    claim = cluster.get(PersistentVolumeClaim, "default/claim")
    metadata = replace(claim.metadata, annotations={SELECTED_NODE: "a"})
    cluster.update(replace(claim, metadata=metadata))
    assert room(cluster, "standard-a") == ("3Gi", "3Gi")
    react(cluster)
    assert room(cluster, "standard-a") == ("3Gi", "3Gi")


def test_another_selected_node_moves_the_reservation() -> None:
    cluster = cluster_with(claim_at(None))
    for node in ("a", "b"):
        claim = cluster.get(PersistentVolumeClaim, "default/claim")
        metadata = replace(claim.metadata, annotations={SELECTED_NODE: node})
        cluster.update(replace(claim, metadata=metadata))
    react(cluster)
    assert room(cluster, "standard-a") == ("10Gi", "8Gi")
    assert room(cluster, "standard-b") == ("3Gi", "3Gi")


def test_classes_with_the_same_parameters_share_their_storage() -> None:
    shared = class_named("shared", **{"csi.storage.k8s.io/fstype": "xfs"})
    other = class_named("other", device_class="slow")
    capacities = [capacity_of("a", storage_class=name) for name in ("shared", "other")]
    cluster = cluster_with(shared, other, *capacities, claim_at("a"))
    assert room(cluster, "shared-a") == ("3Gi", "3Gi")
    assert room(cluster, "other-a") == ("10Gi", "8Gi")


def test_deleted_volume_of_the_input_restores_its_capacity() -> None:
    first = cluster_with(claim_at("a"))
    objects = [obj for kind in KINDS for obj in first.list(kind).items]
    second = make_cluster(*NODES, *objects)
    assert room(second, "standard-a") == ("3Gi", "3Gi")
    second.delete(PersistentVolumeClaim, "default/claim")
    react(second)
    assert room(second, "standard-a") == ("10Gi", "10Gi")


def test_capacity_without_an_amount_stays_as_it_is() -> None:
    empty = make_csi_storage_capacity(name="empty", node_topology={KEY: "a"})
    cluster = cluster_with(empty, claim_at("a"))
    capacity = cluster.get(CSIStorageCapacity, "default/empty")
    assert capacity.capacity is None
    assert cluster.get(CSIStorageCapacity, "default/standard-a").capacity == Quantity(
        "3Gi"
    )
