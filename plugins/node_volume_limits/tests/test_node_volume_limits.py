"""NodeVolumeLimits: rule 30 of the parity format, and upstream's own tests."""

import pytest
from msgspec.structs import replace

from quaymaster import (
    ActionType,
    ApiObject,
    ClusterEvent,
    EventResource,
    Pod,
    PodUse,
    QueueingHint,
    Status,
)
from quaymaster.objects import (
    AWSElasticBlockStoreVolumeSource,
    AzureFileVolumeSource,
    EphemeralVolumeSource,
    GCEPersistentDiskVolumeSource,
    PersistentVolume,
    PersistentVolumeClaimTemplate,
    Volume,
    VolumeAttachment,
    VolumeAttachmentSource,
    VolumeAttachmentSpec,
)
from quaymaster.testing import (
    PluginHarness,
    make_csi_node,
    make_metadata,
    make_node,
    make_persistent_volume,
    make_persistent_volume_claim,
    make_pod,
    make_storage_class,
)
from quaymaster_node_volume_limits import NodeVolumeLimits

DRIVER = "csi.example.com"
EBS = "ebs.csi.aws.com"
TOO_MANY = Status.unschedulable("node(s) exceed max volume count")


def bound(*names: str) -> list[ApiObject]:
    """Make claims, each with a volume of the same name."""
    objects: list[ApiObject] = []
    for name in names:
        claim = make_persistent_volume_claim(name=name, volume=name)
        objects += [claim, make_persistent_volume(name=name, claim=claim)]
    return objects


def unbound(*names: str) -> list[ApiObject]:
    return [make_persistent_volume_claim(name=name) for name in names]


def attachment(volume: str, *, node: str = "node") -> VolumeAttachment:
    return VolumeAttachment(
        metadata=make_metadata(VolumeAttachment, name=f"attachment-{volume}"),
        spec=VolumeAttachmentSpec(
            attacher=DRIVER,
            node_name=node,
            source=VolumeAttachmentSource(persistent_volume_name=volume),
        ),
    )


def ebs(volume_id: str) -> Volume:
    source = AWSElasticBlockStoreVolumeSource(volume_id=volume_id)
    return Volume(name="disk", aws_elastic_block_store=source)


def rejected(
    pod: Pod,
    *,
    objects: list[ApiObject],
    limits: dict[str, int | None] | None,
    running: Pod | None = None,
) -> dict[str, Status]:
    """Filter a node with these limits; None means without a CSINode."""
    csi_node = [] if limits is None else [make_csi_node(limits=limits)]
    harness = PluginHarness(
        NodeVolumeLimits,
        nodes=[make_node()],
        pods=[] if running is None else [running],
        objects=[*objects, *csi_node, make_storage_class(provisioner=DRIVER)],
    )
    return harness.filter(pod)


def test_volumes_up_to_the_limit_fit() -> None:
    pod = make_pod(claims=["a", "b"])
    assert rejected(pod, objects=bound("a", "b"), limits={DRIVER: 2}) == {}


def test_one_volume_more_does_not_fit() -> None:
    pod = make_pod(claims=["a", "b"])
    expected = {"node": TOO_MANY}
    assert rejected(pod, objects=bound("a", "b"), limits={DRIVER: 1}) == expected


def test_volumes_of_the_pods_on_the_node_count() -> None:
    running = make_pod(name="running", node="node", claims=["a"])
    pod, objects = make_pod(claims=["b"]), bound("a", "b")
    full = rejected(pod, objects=objects, limits={DRIVER: 1}, running=running)
    assert full == {"node": TOO_MANY}
    assert not rejected(pod, objects=objects, limits={DRIVER: 2}, running=running)


def test_rule_30_a_volume_used_by_a_pod_on_the_node_is_free() -> None:
    running = make_pod(name="running", node="node", claims=["a"])
    pod = make_pod(claims=["a"])
    assert not rejected(pod, objects=bound("a"), limits={DRIVER: 1}, running=running)


