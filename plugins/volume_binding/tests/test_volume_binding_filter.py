"""VolumeBinding's decisions: rule 28 of the parity format, and upstream's own tests."""

import pytest
from hypothesis import strategies as st
from msgspec.structs import replace

from quaymaster import ApiObject, Node, Status
from quaymaster.config import Kubernetes
from quaymaster.objects import (
    AWSElasticBlockStoreVolumeSource,
    CSIDriver,
    CSIDriverSpec,
    CSIStorageCapacity,
    EphemeralVolumeSource,
    LabelSelector,
    PersistentVolumeClaim,
    PersistentVolumeClaimStatus,
    PersistentVolumeClaimTemplate,
    Quantity,
    Time,
    Volume,
)
from quaymaster.testing import (
    PluginContract,
    PluginHarness,
    PluginStatusError,
    SmallCluster,
    clusters,
    make_csi_node,
    make_csi_storage_capacity,
    make_metadata,
    make_node,
    make_persistent_volume,
    make_persistent_volume_claim,
    make_pod,
    make_storage_class,
)
from quaymaster.volumes import (
    MIGRATED_PLUGINS,
    NO_PROVISIONER,
    SELECTED_NODE,
    TranslationError,
)
from quaymaster_volume_binding import VolumeBinding

ZONE = "topology.kubernetes.io/zone"
NODE_CONFLICT = "node(s) didn't match PersistentVolume's node affinity"
BIND_CONFLICT = "node(s) didn't find available persistent volumes to bind"
NO_SPACE = "node(s) did not have enough free storage"
MISSING = "node(s) unavailable due to one or more pvc(s) bound to non-existent pv(s)"

NODES = [make_node(name=zone, labels={ZONE: zone}) for zone in ("a", "b")]
STATIC_ONLY = make_storage_class(provisioner=NO_PROVISIONER)


def harness_with(
    *objects: ApiObject, nodes: list[Node] | None = None, version: str = "1.37"
) -> PluginHarness:
    return PluginHarness(
        VolumeBinding,
        nodes=nodes or NODES,
        objects=objects,
        kubernetes=Kubernetes(version),
    )


def rejections(harness: PluginHarness, *claims: str) -> dict[str, tuple[str, ...]]:
    """Map each rejected node to its reasons for a pod with these claims."""
    found = harness.filter(make_pod(claims=claims or ["claim"]))
    assert all(status.code == Status.unresolvable().code for status in found.values())
    return {node: status.reasons for node, status in found.items()}


def plan(harness: PluginHarness, node: str) -> tuple[dict[str, str], list[str]]:
    """Return claim -> volume and the claims to provision, of the last attempt."""
    plugin = harness.plugin
    assert isinstance(plugin, VolumeBinding)
    found = plugin.plan(harness.state, node)
    assert found is not None
    static = {binding.claim.name: binding.volume.name for binding in found.static}
    return static, [claim.name for claim in found.provision]


# Bound claims -------------------------------------------------------------------------


def test_bound_claim_keeps_the_pod_where_its_volume_is() -> None:
    claim = make_persistent_volume_claim(volume="volume")
    volume = make_persistent_volume(claim=claim, node_labels={ZONE: "a"})
    harness = harness_with(claim, volume)
    assert rejections(harness) == {"b": (NODE_CONFLICT,)}
    assert plan(harness, "a") == ({}, [])


def test_bound_claim_without_its_volume_fits_nowhere() -> None:
    claim = make_persistent_volume_claim(volume="gone")
    assert rejections(harness_with(claim)) == {"a": (MISSING,), "b": (MISSING,)}


