"""Makers of the kinds that few plugins look up."""

import pytest

from quaymaster import ApiObject
from quaymaster.inmemory import InMemoryCluster
from quaymaster.objects import LabelSelector, Quantity, from_wire, to_wire
from quaymaster.scheduler import VirtualClock
from quaymaster.testing import (
    make_csi_driver,
    make_csi_storage_capacity,
    make_device_class,
    make_pod,
    make_replication_controller,
    make_runtime_class,
    make_stateful_set,
    make_volume_attachment,
)

MADE = [
    make_csi_driver(storage_capacity=True),
    make_csi_storage_capacity(node_topology={"zone": "a"}, capacity="5Gi"),
    make_device_class(),
    make_replication_controller(selector={"app": "web"}, replicas=0),
    make_runtime_class(overhead={"cpu": "250m"}, tolerations=("dedicated",)),
    make_stateful_set(selector={"app": "db"}, replicas=0),
    make_volume_attachment(),
]


@pytest.mark.parametrize("made", MADE, ids=lambda made: made.kind)
def test_what_is_made_goes_to_a_file_and_back(made: ApiObject) -> None:
    assert from_wire(to_wire(made), type(made)) == made
    assert made.uid


def test_a_csi_driver_and_its_storage() -> None:
    driver, attachment = (
        make_csi_driver(attach_required=False),
        make_volume_attachment(),
    )
    assert driver.spec.attach_required is False
    assert attachment.spec.attacher == driver.name
    assert attachment.status.attached
    everywhere = make_csi_storage_capacity(node_topology={}, maximum_volume_size="1Gi")
    assert everywhere.node_topology == LabelSelector()
    assert everywhere.maximum_volume_size == Quantity("1Gi")
    assert make_csi_storage_capacity().node_topology is None


def test_owners_make_pods_a_set() -> None:
    for owner in (make_replication_controller(), make_stateful_set()):
        (reference,) = make_pod(owner=owner).metadata.owner_references
        assert (reference.kind, reference.uid) == (owner.kind, owner.uid)


def test_a_runtime_class_costs_overhead() -> None:
    made = make_runtime_class(overhead={"cpu": "250m"}, node_selector={"kvm": "yes"})
    assert made.overhead is not None
    assert made.overhead.pod_fixed == {"cpu": Quantity("250m")}
    assert made.scheduling is not None
    assert made.scheduling.node_selector == {"kvm": "yes"}


def test_a_cluster_takes_them() -> None:
    cluster = InMemoryCluster(VirtualClock())
    cluster.load(MADE)
    for made in MADE:
        assert cluster.get(type(made), made.key).name == made.name