def test_rule_30_volumes_in_use_and_attached_count_once() -> None:
    running = make_pod(name="running", node="node", claims=["a"])
    objects = [*bound("a", "b"), attachment("a")]
    pod = make_pod(claims=["b"])
    assert not rejected(pod, objects=objects, limits={DRIVER: 2}, running=running)


def test_rule_30_attached_volumes_that_no_pod_uses_count() -> None:
    objects = [*bound("a", "b"), attachment("a")]
    pod = make_pod(claims=["b"])
    assert rejected(pod, objects=objects, limits={DRIVER: 1}) == {"node": TOO_MANY}


def test_rule_30_a_wanted_volume_known_only_as_attached_counts_twice() -> None:
    objects = [*bound("a"), attachment("a")]
    pod = make_pod(claims=["a"])
    assert rejected(pod, objects=objects, limits={DRIVER: 1}) == {"node": TOO_MANY}
    assert not rejected(pod, objects=objects, limits={DRIVER: 2})


def test_attachments_to_other_nodes_do_not_count() -> None:
    objects = [*bound("a", "b"), attachment("a", node="other")]
    assert not rejected(make_pod(claims=["b"]), objects=objects, limits={DRIVER: 1})


def test_rule_30_unbound_claims_count_for_the_provisioner_of_their_class() -> None:
    pod, objects = make_pod(claims=["a", "b"]), unbound("a", "b")
    assert rejected(pod, objects=objects, limits={DRIVER: 1}) == {"node": TOO_MANY}
    assert not rejected(pod, objects=objects, limits={"other": 1})


def test_rule_30_an_unbound_claim_in_use_counts_once() -> None:
    running = make_pod(name="running", node="node", claims=["a"])
    pod = make_pod(claims=["a"])
    assert not rejected(pod, objects=unbound("a"), limits={DRIVER: 1}, running=running)


@pytest.mark.parametrize(
    "limits",
    [
        pytest.param(None, id="no CSINode"),
        pytest.param({"other.example.com": 0}, id="no entry of the driver"),
        pytest.param({DRIVER: None}, id="an entry without a count"),
    ],
)
def test_rule_30_without_a_number_there_is_no_limit(
    limits: dict[str, int | None] | None,
) -> None:
    assert not rejected(make_pod(claims=["a"]), objects=bound("a"), limits=limits)


def test_rule_30_a_limit_of_0_is_one() -> None:
    pod = make_pod(claims=["a"])
    expected = {"node": TOO_MANY}
    assert rejected(pod, objects=bound("a"), limits={DRIVER: 0}) == expected


def test_rule_30_inline_in_tree_volumes_count_for_their_csi_driver() -> None:
    pod = make_pod(volumes=[ebs("aws://zone/vol-1")])
    running = make_pod(name="running", node="node", volumes=[ebs("vol-1")])
    assert rejected(pod, objects=[], limits={EBS: 0}) == {"node": TOO_MANY}
    assert not rejected(pod, objects=[], limits={EBS: 1}, running=running)
    assert not rejected(pod, objects=[], limits=None)


def test_volumes_of_in_tree_plugins_that_are_not_migrated_do_not_count() -> None:
    volume = Volume(name="v", azure_file=AzureFileVolumeSource(share_name="s"))
    pod = make_pod(volumes=[volume])
    assert not rejected(pod, objects=[], limits={"file.csi.azure.com": 0})


def test_bound_in_tree_volumes_count_for_their_csi_driver() -> None:
    claim = make_persistent_volume_claim(name="a", volume="a")
    volume: PersistentVolume = make_persistent_volume(name="a", claim=claim)
    source = GCEPersistentDiskVolumeSource(pd_name="disk")
    spec = replace(volume.spec, csi=None, gce_persistent_disk=source)
    objects: list[ApiObject] = [claim, replace(volume, spec=spec)]
    limits: dict[str, int | None] = {"pd.csi.storage.gke.io": 0}
    pod = make_pod(claims=["a"])
    assert rejected(pod, objects=objects, limits=limits) == {"node": TOO_MANY}


