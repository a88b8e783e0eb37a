"""Provisioned volumes get a source and a node affinity."""

from collections.abc import Sequence

import pytest
from msgspec.structs import replace

from quaymaster import ApiObject, Node
from quaymaster.inmemory import InMemoryCluster
from quaymaster.objects import (
    CSINode,
    PersistentVolume,
    PersistentVolumeClaim,
    StorageClass,
)
from quaymaster.testing import (
    make_csi_node,
    make_csi_storage_capacity,
    make_node,
    make_persistent_volume_claim,
    make_storage_class,
)
from quaymaster.volumes import SELECTED_NODE, VolumeTopology, is_fully_bound
from tests.kit.clusters import make_cluster, react

HOSTNAME = "kubernetes.io/hostname"
REGION = "topology.kubernetes.io/region"
ZONE = "topology.kubernetes.io/zone"
TOPOLVM = "topology.topolvm.io/node"
NODE = make_node(labels={HOSTNAME: "node", ZONE: "a", REGION: "r", TOPOLVM: "node"})


def class_of(provisioner: str, mode: str = "WaitForFirstConsumer") -> StorageClass:
    return make_storage_class(provisioner=provisioner, volume_binding_mode=mode)


def claim_in(cluster: InMemoryCluster, name: str = "claim") -> PersistentVolumeClaim:
    return cluster.get(PersistentVolumeClaim, f"default/{name}")


def volume_in(cluster: InMemoryCluster, name: str = "claim") -> PersistentVolume:
    volume_name = claim_in(cluster, name).spec.volume_name
    return cluster.get(PersistentVolume, volume_name)


def provisioned(
    *objects: ApiObject, nodes: Sequence[Node] = (NODE,)
) -> PersistentVolume:
    """Return the volume of a claim whose node the scheduler selected."""
    claim = make_persistent_volume_claim()
    annotations = {SELECTED_NODE: "node"}
    claim = replace(claim, metadata=replace(claim.metadata, annotations=annotations))
    return volume_in(make_cluster(*nodes, claim, *objects))


def topology_keys(volume: PersistentVolume) -> set[str]:
    return set(VolumeTopology(volume).label_keys)


def csi_node_with(driver_name: str, *keys: str) -> CSINode:
    csi_node = make_csi_node(limits={driver_name: 9})
    (driver,) = csi_node.spec.drivers
    drivers = (replace(driver, topology_keys=keys),)
    return replace(csi_node, spec=replace(csi_node.spec, drivers=drivers))


@pytest.mark.parametrize(
    ("provisioner", "source"),
    [
        ("rancher.io/local-path", "host_path"),
        ("k8s.io/minikube-hostpath", "host_path"),
        ("openebs.io/local", "local"),
        ("cluster.local/files-nfs-subdir-external-provisioner", "nfs"),
        ("topolvm.io", "csi"),
        ("kubernetes.io/aws-ebs", "csi"),
        ("csi.example.com", "csi"),
        ("example.com/unknown", "flex_volume"),
        ("under_scores", "flex_volume"),
    ],
)
def test_volume_has_the_source_that_its_provisioner_writes(
    provisioner: str, source: str
) -> None:
    volume = provisioned(class_of(provisioner))
    assert getattr(volume.spec, source) is not None


@pytest.mark.parametrize(
    ("provisioner", "keys"),
    [
        ("rancher.io/local-path", {HOSTNAME}),
        ("openebs.io/local", {HOSTNAME}),
        ("hostpath.csi.k8s.io", {HOSTNAME}),
        ("topolvm.io", {TOPOLVM}),
        ("ebs.csi.aws.com", {ZONE}),
        ("dobs.csi.digitalocean.com", {REGION}),
        ("nfs.csi.k8s.io", set()),
        ("rook-ceph.cephfs.csi.ceph.com", set()),
        ("csi.exoscale.com", {ZONE}),
        ("block.csi.vultr.com", {REGION}),
        ("csi.trident.netapp.io", set()),
        ("org.democratic-csi.iscsi", set()),
        ("org.democratic-csi.zfs-local-dataset", {HOSTNAME}),
        ("cluster.local/local-path-provisioner", {HOSTNAME}),
        ("fuseim.pri/ifs", set()),
        ("k8s.io/minikube-hostpath", set()),
        ("csi.example.com", {ZONE}),
        ("example.com/unknown", {ZONE}),
    ],
)
def test_node_affinity_is_by_node_zone_region_or_nothing(
    provisioner: str, keys: set[str]
) -> None:
    assert topology_keys(provisioned(class_of(provisioner))) == keys