def test_in_tree_volume_has_the_drivers_label_where_that_has_taken_over() -> None:
    claim = make_persistent_volume_claim(volume="volume")
    volume = make_persistent_volume(claim=claim, node_labels={ZONE: "a"})
    source = AWSElasticBlockStoreVolumeSource(volume_id="vol-1")
    spec = replace(volume.spec, csi=None, aws_elastic_block_store=source)
    label = "topology.ebs.csi.aws.com/zone"
    nodes = [
        make_node(name="old", labels={ZONE: "a"}),
        make_node(name="migrated", labels={ZONE: "a"}),
        make_node(name="new", labels={label: "a"}),
    ]
    csi_nodes = []
    for name in ("migrated", "new"):
        csi_node = make_csi_node(name=name)
        annotations = {MIGRATED_PLUGINS: "kubernetes.io/aws-ebs"}
        metadata = replace(csi_node.metadata, annotations=annotations)
        csi_nodes.append(replace(csi_node, metadata=metadata))
    harness = harness_with(claim, replace(volume, spec=spec), *csi_nodes, nodes=nodes)
    assert rejections(harness) == {"migrated": (NODE_CONFLICT,)}


# Volumes that exist -------------------------------------------------------------------


def test_claim_gets_the_smallest_volume_that_is_large_enough() -> None:
    volumes = [
        make_persistent_volume(name=f"v{size}", storage=f"{size}Gi")
        for size in (8, 1, 4, 2)
    ]
    claim = make_persistent_volume_claim(storage="2Gi")
    harness = harness_with(claim, STATIC_ONLY, *volumes)
    assert rejections(harness) == {}
    assert plan(harness, "a") == ({"claim": "v2"}, [])


def test_rule_28_claims_are_matched_by_ascending_size() -> None:
    # In the order of the pod, the large claim would take the only large volume last.
    claims = [
        make_persistent_volume_claim(name="large", storage="3Gi"),
        make_persistent_volume_claim(name="small", storage="1Gi"),
    ]
    volumes = [
        make_persistent_volume(name="v4", storage="4Gi"),
        make_persistent_volume(name="v2", storage="2Gi"),
    ]
    harness = harness_with(STATIC_ONLY, *claims, *volumes)
    assert rejections(harness, "large", "small") == {}
    assert plan(harness, "a") == ({"large": "v4", "small": "v2"}, [])


def test_rule_28_a_volume_kept_for_the_claim_goes_first_of_all() -> None:
    claim = make_persistent_volume_claim()
    kept = make_persistent_volume(name="kept", storage="9Gi", claim=claim)
    reference = kept.spec.claim_ref
    assert reference is not None
    spec = replace(kept.spec, claim_ref=replace(reference, uid=""))
    harness = harness_with(
        claim,
        STATIC_ONLY,
        make_persistent_volume(name="small"),
        replace(kept, spec=spec),
    )
    assert rejections(harness) == {}
    assert plan(harness, "a") == ({"claim": "kept"}, [])


def test_a_volume_kept_for_the_claim_is_the_only_choice_on_every_node() -> None:
    claim = make_persistent_volume_claim()
    kept = make_persistent_volume(name="kept", claim=claim, node_labels={ZONE: "a"})
    free = make_persistent_volume(name="free")
    harness = harness_with(claim, STATIC_ONLY, free, kept)
    assert rejections(harness) == {"b": (BIND_CONFLICT,)}


@pytest.mark.parametrize(
    "changes",
    [
        pytest.param({"storage": "1Mi"}, id="too small"),
        pytest.param({"storage_class": "other"}, id="another class"),
        pytest.param({"access_modes": ["ReadOnlyMany"]}, id="access mode"),
        pytest.param({"node_labels": {ZONE: "c"}}, id="elsewhere"),
        pytest.param({"claim": make_persistent_volume_claim(name="other")}, id="taken"),
    ],
)
def test_volumes_that_do_not_suit_the_claim_are_passed_over(
    changes: dict[str, object],
) -> None:
    volume = make_persistent_volume(**changes)  # type: ignore[arg-type] # each is right
    harness = harness_with(make_persistent_volume_claim(), STATIC_ONLY, volume)
    assert set(rejections(harness)) == {"a", "b"}


