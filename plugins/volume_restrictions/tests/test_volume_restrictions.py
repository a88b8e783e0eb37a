"""VolumeRestrictions: rule 29 of the parity format, and upstream's own tests."""

import pytest
from hypothesis import strategies as st
from msgspec.structs import replace

from quaymaster import (
    ActionType,
    ClusterEvent,
    CycleState,
    EventResource,
    Pod,
    QueueingHint,
    Status,
)
from quaymaster.errors import StateNotFoundError
from quaymaster.objects import (
    AWSElasticBlockStoreVolumeSource,
    EphemeralVolumeSource,
    GCEPersistentDiskVolumeSource,
    ISCSIVolumeSource,
    PersistentVolumeClaimTemplate,
    RBDVolumeSource,
    Volume,
)
from quaymaster.testing import (
    PluginContract,
    PluginHarness,
    SmallCluster,
    clusters,
    make_node,
    make_persistent_volume_claim,
    make_pod,
)
from quaymaster_volume_restrictions import VolumeRestrictions

DISK_CONFLICT = Status.unschedulable("node(s) had no available disk")
CLAIM_IN_USE = Status.unschedulable(
    "node(s) unavailable due to PersistentVolumeClaim with ReadWriteOncePod access "
    "mode already in-use by another pod"
)
POD_DELETED = ClusterEvent(EventResource.ASSIGNED_POD, ActionType.DELETE)
CLAIM_ADDED = ClusterEvent(EventResource.PERSISTENT_VOLUME_CLAIM, ActionType.ADD)


def gce(name: str = "disk", *, read_only: bool = False) -> Volume:
    source = GCEPersistentDiskVolumeSource(pd_name=name, read_only=read_only)
    return Volume(name="v", gce_persistent_disk=source)


def ebs(volume_id: str = "disk", *, read_only: bool = False) -> Volume:
    source = AWSElasticBlockStoreVolumeSource(volume_id=volume_id, read_only=read_only)
    return Volume(name="v", aws_elastic_block_store=source)


def iscsi(iqn: str = "disk", *, read_only: bool = False) -> Volume:
    source = ISCSIVolumeSource(
        target_portal="disks:3260",
        iqn=f"iqn.2001-04.com.example:{iqn}",
        read_only=read_only,
    )
    return Volume(name="v", iscsi=source)


def rbd(
    image: str = "disk", *monitors: str, pool: str = "pool", read_only: bool = False
) -> Volume:
    source = RBDVolumeSource(
        monitors=monitors or ("a", "b"), image=image, pool=pool, read_only=read_only
    )
    return Volume(name="v", rbd=source)


@pytest.mark.parametrize(
    ("wanted", "used"),
    [
        # The cases of TestGCEDiskConflicts, TestAWSDiskConflicts, TestISCSIDisk-
        # Conflicts and TestRBDDiskConflicts with a conflict.
        pytest.param(gce(), gce(), id="same GCE disk"),
        pytest.param(gce(read_only=True), gce(), id="one writes"),
        pytest.param(ebs(), ebs(), id="same EBS disk"),
        pytest.param(ebs(read_only=True), ebs(read_only=True), id="EBS read-only"),
        pytest.param(iscsi(), iscsi(), id="same iSCSI disk"),
        pytest.param(rbd(), rbd(), id="same RBD image"),
        pytest.param(rbd("i", "b", "c"), rbd("i", "a", "b"), id="a common monitor"),
    ],
)
def test_disk_in_use_rejects_the_node(wanted: Volume, used: Volume) -> None:
    pods = [make_pod(name="running", node="node", volumes=[used])]
    harness = PluginHarness(VolumeRestrictions, nodes=[make_node()], pods=pods)
    assert harness.filter(make_pod(volumes=[wanted])) == {"node": DISK_CONFLICT}


@pytest.mark.parametrize(
    ("wanted", "used"),
    [
        pytest.param(gce("one"), gce("other"), id="other GCE disk"),
        pytest.param(gce(read_only=True), gce(read_only=True), id="GCE read-only"),
        pytest.param(ebs("one"), ebs("other"), id="other EBS disk"),
        pytest.param(iscsi("one"), iscsi("other"), id="other iSCSI disk"),
        pytest.param(iscsi(read_only=True), iscsi(read_only=True), id="iSCSI reads"),
        pytest.param(rbd("one"), rbd("other"), id="other RBD image"),
        pytest.param(rbd(pool="one"), rbd(pool="other"), id="other RBD pool"),
        pytest.param(rbd("i", "a"), rbd("i", "b"), id="no common monitor"),
        pytest.param(rbd(read_only=True), rbd(read_only=True), id="RBD read-only"),
        pytest.param(gce(), ebs(), id="other kind of disk"),
    ],
)
def test_disks_that_can_be_shared_reject_nothing(wanted: Volume, used: Volume) -> None:
    pods = [make_pod(name="running", node="node", volumes=[used])]
    harness = PluginHarness(VolumeRestrictions, nodes=[make_node()], pods=pods)
    assert harness.filter(make_pod(volumes=[wanted])) == {}