@pytest.mark.parametrize("is_running", [False, True])
def test_rule_30_a_bad_ebs_id_of_any_pod_on_the_node_is_an_error(
    is_running: bool,
) -> None:
    bad = [ebs("aws://zone/disk")]
    running = make_pod(name="running", node="node", volumes=bad if is_running else [])
    pod = make_pod(claims=["a"], volumes=[] if is_running else bad)
    expected = (
        "converting volume(disk) from inline to csi: failed to translate Kubernetes ID "
        "to EBS Volume ID Invalid format for AWS volume (aws://zone/disk)"
    )
    answer = rejected(pod, objects=bound("a"), limits={DRIVER: 9}, running=running)
    assert answer["node"].is_error
    assert answer["node"].message == expected


def test_a_missing_claim_of_the_pod_cannot_be_resolved() -> None:
    expected = Status.unresolvable(
        'looking up PVC default/a: persistentvolumeclaim "a" not found'
    )
    answer = rejected(make_pod(claims=["a"]), objects=[], limits={DRIVER: 1})
    assert answer == {"node": expected}


def test_a_missing_claim_of_a_running_pod_is_not_counted() -> None:
    running = make_pod(name="running", node="node", claims=["gone"])
    pod = make_pod(claims=["a"])
    assert not rejected(pod, objects=bound("a"), limits={DRIVER: 1}, running=running)


def test_claims_of_ephemeral_volumes_must_be_the_pods_own() -> None:
    source = EphemeralVolumeSource(
        volume_claim_template=PersistentVolumeClaimTemplate()
    )
    pod = make_pod(volumes=[Volume(name="v", ephemeral=source)])
    own = make_persistent_volume_claim(name="pod-v", owner=pod)
    other = make_persistent_volume_claim(name="pod-v")
    assert rejected(pod, objects=[own], limits={DRIVER: 0}) == {"node": TOO_MANY}
    status = rejected(pod, objects=[other], limits={DRIVER: 0})["node"]
    assert status.is_error
    assert status.message == (
        "PVC default/pod-v was not created for pod default/pod (pod is not owner)"
    )


@pytest.mark.parametrize(
    "pod",
    [
        pytest.param(make_pod(), id="no volumes"),
        pytest.param(make_pod(volumes=[Volume(name="config")]), id="a config map"),
    ],
)
def test_pod_without_volumes_to_attach_is_skipped(pod: Pod) -> None:
    harness = PluginHarness(NodeVolumeLimits, nodes=[make_node()])
    assert harness.pre_filter(pod) == Status.skip()


# Hints --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("deleted", "hint"),
    [
        pytest.param(
            make_pod(name="x", node="n", claims=["c"]), QueueingHint.QUEUE, id="claim"
        ),
        pytest.param(
            make_pod(name="x", node="n", volumes=[ebs("vol-1")]),
            QueueingHint.QUEUE,
            id="in-tree volume",
        ),
        pytest.param(
            make_pod(name="x", nominated_node="n", claims=["c"]),
            QueueingHint.QUEUE,
            id="nominated",
        ),
        pytest.param(
            make_pod(name="x", claims=["c"]), QueueingHint.SKIP, id="never had a node"
        ),
        pytest.param(make_pod(name="x", node="n"), QueueingHint.SKIP, id="no volumes"),
    ],
)
def test_hint_for_a_deleted_pod(deleted: Pod, hint: QueueingHint) -> None:
    event = ClusterEvent(EventResource.ASSIGNED_POD, ActionType.DELETE)
    pod = make_pod(claims=["a"])
    assert PluginHarness(NodeVolumeLimits).hint(pod, event, deleted) is hint