def test_local_volume_stays_on_its_node_whatever_topologies_are_allowed() -> None:
    storage_class = make_storage_class(
        provisioner="rancher.io/local-path", allowed_topologies=[{ZONE: ["a"]}]
    )
    assert topology_keys(provisioned(storage_class)) == {HOSTNAME}


@pytest.mark.parametrize("keys", [("rack",), (HOSTNAME, ZONE)])
def test_topology_keys_of_a_csi_node_come_first(keys: tuple[str, ...]) -> None:
    labels = NODE.labels | {"rack": "r1"}
    node = replace(NODE, metadata=replace(NODE.metadata, name="node", labels=labels))
    csi_node = csi_node_with("ebs.csi.aws.com", *keys)
    claim = make_persistent_volume_claim()
    annotations = {SELECTED_NODE: "node"}
    claim = replace(claim, metadata=replace(claim.metadata, annotations=annotations))
    cluster = make_cluster(node, csi_node, class_of("ebs.csi.aws.com"), claim)
    assert topology_keys(volume_in(cluster)) == set(keys)


def test_unknown_driver_without_topology_keys_reaches_every_node() -> None:
    csi_node = csi_node_with("csi.example.com")
    assert topology_keys(provisioned(csi_node, class_of("csi.example.com"))) == set()


@pytest.mark.parametrize(
    "provisioner", ["filestore.csi.storage.gke.io", "fss.csi.oraclecloud.com"]
)
def test_shared_file_system_has_no_affinity_although_its_nodes_have_topology(
    provisioner: str,
) -> None:
    csi_node = csi_node_with(provisioner, ZONE)
    assert topology_keys(provisioned(csi_node, class_of(provisioner))) == set()


def test_driver_writes_its_own_key_and_not_all_that_its_nodes_have() -> None:
    own, disk_type = "topology.gke.io/zone", "disk-type.gke.io/pd-ssd"
    labels = NODE.labels | {own: "a", disk_type: "true"}
    node = replace(NODE, metadata=replace(NODE.metadata, labels=labels))
    csi_node = csi_node_with("pd.csi.storage.gke.io", disk_type, own)
    storage_class = class_of("pd.csi.storage.gke.io")
    volume = provisioned(csi_node, storage_class, nodes=[node])
    assert topology_keys(volume) == {own}


def test_zone_redundant_disk_of_azure_is_in_all_zones() -> None:
    storage_class = class_of("disk.csi.azure.com")
    redundant = replace(storage_class, parameters={"skuname": "StandardSSD_ZRS"})
    local = replace(storage_class, parameters={"skuName": "Premium_LRS"})
    assert topology_keys(provisioned(redundant)) == set()
    assert topology_keys(provisioned(local)) == {ZONE}


@pytest.mark.parametrize(
    ("mode", "allowed", "zones"),
    [
        ("WaitForFirstConsumer", [], ["b", "c"]),
        ("WaitForFirstConsumer", ["a", "b"], ["b", "a"]),
        ("Immediate", ["c", "a"], ["c", "a"]),
    ],
)
def test_regional_disk_of_gcp_is_in_two_zones(
    mode: str, allowed: list[str], zones: list[str]
) -> None:
    storage_class = make_storage_class(
        provisioner="pd.csi.storage.gke.io",
        volume_binding_mode=mode,
        allowed_topologies=[{ZONE: allowed}] if allowed else (),
    )
    storage_class = replace(
        storage_class, parameters={"replication-type": "regional-pd"}
    )
    nodes = [make_node(name=f"n-{zone}", labels={ZONE: zone}) for zone in "abc"]
    claim = make_persistent_volume_claim()
    if mode == "WaitForFirstConsumer":
        annotations = {SELECTED_NODE: "n-b"}
        metadata = replace(claim.metadata, annotations=annotations)
        claim = replace(claim, metadata=metadata)
    volume = volume_in(make_cluster(*nodes, storage_class, claim))
    topology = VolumeTopology(volume)
    within = [zone for zone in "abc" if topology.includes({ZONE: zone})]
    assert within == sorted(zones)


@pytest.mark.parametrize(
    ("access", "keys"), [("true", set()), ("false", {HOSTNAME}), ("", set())]
)
def test_linstor_volume_stays_on_its_node_without_remote_access(
    access: str, keys: set[str]
) -> None:
    storage_class = class_of("linstor.csi.linbit.com")
    name = "linstor.csi.linbit.com/allowRemoteVolumeAccess"
    storage_class = replace(storage_class, parameters={name: access} if access else {})
    assert topology_keys(provisioned(storage_class)) == keys