def test_pod_without_volumes_is_skipped() -> None:
    harness = PluginHarness(VolumeRestrictions, nodes=[make_node()])
    assert harness.pre_filter(make_pod()) == Status.skip()


def test_pod_with_claims_that_nobody_uses_is_skipped() -> None:
    claim = make_persistent_volume_claim(access_modes=["ReadWriteOncePod"])
    harness = PluginHarness(VolumeRestrictions, nodes=[make_node()], objects=[claim])
    assert harness.pre_filter(make_pod(claims=["claim"])) == Status.skip()


def test_rule_29_a_claim_for_one_pod_in_use_rejects_every_node() -> None:
    claim = make_persistent_volume_claim(access_modes=["ReadWriteOncePod"])
    harness = PluginHarness(
        VolumeRestrictions,
        nodes=[make_node(name="one"), make_node(name="two")],
        pods=[make_pod(name="running", node="one", claims=["claim"])],
        objects=[claim],
    )
    rejected = harness.filter(make_pod(claims=["claim"]))
    assert rejected == {"one": CLAIM_IN_USE, "two": CLAIM_IN_USE}


def test_rule_29_a_shared_claim_rejects_nothing() -> None:
    harness = PluginHarness(
        VolumeRestrictions,
        nodes=[make_node()],
        pods=[make_pod(name="running", node="node", claims=["claim"])],
        objects=[make_persistent_volume_claim()],
    )
    assert harness.pre_filter(make_pod(claims=["claim"])) == Status.skip()


def test_rule_29_ephemeral_volumes_do_not_count() -> None:
    source = EphemeralVolumeSource(
        volume_claim_template=PersistentVolumeClaimTemplate()
    )
    harness = PluginHarness(VolumeRestrictions, nodes=[make_node()])
    pod = make_pod(volumes=[Volume(name="v", ephemeral=source)])
    assert harness.pre_filter(pod) == Status.skip()


def test_rule_29_a_missing_claim_ends_the_attempt() -> None:
    harness = PluginHarness(VolumeRestrictions, nodes=[make_node()])
    expected = Status.unresolvable('persistentvolumeclaim "claim" not found')
    assert harness.pre_filter(make_pod(claims=["claim"])) == expected


def test_a_disk_conflict_is_told_before_a_claim_in_use() -> None:
    claim = make_persistent_volume_claim(access_modes=["ReadWriteOncePod"])
    running = make_pod(name="running", node="one", claims=["claim"], volumes=[gce()])
    harness = PluginHarness(
        VolumeRestrictions,
        nodes=[make_node(name="one"), make_node(name="two")],
        pods=[running],
        objects=[claim],
    )
    rejected = harness.filter(make_pod(claims=["claim"], volumes=[gce()]))
    assert rejected == {"one": DISK_CONFLICT, "two": CLAIM_IN_USE}


def test_removing_the_user_of_a_claim_makes_it_free() -> None:
    claim = make_persistent_volume_claim(access_modes=["ReadWriteOncePod"])
    running = make_pod(name="running", node="node", claims=["claim"])
    harness = PluginHarness(
        VolumeRestrictions, nodes=[make_node()], pods=[running], objects=[claim]
    )
    pod = make_pod(claims=["claim"])
    assert harness.pre_filter(pod) is None
    node = harness.snapshot.get("node")
    assert node is not None
    imagined = harness.state.clone()
    plugin = harness.plugin
    assert isinstance(plugin, VolumeRestrictions)
    plugin.remove_pod(imagined, running)
    assert plugin.filter(imagined, pod, node) is None
    assert plugin.filter(harness.state, pod, node) == CLAIM_IN_USE
    plugin.add_pod(imagined, running)
    assert plugin.filter(imagined, pod, node) == CLAIM_IN_USE


def test_rule_8_without_pre_filter_every_node_is_an_error() -> None:
    harness = PluginHarness(VolumeRestrictions, nodes=[make_node()])
    (status,) = harness.filter(make_pod(), pre_filter=False).values()
    assert status.is_error
    plugin = harness.plugin
    assert isinstance(plugin, VolumeRestrictions)
    text = 'cannot read "PreFilterVolumeRestrictions" from cycleState'
    assert status.message == text
    with pytest.raises(StateNotFoundError, match=text):
        plugin.add_pod(CycleState(), make_pod())


