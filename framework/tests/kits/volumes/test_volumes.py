"""Claims, the volumes that suit them, and volumes of in-tree plugins."""

import pytest
from msgspec.structs import replace

from quaymaster import Snapshot
from quaymaster.objects import (
    ApiValue,
    AWSElasticBlockStoreVolumeSource,
    AzureDiskVolumeSource,
    AzureFileVolumeSource,
    CinderVolumeSource,
    EphemeralVolumeSource,
    GCEPersistentDiskVolumeSource,
    PersistentVolume,
    PortworxVolumeSource,
    Volume,
    VsphereVirtualDiskVolumeSource,
)
from quaymaster.testing import (
    make_node,
    make_persistent_volume,
    make_persistent_volume_claim,
    make_pod,
    make_storage_class,
)
from quaymaster.volumes import (
    BETA_STORAGE_CLASS,
    TranslationError,
    VolumePool,
    VolumeTopology,
    allows_topology,
    claim_name,
    class_of_claim,
    class_of_volume,
    csi_driver_of,
    csi_handle,
    csi_volume,
    in_tree_plugin,
    is_made_for,
    is_migrated,
    volumes_fragment,
    volumes_of,
)

ZONE = "topology.kubernetes.io/zone"
BETA_ZONE = "failure-domain.beta.kubernetes.io/zone"
BETA_REGION = "failure-domain.beta.kubernetes.io/region"
EBS_ZONE = "topology.ebs.csi.aws.com/zone"


# Claims -------------------------------------------------------------------------------


def test_volumes_that_scheduling_does_not_read_are_left_out() -> None:
    pod = make_pod(volumes=[Volume(name="config")], claims=["claim"])
    assert [claim_name(pod, volume) for volume in volumes_of(pod)] == ["claim"]
    assert volumes_of(make_pod(volumes=[Volume(name="config")])) == ()


def test_claim_of_an_ephemeral_volume_is_named_after_pod_and_volume() -> None:
    volume = Volume(name="v", ephemeral=EphemeralVolumeSource())
    pod = make_pod(name="p", volumes=[volume])
    assert claim_name(pod, volume) == "p-v"
    assert is_made_for(make_persistent_volume_claim(owner=pod), pod)
    assert not is_made_for(make_persistent_volume_claim(), pod)
    assert not is_made_for(make_persistent_volume_claim(owner=make_pod(name="q")), pod)


def test_the_beta_annotation_names_the_class_first() -> None:
    annotations = {BETA_STORAGE_CLASS: "beta"}
    assert (
        class_of_claim(make_persistent_volume_claim(annotations=annotations)) == "beta"
    )
    assert class_of_claim(make_persistent_volume_claim(storage_class=None)) == ""
    volume = make_persistent_volume()
    metadata = replace(volume.metadata, annotations=annotations)
    assert class_of_volume(replace(volume, metadata=metadata)) == "beta"
    assert class_of_volume(volume) == "standard"


def test_answers_for_pods_with_volumes_are_not_cached() -> None:
    assert volumes_fragment(make_pod()) == ()
    assert volumes_fragment(make_pod(volumes=[Volume(name="a-secret")])) == ()
    assert volumes_fragment(make_pod(claims=["a"])) is None
    ephemeral = Volume(name="v", ephemeral=EphemeralVolumeSource())
    assert volumes_fragment(make_pod(volumes=[ephemeral])) is None


def test_users_of_claims_are_counted_on_all_nodes() -> None:
    snapshot = Snapshot()
    snapshot.add_node(make_node(name="one"))
    pods = [
        make_pod(name=name, node=node, claims=["claim"])
        for name, node in (("a", "one"), ("b", "one"), ("c", "two"))
    ]
    for pod in pods:
        snapshot.add_pod(pod)
    assert snapshot.claim_users("default/claim") == 2
    snapshot.add_node(make_node(name="two"))
    assert snapshot.claim_users("default/claim") == 3
    snapshot.remove_node("one")
    assert snapshot.claim_users("default/claim") == 1
    snapshot.remove_pod(pods[2])
    assert snapshot.claim_users("default/claim") == 0