def test_local_path_reads_the_label_of_nodes_from_its_class() -> None:
    storage_class = class_of("rancher.io/local-path")
    parameters = {"nodeAffinityKey": "example.com/machine"}
    volume = provisioned(replace(storage_class, parameters=parameters))
    assert topology_keys(volume) == {"example.com/machine"}
    assert VolumeTopology(volume).includes({"example.com/machine": "node"})


def test_published_capacity_names_the_topology_of_an_unknown_driver() -> None:
    capacity = make_csi_storage_capacity(
        node_topology={HOSTNAME: "node"}, capacity="10Gi"
    )
    volume = provisioned(capacity, class_of("csi.example.com"))
    assert topology_keys(volume) == {HOSTNAME}


@pytest.mark.parametrize("provisioner", ["rancher.io/local-path", "openebs.io/local"])
def test_provisioner_that_needs_a_node_provisions_nothing_before(
    provisioner: str,
) -> None:
    claim = make_persistent_volume_claim()
    cluster = make_cluster(NODE, class_of(provisioner, "Immediate"), claim)
    assert not is_fully_bound(claim_in(cluster))


def test_volumes_made_at_once_take_turns_over_the_zones() -> None:
    nodes = [make_node(name=f"n-{zone}", labels={ZONE: zone}) for zone in "abc"]
    names = [f"data-db-{ordinal}" for ordinal in range(3)]
    claims = [make_persistent_volume_claim(name=name) for name in names]
    cluster = make_cluster(*nodes, class_of("ebs.csi.aws.com", "Immediate"), *claims)
    zones = [
        [zone for zone in "abc" if VolumeTopology(volume).includes({ZONE: zone})]
        for volume in (volume_in(cluster, name) for name in names)
    ]
    # FNV-1 of "db" is 1 modulo 3, so that the first ordinal gets the second zone.
    assert zones == [["b"], ["c"], ["a"]]


def test_volume_made_at_once_keeps_to_the_allowed_topologies() -> None:
    nodes = [make_node(name=f"n-{zone}", labels={ZONE: zone}) for zone in "abc"]
    storage_class = make_storage_class(
        provisioner="ebs.csi.aws.com",
        volume_binding_mode="Immediate",
        allowed_topologies=[{ZONE: ["c"]}],
    )
    cluster = make_cluster(*nodes, storage_class, make_persistent_volume_claim())
    assert VolumeTopology(volume_in(cluster)).includes({ZONE: "c"})
    assert not VolumeTopology(volume_in(cluster)).includes({ZONE: "a"})


def test_a_new_zone_counts_for_the_next_volume() -> None:
    claims = [make_persistent_volume_claim(name=f"d-db-{n}") for n in range(2)]
    cluster = make_cluster(
        make_node(labels={ZONE: "a"}),
        class_of("ebs.csi.aws.com", "Immediate"),
        claims[0],
    )
    assert VolumeTopology(volume_in(cluster, "d-db-0")).includes({ZONE: "a"})
    cluster.create(make_node(name="other", labels={ZONE: "b"}))
    cluster.create(claims[1])
    react(cluster)
    zones = VolumeTopology(volume_in(cluster, "d-db-1"))
    assert zones.includes({ZONE: "a"}) or zones.includes({ZONE: "b"})


def test_assumed_reach_is_one_notice_per_provisioner() -> None:
    claims = [make_persistent_volume_claim(name=f"c{n}") for n in range(5)]
    cluster = make_cluster(NODE, class_of("example.com/unknown"), *claims)
    (notice,) = cluster.notices()
    assert notice.reason == "AssumedProvisioner"
    assert notice.message == (
        "provisioner example.com/unknown is not in the list of common ones; the "
        "volumes of 5 claims are assumed to be reachable from the zone of the selected "
        "node, or from everywhere if the class binds at once. allowedTopologies of the "
        "class or a CSINode with the driver states it: "
        "default/c0, default/c1, default/c2 and 2 more"
    )


def test_nothing_is_assumed_of_a_driver_that_a_csi_node_lists() -> None:
    csi_node = csi_node_with("csi.example.com", ZONE)
    claim = make_persistent_volume_claim()
    cluster = make_cluster(NODE, csi_node, class_of("csi.example.com"), claim)
    assert cluster.notices() == ()