def volumes_of(*disks: Volume) -> list[Volume]:
    """Return disks as the volumes of a pod, which need unique names."""
    return [replace(disk, name=f"v{index}") for index, disk in enumerate(disks)]


DISKS = st.one_of(
    st.builds(gce, st.sampled_from("ab"), read_only=st.booleans()),
    st.builds(ebs, st.sampled_from("ab"), read_only=st.booleans()),
    st.builds(iscsi, st.sampled_from("ab"), read_only=st.booleans()),
    st.builds(rbd, st.sampled_from("ab"), read_only=st.booleans()),
)


class TestContract(PluginContract):
    plugin = VolumeRestrictions
    opt_outs = {
        "imagining": "as upstream's, a claim for one pod is used or it is not; "
        "drawn clusters have claims that several pods use"
    }
    objects = (make_persistent_volume_claim(access_modes=["ReadWriteOncePod"]),)

    def clusters(self) -> st.SearchStrategy[SmallCluster]:
        own = st.builds(
            lambda disks, claims: make_pod(volumes=volumes_of(*disks), claims=claims),
            st.lists(DISKS, max_size=3),
            st.sampled_from([[], ["claim"]]),
        )
        # All in one namespace: as in upstream, the hint for deleted pods ignores other
        # namespaces, although disks are shared by all.
        return clusters(pods=own)


@pytest.mark.parametrize(
    ("deleted", "hint"),
    [
        pytest.param(
            make_pod(name="x", node="n", volumes=[gce()]), QueueingHint.QUEUE, id="disk"
        ),
        pytest.param(
            make_pod(name="x", node="n", claims=["claim"]),
            QueueingHint.QUEUE,
            id="claim",
        ),
        pytest.param(
            make_pod(name="x", node="n", claims=["other"]),
            QueueingHint.SKIP,
            id="other claim",
        ),
        pytest.param(
            make_pod(name="x", namespace="y", node="n", claims=["claim"]),
            QueueingHint.SKIP,
            id="other namespace",
        ),
        pytest.param(make_pod(name="x", node="n"), QueueingHint.SKIP, id="no volumes"),
    ],
)
def test_hint_for_a_deleted_pod(deleted: Pod, hint: QueueingHint) -> None:
    harness = PluginHarness(VolumeRestrictions)
    pod = make_pod(claims=["claim"], volumes=[gce()])
    assert harness.hint(pod, POD_DELETED, deleted) is hint


@pytest.mark.parametrize(
    ("name", "namespace", "hint"),
    [
        ("claim", "default", QueueingHint.QUEUE),
        ("other", "default", QueueingHint.SKIP),
        ("claim", "other", QueueingHint.SKIP),
    ],
)
def test_hint_for_a_new_claim(name: str, namespace: str, hint: QueueingHint) -> None:
    harness = PluginHarness(VolumeRestrictions)
    claim = make_persistent_volume_claim(name=name, namespace=namespace)
    pod = make_pod(claims=["claim"])
    assert harness.hint(pod, CLAIM_ADDED, None, claim) is hint


@pytest.mark.parametrize(
    ("waiting", "is_asked"),
    [
        pytest.param(make_pod(claims=["claim"]), True, id="the same claim"),
        pytest.param(make_pod(claims=["other"]), False, id="another claim"),
        pytest.param(make_pod(volumes=[gce()]), True, id="a disk: asked always"),
        pytest.param(
            make_pod(claims=["claim"], namespace="other"), False, id="not its namespace"
        ),
    ],
)
def test_a_deleted_pod_is_asked_about_for_pods_with_its_claims_and_with_disks(
    waiting: Pod, is_asked: bool
) -> None:
    harness = PluginHarness(VolumeRestrictions)
    [index] = [
        registration.index
        for registration in harness.events()
        if registration.event == POD_DELETED
    ]
    assert index is not None
    keys = index.pod_keys(waiting)
    of_deleted = index.event_keys(make_pod(name="gone", claims=["claim"]), None)
    assert of_deleted is not None
    assert (keys is None or bool({*keys} & {*of_deleted})) is is_asked


def test_a_new_node_always_wakes_up() -> None:
    harness = PluginHarness(VolumeRestrictions)
    added = ClusterEvent(EventResource.NODE, ActionType.ADD)
    assert harness.hint(make_pod(), added, None, make_node()) is QueueingHint.QUEUE


def test_only_pods_without_volumes_are_signed() -> None:
    plugin = PluginHarness(VolumeRestrictions).plugin
    assert plugin.sign_pod(make_pod(name="one", claims=["claim"])) is None
    assert plugin.sign_pod(make_pod(name="one")) == ()