def test_claims_selector_asks_for_labels_of_volumes() -> None:
    claim = make_persistent_volume_claim()
    selector = LabelSelector(match_labels={"tier": "fast"})
    claim = replace(claim, spec=replace(claim.spec, selector=selector))
    slow = make_persistent_volume(name="slow", labels={"tier": "slow"})
    fast = make_persistent_volume(name="fast", labels={"tier": "fast"}, storage="5Gi")
    harness = harness_with(claim, STATIC_ONLY, slow, fast)
    assert rejections(harness) == {}
    assert plan(harness, "b") == ({"claim": "fast"}, [])


# New volumes --------------------------------------------------------------------------


def test_claim_without_a_volume_is_provisioned_where_the_class_allows() -> None:
    storage_class = make_storage_class(allowed_topologies=[{ZONE: ["b", "c"]}])
    harness = harness_with(make_persistent_volume_claim(), storage_class)
    assert rejections(harness) == {"a": (BIND_CONFLICT,)}
    assert plan(harness, "b") == ({}, ["claim"])


def test_rule_28_every_claim_that_finds_no_volume_is_provisioned() -> None:
    claims = [
        make_persistent_volume_claim(name=f"c{size}", storage=f"{size}Gi")
        for size in (1, 5, 6)
    ]
    volume = make_persistent_volume(name="v", storage="2Gi")
    harness = harness_with(make_storage_class(), volume, *claims)
    assert rejections(harness, "c6", "c1", "c5") == {}
    assert plan(harness, "a") == ({"c1": "v"}, ["c5", "c6"])


def test_rule_28_without_a_provisioner_it_is_a_bind_conflict() -> None:
    harness = harness_with(make_persistent_volume_claim(), STATIC_ONLY)
    assert rejections(harness) == {"a": (BIND_CONFLICT,), "b": (BIND_CONFLICT,)}


def test_rule_28_a_node_selected_before_is_the_only_one() -> None:
    claim = make_persistent_volume_claim(annotations={SELECTED_NODE: "b"})
    harness = harness_with(claim, make_storage_class())
    assert rejections(harness) == {"a": (BIND_CONFLICT,)}
    assert plan(harness, "b") == ({}, ["claim"])


def capacity(
    size: str, topology: LabelSelector | None, maximum: str | None = None
) -> CSIStorageCapacity:
    return CSIStorageCapacity(
        metadata=make_metadata(CSIStorageCapacity, name="c", namespace="default"),
        storage_class_name="standard",
        capacity=Quantity(size),
        node_topology=topology,
        maximum_volume_size=None if maximum is None else Quantity(maximum),
    )


def driver(*, tracks: bool) -> CSIDriver:
    return CSIDriver(
        metadata=make_metadata(CSIDriver, name="csi.example.com"),
        spec=CSIDriverSpec(storage_capacity=tracks),
    )


IN_B = LabelSelector(match_labels={ZONE: "b"})


@pytest.mark.parametrize(
    ("capacities", "rejected"),
    [
        pytest.param([capacity("5Gi", IN_B)], {"a"}, id="room in one zone"),
        pytest.param([capacity("5Gi", LabelSelector())], set(), id="everywhere"),
        pytest.param([capacity("5Gi", None)], {"a", "b"}, id="nowhere"),
        pytest.param([capacity("1Mi", LabelSelector())], {"a", "b"}, id="too little"),
        pytest.param(
            [capacity("5Gi", LabelSelector(), "1Mi")], {"a", "b"}, id="volume too large"
        ),
        pytest.param([], {"a", "b"}, id="nothing known"),
    ],
)
def test_drivers_that_keep_track_must_have_room(
    capacities: list[CSIStorageCapacity], rejected: set[str]
) -> None:
    objects = (make_persistent_volume_claim(), make_storage_class(), *capacities)
    harness = harness_with(*objects, driver(tracks=True))
    assert rejections(harness) == dict.fromkeys(sorted(rejected), (NO_SPACE,))
    for others in ([], [driver(tracks=False)]):
        assert rejections(harness_with(*objects, *others)) == {}


