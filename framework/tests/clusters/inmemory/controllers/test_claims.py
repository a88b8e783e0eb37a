"""The in-memory cluster binds claims and provisions volumes for them."""

import pytest
from msgspec.structs import replace

from quaymaster import Pod
from quaymaster.cluster import NotFoundError
from quaymaster.inmemory import InMemoryCluster
from quaymaster.objects import (
    CSINode,
    EphemeralVolumeSource,
    PersistentVolume,
    PersistentVolumeClaim,
    PersistentVolumeClaimTemplate,
    StorageClass,
    Volume,
)
from quaymaster.testing import (
    make_csi_node,
    make_node,
    make_persistent_volume,
    make_persistent_volume_claim,
    make_pod,
    make_storage_class,
)
from quaymaster.volumes import (
    NO_PROVISIONER,
    SELECTED_NODE,
    VolumeTopology,
    is_bound_to,
    is_fully_bound,
)
from tests.kit.clusters import make_cluster, react

ZONE = "topology.kubernetes.io/zone"
IMMEDIATE = make_storage_class(volume_binding_mode="Immediate")
NODE = make_node(labels={ZONE: "a", "rack": "r1"})


def claim_in(cluster: InMemoryCluster, name: str = "claim") -> PersistentVolumeClaim:
    return cluster.get(PersistentVolumeClaim, f"default/{name}")


def volume_of(cluster: InMemoryCluster, name: str = "claim") -> PersistentVolume:
    """Return the volume of a claim, and check that both agree."""
    claim = claim_in(cluster, name)
    assert is_fully_bound(claim)
    assert claim.status.phase == "Bound"
    volume = cluster.get(PersistentVolume, claim.spec.volume_name)
    assert is_bound_to(volume, claim)
    assert volume.status.phase == "Bound"
    return volume


def select(cluster: InMemoryCluster, node: str) -> None:
    """Write the selected node to the claim, as the scheduler does."""
    claim = claim_in(cluster)
    annotations = claim.annotations | {SELECTED_NODE: node}
    metadata = replace(claim.metadata, annotations=annotations)
    cluster.update(replace(claim, metadata=metadata))
    react(cluster)


def test_immediate_claim_gets_a_new_volume_at_once() -> None:
    cluster = make_cluster(IMMEDIATE, make_persistent_volume_claim(storage="3Gi"))
    volume = volume_of(cluster)
    assert volume.spec.capacity["storage"].value == 3 * 2**30
    assert volume.spec.csi is not None
    assert volume.spec.csi.driver == "csi.example.com"
    assert VolumeTopology(volume).includes({})


def test_immediate_claim_prefers_a_volume_that_exists() -> None:
    volumes = [make_persistent_volume(name=f"v{n}", storage=f"{n}Gi") for n in (5, 2)]
    cluster = make_cluster(IMMEDIATE, *volumes, make_persistent_volume_claim())
    assert volume_of(cluster).name == "v2"


def test_volumes_without_a_status_become_available() -> None:
    volume = make_persistent_volume()
    volume = replace(volume, status=replace(volume.status, phase=""))
    cluster = make_cluster(volume)
    assert cluster.get(PersistentVolume, "volume").status.phase == "Available"


def test_claim_waits_for_a_volume_without_a_provisioner() -> None:
    static = make_storage_class(
        provisioner=NO_PROVISIONER, volume_binding_mode="Immediate"
    )
    cluster = make_cluster(static, make_persistent_volume_claim())
    assert not is_fully_bound(claim_in(cluster))
    cluster.create(make_persistent_volume())
    react(cluster)
    assert volume_of(cluster).name == "volume"


def test_delayed_claim_waits_for_its_node() -> None:
    cluster = make_cluster(NODE, make_storage_class(), make_persistent_volume_claim())
    assert not is_fully_bound(claim_in(cluster))
    select(cluster, "node")
    topology = VolumeTopology(volume_of(cluster))
    assert topology.includes({ZONE: "a"})
    assert not topology.includes({ZONE: "b"})


def test_delayed_claim_does_not_take_free_volumes_by_itself() -> None:
    volume = make_persistent_volume()
    cluster = make_cluster(
        NODE, make_storage_class(), volume, make_persistent_volume_claim()
    )
    assert not is_fully_bound(claim_in(cluster))


def test_volume_that_is_reserved_for_a_delayed_claim_is_bound_to_it() -> None:
    claim = make_persistent_volume_claim()
    cluster = make_cluster(make_storage_class(), claim, make_persistent_volume())
    volume = cluster.get(PersistentVolume, "volume")
    kept = make_persistent_volume(claim=claim_in(cluster)).spec.claim_ref
    cluster.update(replace(volume, spec=replace(volume.spec, claim_ref=kept)))
    react(cluster)
    assert volume_of(cluster).name == "volume"