# Matching -----------------------------------------------------------------------------


def test_candidates_are_the_smallest_first_then_in_the_given_order() -> None:
    sizes = {"a": "5Gi", "b": "2Gi", "c": "2Gi", "d": "1Mi"}
    volumes = [make_persistent_volume(name=n, storage=s) for n, s in sizes.items()]
    pool = VolumePool()
    for volume in volumes:
        pool.put(volume)
    found = pool.candidates(make_persistent_volume_claim())
    assert [volume.name for volume in found.free] == ["b", "c", "a"]
    best = found.best({}, {"b"})
    assert best is not None
    assert best.name == "c"
    assert found.best({}, {"a", "b", "c"}) is None


@pytest.mark.parametrize(
    ("terms", "labels", "expected"),
    [
        ([], {}, True),
        ([{}], {ZONE: "a"}, False),
        ([{ZONE: ["a", "b"]}], {ZONE: "b"}, True),
        ([{ZONE: ["a"]}], {ZONE: "b"}, False),
        ([{ZONE: ["a"], "rack": ["1"]}], {ZONE: "a"}, False),
        ([{ZONE: ["x"]}, {ZONE: ["a"]}], {ZONE: "a"}, True),
    ],
)
def test_topologies_allow_where_one_term_holds(
    terms: list[dict[str, list[str]]], labels: dict[str, str], expected: bool
) -> None:
    storage_class = make_storage_class(allowed_topologies=terms)
    assert allows_topology(storage_class.allowed_topologies, labels) is expected


# In-tree plugins ----------------------------------------------------------------------


def in_tree(
    labels: dict[str, str] | None = None,
    node_labels: dict[str, str] | None = None,
    **source: ApiValue,
) -> PersistentVolume:
    volume = make_persistent_volume(labels=labels, node_labels=node_labels)
    return replace(volume, spec=replace(volume.spec, csi=None, **source))


EBS = AWSElasticBlockStoreVolumeSource(volume_id="vol-1")
GCE = GCEPersistentDiskVolumeSource(pd_name="disk")


@pytest.mark.parametrize(
    ("volume", "driver", "handle"),
    [
        (Volume(aws_elastic_block_store=EBS), "ebs.csi.aws.com", "vol-1"),
        (
            Volume(gce_persistent_disk=GCE),
            "pd.csi.storage.gke.io",
            "projects/UNSPECIFIED/zones/UNSPECIFIED/disks/disk",
        ),
        (
            Volume(cinder=CinderVolumeSource(volume_id="id")),
            "cinder.csi.openstack.org",
            "id",
        ),
        (
            Volume(azure_disk=AzureDiskVolumeSource(disk_uri="uri", kind="Managed")),
            "disk.csi.azure.com",
            "uri",
        ),
        (
            Volume(portworx_volume=PortworxVolumeSource(volume_id="id")),
            "pxd.portworx.com",
            "id",
        ),
    ],
)
def test_inline_volumes_have_a_driver_and_a_handle(
    volume: Volume, driver: str, handle: str
) -> None:
    plugin = in_tree_plugin(volume)
    assert plugin is not None
    assert plugin.driver == driver == csi_driver_of(plugin.name)
    assert is_migrated(plugin.name)
    assert csi_handle(volume) == handle


@pytest.mark.parametrize(
    "volume",
    [
        Volume(azure_file=AzureFileVolumeSource(share_name="s")),
        Volume(vsphere_volume=VsphereVirtualDiskVolumeSource(volume_path="p")),
    ],
)
def test_some_plugins_have_a_driver_that_scheduling_does_not_use(
    volume: Volume,
) -> None:
    plugin = in_tree_plugin(volume)
    assert plugin is not None
    assert not is_migrated(plugin.name)
    with pytest.raises(TranslationError, match="could not find in-tree plugin"):
        csi_handle(volume)