def test_rule_28_reasons_are_combined_in_order() -> None:
    bound = make_persistent_volume_claim(name="bound", volume="volume")
    volume = make_persistent_volume(claim=bound, node_labels={ZONE: "a"})
    gone = make_persistent_volume_claim(name="gone", volume="gone")
    open_ = make_persistent_volume_claim(name="open")
    harness = harness_with(bound, volume, gone, open_, STATIC_ONLY)
    assert rejections(harness, "bound", "open")["b"] == (NODE_CONFLICT, BIND_CONFLICT)
    assert rejections(harness, "gone", "open")["b"] == (BIND_CONFLICT, MISSING)
    tracked = harness_with(
        bound, volume, open_, make_storage_class(), driver(tracks=True)
    )
    assert rejections(tracked, "bound", "open")["b"] == (NODE_CONFLICT, NO_SPACE)


def test_drivers_are_only_told_of_volumes_where_the_others_can_be_reached() -> None:
    claims = [make_persistent_volume_claim(name=n, volume=n) for n in ("far", "odd")]
    far = make_persistent_volume(
        name="far", claim=claims[0], node_labels={ZONE: "elsewhere"}
    )
    odd = make_persistent_volume(name="odd", claim=claims[1])
    source = AWSElasticBlockStoreVolumeSource(volume_id="aws://no-volume")
    spec = replace(odd.spec, csi=None, aws_elastic_block_store=source)
    csi_node = make_csi_node(name="a")
    annotations = {MIGRATED_PLUGINS: "kubernetes.io/aws-ebs"}
    metadata = replace(csi_node.metadata, annotations=annotations)
    moved = replace(csi_node, metadata=metadata)
    harness = harness_with(*claims, far, replace(odd, spec=spec), moved)
    rejected = rejections(harness, "far", "odd")
    assert rejected == dict.fromkeys("ab", (NODE_CONFLICT,))
    (failure,) = harness.filter(make_pod(claims=["odd"])).values()
    assert isinstance(failure.error, TranslationError)


# PreFilter ----------------------------------------------------------------------------


def test_pod_without_claims_is_skipped() -> None:
    harness = harness_with()
    assert harness.pre_filter(make_pod()) == Status.skip()
    disk = Volume(
        name="d",
        aws_elastic_block_store=AWSElasticBlockStoreVolumeSource(volume_id="v"),
    )
    assert harness.pre_filter(make_pod(volumes=[disk])) == Status.skip()
    pod = make_pod()
    assert harness.reserve(pod, "a") is None
    assert harness.pre_bind_pre_flight(pod, "a") == Status.skip()


CLAIM = make_persistent_volume_claim()
DELETED = replace(CLAIM, metadata=replace(CLAIM.metadata, deletion_timestamp=Time(0)))
LOST = replace(
    make_persistent_volume_claim(volume="gone"),
    status=PersistentVolumeClaimStatus(phase="Lost"),
)


@pytest.mark.parametrize(
    ("objects", "reason"),
    [
        pytest.param([], 'persistentvolumeclaim "claim" not found', id="missing"),
        pytest.param(
            [DELETED], 'persistentvolumeclaim "claim" is being deleted', id="deleted"
        ),
        pytest.param(
            [LOST],
            'persistentvolumeclaim "claim" bound to non-existent persistentvolume '
            '"gone"',
            id="lost",
        ),
        pytest.param(
            [CLAIM, make_storage_class(volume_binding_mode="Immediate")],
            "pod has unbound immediate PersistentVolumeClaims",
            id="immediate",
        ),
        pytest.param(
            [CLAIM], "pod has unbound immediate PersistentVolumeClaims", id="no class"
        ),
    ],
)
def test_claims_that_no_node_can_help_end_the_attempt(
    objects: list[PersistentVolumeClaim], reason: str
) -> None:
    plugin_status = harness_with(*objects).pre_filter(make_pod(claims=["claim"]))
    assert plugin_status == Status.unresolvable(reason)