def test_claim_that_names_its_volume_is_bound_to_that_one() -> None:
    claim = make_persistent_volume_claim()
    claim = replace(claim, spec=replace(claim.spec, volume_name="wanted"))
    volumes = [make_persistent_volume(name=name) for name in ("other", "wanted")]
    cluster = make_cluster(IMMEDIATE, claim, *volumes)
    assert volume_of(cluster).name == "wanted"


def test_topology_labels_of_the_driver_decide_where_a_new_volume_is() -> None:
    csi_node = make_csi_node(limits={"csi.example.com": 9})
    (driver,) = csi_node.spec.drivers
    drivers = (replace(driver, topology_keys=("rack",)),)
    csi_node = replace(csi_node, spec=replace(csi_node.spec, drivers=drivers))
    assert isinstance(csi_node, CSINode)
    cluster = make_cluster(
        NODE, csi_node, make_storage_class(), make_persistent_volume_claim()
    )
    select(cluster, "node")
    topology = VolumeTopology(volume_of(cluster))
    assert topology.includes({"rack": "r1"})
    assert not topology.includes({ZONE: "a"})


def test_allowed_topologies_decide_where_a_new_volume_is() -> None:
    storage_class = make_storage_class(allowed_topologies=[{"rack": ["r1", "r2"]}])
    cluster = make_cluster(NODE, storage_class, make_persistent_volume_claim())
    select(cluster, "node")
    assert VolumeTopology(volume_of(cluster)).label_keys == {"rack"}


def test_a_lost_node_is_given_back_to_the_scheduler() -> None:
    cluster = make_cluster(NODE, make_storage_class(), make_persistent_volume_claim())
    select(cluster, "gone")
    assert SELECTED_NODE not in claim_in(cluster).annotations


@pytest.mark.parametrize("policy", ["Delete", "Retain"])
def test_volume_is_deleted_with_its_claim_if_its_policy_is_delete(policy: str) -> None:
    storage_class = replace(IMMEDIATE, reclaim_policy=policy)
    cluster = make_cluster(storage_class, make_persistent_volume_claim())
    name = volume_of(cluster).name
    cluster.delete(PersistentVolumeClaim, "default/claim")
    react(cluster)
    if policy == "Retain":
        assert cluster.get(PersistentVolume, name).status.phase == "Released"
    else:
        with pytest.raises(NotFoundError):
            cluster.get(PersistentVolume, name)


def test_claims_of_ephemeral_volumes_come_and_go_with_their_pod() -> None:
    template = PersistentVolumeClaimTemplate(
        spec=make_persistent_volume_claim(storage_class="standard").spec
    )
    source = EphemeralVolumeSource(volume_claim_template=template)
    pod = make_pod(volumes=[Volume(name="scratch", ephemeral=source)])
    cluster = make_cluster(IMMEDIATE, pod)
    claim = claim_in(cluster, "pod-scratch")
    assert claim.metadata.controller is not None
    assert claim.metadata.controller.uid == cluster.get(Pod, "default/pod").uid
    assert volume_of(cluster, "pod-scratch").status.phase == "Bound"
    cluster.delete(Pod, "default/pod", grace_period_seconds=0)
    react(cluster)
    with pytest.raises(NotFoundError):
        claim_in(cluster, "pod-scratch")


# The default class --------------------------------------------------------------------


def test_a_cluster_without_classes_has_a_default_one() -> None:
    claim = make_persistent_volume_claim(storage_class=None)
    cluster = make_cluster(NODE, claim)
    (storage_class,) = cluster.list(StorageClass).items
    assert storage_class.name == "standard"
    assert storage_class.volume_binding_mode == "WaitForFirstConsumer"
    assert claim_in(cluster).spec.storage_class_name == "standard"
    select(cluster, "node")
    assert VolumeTopology(volume_of(cluster)).includes({ZONE: "a"})


@pytest.mark.parametrize("name", ["standard", "other"])
def test_given_classes_replace_the_default_one(name: str) -> None:
    given = make_storage_class(name=name)
    claim = make_persistent_volume_claim(storage_class=None)
    loaded = make_cluster(given, claim)
    assert [item.name for item in loaded.list(StorageClass).items] == [name]
    assert claim_in(loaded).spec.storage_class_name is None
    created = make_cluster()
    created.create(given)
    assert [item.name for item in created.list(StorageClass).items] == [name]


def test_deleted_volume_does_not_wait_for_the_finalizers_of_its_driver() -> None:
    cluster = make_cluster(IMMEDIATE, make_persistent_volume_claim())
    volume = volume_of(cluster)
    finalizers = (
        "external-provisioner.volume.kubernetes.io/finalizer",
        "kubernetes.io/pv-protection",
        "external-attacher/csi-example-com",
    )
    metadata = replace(volume.metadata, finalizers=finalizers)
    cluster.update(replace(volume, metadata=metadata))
    cluster.delete(PersistentVolumeClaim, "default/claim")
    react(cluster)
    assert not cluster.list(PersistentVolume).items