def test_other_volumes_have_no_plugin() -> None:
    assert in_tree_plugin(Volume(name="v")) is None
    assert in_tree_plugin(make_persistent_volume()) is None
    assert csi_driver_of("csi.example.com") is None


@pytest.mark.parametrize("text", ["aws://zone/vol-1", "aws:///vol-1", "vol-1"])
def test_ids_of_ebs_volumes_come_in_three_forms(text: str) -> None:
    source = AWSElasticBlockStoreVolumeSource(volume_id=text)
    assert csi_handle(Volume(aws_elastic_block_store=source)) == "vol-1"


@pytest.mark.parametrize(
    "text", ["aws://zone/disk", "aws://zone/a/vol-1", "aws://vol-1"]
)
def test_other_ids_of_ebs_volumes_are_malformed(text: str) -> None:
    source = AWSElasticBlockStoreVolumeSource(volume_id=text)
    with pytest.raises(TranslationError, match="Invalid format for AWS volume"):
        csi_handle(Volume(aws_elastic_block_store=source))


def test_unmanaged_azure_disks_have_no_handle() -> None:
    source = AzureDiskVolumeSource(disk_uri="u", kind="Dedicated")
    with pytest.raises(TranslationError, match=r"kind\(Dedicated\) is not supported"):
        csi_handle(Volume(azure_disk=source))


@pytest.mark.parametrize(
    ("zones", "place"),
    [
        ("us-east1-b", "zones/us-east1-b"),
        ("us-east1-b__us-east1-c", "regions/us-east1"),
        ("", "zones/UNSPECIFIED"),
    ],
)
def test_gce_disks_are_named_by_zone_or_region(zones: str, place: str) -> None:
    volume = in_tree(labels={ZONE: zones}, gce_persistent_disk=GCE)
    assert csi_handle(volume) == f"projects/UNSPECIFIED/{place}/disks/disk"


@pytest.mark.parametrize("zones", ["a__b", "us-east1-b__us-west1-b"])
def test_gce_disks_in_zones_of_no_region_have_no_handle(zones: str) -> None:
    volume = in_tree(labels={ZONE: zones}, gce_persistent_disk=GCE)
    with pytest.raises(TranslationError, match="failed to get region from zones"):
        csi_handle(volume)


@pytest.mark.parametrize(
    ("labels", "node_labels", "reached_from"),
    [
        pytest.param({}, {ZONE: "a"}, {EBS_ZONE: "a"}, id="node affinity"),
        pytest.param({}, {BETA_ZONE: "a"}, {EBS_ZONE: "a"}, id="old label"),
        pytest.param({ZONE: "a__b"}, None, {EBS_ZONE: "b"}, id="label of the volume"),
        pytest.param(
            {ZONE: "b"}, {ZONE: "a"}, {EBS_ZONE: "a"}, id="affinity before label"
        ),
        pytest.param(
            {},
            {BETA_ZONE: "a", BETA_REGION: "r"},
            {EBS_ZONE: "a", "topology.kubernetes.io/region": "r"},
            id="old region",
        ),
    ],
)
def test_translated_volumes_are_reached_by_the_drivers_label(
    labels: dict[str, str],
    node_labels: dict[str, str] | None,
    reached_from: dict[str, str],
) -> None:
    volume = csi_volume(in_tree(labels, node_labels, aws_elastic_block_store=EBS))
    assert volume.spec.aws_elastic_block_store is None
    assert volume.spec.csi is not None
    assert volume.spec.csi.volume_handle == "vol-1"
    assert VolumeTopology(volume).includes(reached_from)
    assert not VolumeTopology(volume).includes({ZONE: "a", BETA_ZONE: "a"})


def test_translated_volumes_without_topology_are_reached_from_everywhere() -> None:
    assert VolumeTopology(csi_volume(in_tree(aws_elastic_block_store=EBS))).includes({})