def test_claims_of_ephemeral_volumes_must_exist_and_be_the_pods_own() -> None:
    template = PersistentVolumeClaimTemplate()
    source = EphemeralVolumeSource(volume_claim_template=template)
    pod = make_pod(volumes=[Volume(name="v", ephemeral=source)])
    waiting = (
        "waiting for ephemeral volume controller to create the persistentvolumeclaim "
        '"pod-v"'
    )
    assert harness_with().pre_filter(pod) == Status.unresolvable(waiting)
    foreign = make_persistent_volume_claim(name="pod-v")
    text = "PVC default/pod-v was not created for pod default/pod (pod is not owner)"
    assert harness_with(foreign).pre_filter(pod) == Status.unresolvable(text)
    own = make_persistent_volume_claim(name="pod-v", owner=pod)
    assert harness_with(own, make_storage_class()).pre_filter(pod) is None


def test_a_class_without_a_binding_mode_is_an_error() -> None:
    storage_class = replace(make_storage_class(), volume_binding_mode=None)
    harness = harness_with(CLAIM, storage_class)
    with pytest.raises((ValueError, PluginStatusError), match="VolumeBindingMode not"):
        harness.filter(make_pod(claims=["claim"]))


def test_rule_8_without_pre_filter_the_filter_fails() -> None:
    rejected = harness_with().filter(make_pod(), pre_filter=False)
    assert set(rejected.values()) == {Status.from_error("not found")}


def test_rule_28_before_1_37_it_is_never_scored() -> None:
    harness = harness_with(CLAIM, make_storage_class(), version="1.36")
    assert harness.score(make_pod(claims=["claim"])) == {}
    scores = harness.score(make_pod(claims=["claim"]), pre_score=False)
    assert set(scores.values()) == {0}


# Contract -----------------------------------------------------------------------------

ZONES = st.sampled_from(["a", "b", "c"])
SIZES = st.sampled_from(["1Gi", "2Gi", "4Gi"])
BOUND = make_persistent_volume_claim(name="bound", volume="bound")
SOMEWHERE = st.none() | ZONES.map(lambda zone: {ZONE: zone})
OBJECTS: st.SearchStrategy[ApiObject] = st.one_of(
    st.builds(
        lambda zones: make_storage_class(
            allowed_topologies=[{ZONE: zones}] if zones else []
        ),
        st.lists(ZONES, max_size=2, unique=True),
    ),
    st.builds(
        make_persistent_volume,
        name=st.sampled_from(["v0", "v1", "v2"]),
        storage=SIZES,
        node_labels=SOMEWHERE,
    ),
    st.builds(
        make_persistent_volume,
        name=st.just("bound"),
        claim=st.just(BOUND),
        node_labels=SOMEWHERE,
    ),
    st.builds(
        make_persistent_volume_claim,
        name=st.sampled_from(["c0", "c1"]),
        storage=SIZES,
        annotations=st.sampled_from([{}, {SELECTED_NODE: "n0"}]),
    ),
    ZONES.map(
        lambda zone: make_csi_storage_capacity(
            name=zone, node_topology={ZONE: zone}, capacity="2Gi"
        )
    ),
)


class TestContract(PluginContract):
    plugin = VolumeBinding
    # The driver remains: as in upstream, the plugin does not register its deletion.
    objects = (
        driver(tracks=True),
        make_storage_class(),
        BOUND,
        make_persistent_volume(name="bound", claim=BOUND, node_labels={ZONE: "a"}),
        make_persistent_volume_claim(name="c0"),
        make_persistent_volume_claim(name="c1", storage="2Gi"),
    )

    def clusters(self) -> st.SearchStrategy[SmallCluster]:
        claims = st.lists(st.sampled_from(["bound", "c0", "c1"]), unique=True)
        return clusters(
            nodes=st.builds(make_node, zone=ZONES),
            pods=st.builds(make_pod, claims=claims),
            objects=OBJECTS,
        )