@pytest.mark.parametrize(
    ("name", "namespace", "hint"),
    [
        ("a", "default", QueueingHint.QUEUE),
        ("pod-v", "default", QueueingHint.QUEUE),
        ("other", "default", QueueingHint.SKIP),
        ("a", "other", QueueingHint.SKIP),
    ],
)
def test_hint_for_a_new_claim(name: str, namespace: str, hint: QueueingHint) -> None:
    event = ClusterEvent(EventResource.PERSISTENT_VOLUME_CLAIM, ActionType.ADD)
    ephemeral = Volume(name="v", ephemeral=EphemeralVolumeSource())
    pod = make_pod(claims=["a"], volumes=[ephemeral])
    new = make_persistent_volume_claim(name=name, namespace=namespace)
    assert PluginHarness(NodeVolumeLimits).hint(pod, event, None, new) is hint


@pytest.mark.parametrize(
    ("pod", "attacher", "hint"),
    [
        pytest.param(make_pod(claims=["a"]), "any", QueueingHint.QUEUE, id="any claim"),
        pytest.param(
            make_pod(volumes=[ebs("vol-1")]), EBS, QueueingHint.QUEUE, id="same driver"
        ),
        pytest.param(
            make_pod(volumes=[ebs("vol-1")]), "any", QueueingHint.SKIP, id="another"
        ),
        pytest.param(
            make_pod(volumes=[ebs("aws://x/y")]), "any", QueueingHint.QUEUE, id="bad id"
        ),
        pytest.param(make_pod(), "any", QueueingHint.SKIP, id="no volumes"),
    ],
)
def test_hint_for_a_detached_volume(
    pod: Pod, attacher: str, hint: QueueingHint
) -> None:
    event = ClusterEvent(EventResource.VOLUME_ATTACHMENT, ActionType.DELETE)
    old = attachment("a")
    old = replace(old, spec=replace(old.spec, attacher=attacher))
    assert PluginHarness(NodeVolumeLimits).hint(pod, event, old) is hint


@pytest.mark.parametrize(
    ("before", "after", "hint"),
    [
        pytest.param({DRIVER: 1}, {DRIVER: 2}, QueueingHint.QUEUE, id="raised"),
        pytest.param({DRIVER: 2}, {DRIVER: 1}, QueueingHint.SKIP, id="lowered"),
        pytest.param({DRIVER: 1}, {DRIVER: 1}, QueueingHint.SKIP, id="the same"),
        pytest.param({}, {DRIVER: 1}, QueueingHint.QUEUE, id="new driver"),
        pytest.param({DRIVER: 1}, {DRIVER: None}, QueueingHint.SKIP, id="no number"),
    ],
)
def test_hint_for_a_changed_limit(
    before: dict[str, int | None], after: dict[str, int | None], hint: QueueingHint
) -> None:
    event = ClusterEvent(EventResource.CSI_NODE, ActionType.UPDATE)
    old, new = make_csi_node(limits=before), make_csi_node(limits=after)
    pod = make_pod(claims=["a"])
    assert PluginHarness(NodeVolumeLimits).hint(pod, event, old, new) is hint


def test_a_new_csi_node_always_wakes_up() -> None:
    event = ClusterEvent(EventResource.CSI_NODE, ActionType.ADD)
    hint = PluginHarness(NodeVolumeLimits).hint(
        make_pod(claims=["a"]), event, None, make_csi_node()
    )
    assert hint is QueueingHint.QUEUE


@pytest.mark.parametrize(
    ("limits", "use"),
    [
        (None, PodUse.NONE),
        ({}, PodUse.NONE),
        ({"csi.example.com": 1}, PodUse.PODS),
    ],
    ids=["no CSINode", "no limit", "a limit"],
)
def test_pods_on_nodes_matter_where_something_is_limited(
    limits: dict[str, int] | None, use: PodUse
) -> None:
    csi_nodes = [] if limits is None else [make_csi_node(name="n", limits=limits)]
    made = PluginHarness(
        NodeVolumeLimits, nodes=[make_node(name="n")], objects=csi_nodes
    )
    plugin = made.plugin
    assert isinstance(plugin, NodeVolumeLimits)
    assert plugin.filter_pod_use() is use
