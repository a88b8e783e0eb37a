"""VolumeZone: rules 8 and 31 of the parity format, and upstream's own tests."""

import pytest
from hypothesis import strategies as st
from msgspec.structs import replace

from quaymaster import (
    ActionType,
    ApiObject,
    ClusterEvent,
    EventResource,
    QueueingHint,
    Status,
)
from quaymaster.testing import (
    PluginContract,
    PluginHarness,
    SmallCluster,
    clusters,
    make_node,
    make_persistent_volume,
    make_persistent_volume_claim,
    make_pod,
    make_storage_class,
    pods,
)
from quaymaster_volume_zone import VolumeZone

ZONE = "topology.kubernetes.io/zone"
REGION = "topology.kubernetes.io/region"
BETA_ZONE = "failure-domain.beta.kubernetes.io/zone"
BETA_REGION = "failure-domain.beta.kubernetes.io/region"

CONFLICT = Status.unresolvable("node(s) had no available volume zone")
POD = make_pod(claims=["claim"])


def bound(labels: dict[str, str]) -> list[ApiObject]:
    """Make a claim with a volume that has these labels."""
    claim = make_persistent_volume_claim(volume="volume")
    return [claim, make_persistent_volume(labels=labels, claim=claim)]


def is_rejected(volume: dict[str, str], node: dict[str, str]) -> bool:
    nodes = [make_node(labels=node)]
    harness = PluginHarness(VolumeZone, nodes=nodes, objects=bound(volume))
    rejected = harness.filter(POD)
    assert rejected in ({}, {"node": CONFLICT})
    return bool(rejected)


@pytest.mark.parametrize(
    ("volume", "node"),
    [
        pytest.param({ZONE: "a"}, {ZONE: "b"}, id="other zone"),
        pytest.param({REGION: "a"}, {REGION: "b"}, id="other region"),
        pytest.param({ZONE: "a", REGION: "r"}, {ZONE: "a"}, id="no region"),
        pytest.param({ZONE: "a__b"}, {ZONE: "c"}, id="none of two zones"),
        pytest.param({BETA_ZONE: "a"}, {BETA_ZONE: "b", ZONE: "a"}, id="beta first"),
        pytest.param({ZONE: "a"}, {BETA_ZONE: "a"}, id="label of today, old node"),
    ],
)
def test_node_elsewhere_is_rejected(
    volume: dict[str, str], node: dict[str, str]
) -> None:
    assert is_rejected(volume, node)


@pytest.mark.parametrize(
    ("volume", "node"),
    [
        pytest.param({ZONE: "a"}, {ZONE: "a"}, id="same zone"),
        pytest.param({ZONE: "a"}, {ZONE: "a", REGION: "r"}, id="node says more"),
        pytest.param({"other": "a"}, {ZONE: "b"}, id="no label of ours"),
    ],
)
def test_node_at_the_right_place_passes(
    volume: dict[str, str], node: dict[str, str]
) -> None:
    assert not is_rejected(volume, node)


def test_rule_31_nodes_without_labels_for_zones_always_pass() -> None:
    assert not is_rejected({ZONE: "a"}, {"other": "x"})


@pytest.mark.parametrize("zone", ["a", "b"])
def test_rule_31_values_may_be_sets(zone: str) -> None:
    assert not is_rejected({ZONE: "a__b"}, {ZONE: zone})


def test_rule_31_a_set_with_a_gap_is_ignored() -> None:
    assert not is_rejected({ZONE: "a____b"}, {ZONE: "c"})


def test_rule_31_beta_labels_fall_back_to_the_nodes_labels_of_today() -> None:
    assert not is_rejected({BETA_ZONE: "a", BETA_REGION: "r"}, {ZONE: "a", REGION: "r"})
    assert is_rejected({BETA_ZONE: "a"}, {ZONE: "b"})


def test_rule_31_an_unbound_immediate_claim_ends_the_attempt() -> None:
    objects = [
        make_persistent_volume_claim(),
        make_storage_class(volume_binding_mode="Immediate"),
    ]
    harness = PluginHarness(VolumeZone, nodes=[make_node()], objects=objects)
    expected = Status.unresolvable("PersistentVolume had no name")
    assert harness.pre_filter(POD) == expected


def test_a_claim_that_waits_for_its_pod_is_skipped() -> None:
    objects = [make_persistent_volume_claim(), make_storage_class()]
    harness = PluginHarness(VolumeZone, nodes=[make_node()], objects=objects)
    assert harness.pre_filter(POD) == Status.skip()


def test_pod_without_volumes_is_skipped() -> None:
    harness = PluginHarness(VolumeZone, nodes=[make_node()])
    assert harness.pre_filter(make_pod()) == Status.skip()


@pytest.mark.parametrize(
    ("objects", "claim", "reason"),
    [
        pytest.param([], "", "PersistentVolumeClaim had no name", id="no name"),
        pytest.param(
            [], "claim", 'persistentvolumeclaim "claim" not found', id="no claim"
        ),
        pytest.param(
            [make_persistent_volume_claim(volume="gone")],
            "claim",
            'persistentvolume "gone" not found',
            id="no volume",
        ),
        pytest.param(
            [make_persistent_volume_claim(storage_class=None)],
            "claim",
            "PersistentVolumeClaim had no pv name and storageClass name",
            id="no class name",
        ),
        pytest.param(
            [make_persistent_volume_claim(storage_class="gone")],
            "claim",
            'storageclass.storage.k8s.io "gone" not found',
            id="no class",
        ),
        pytest.param(
            [
                make_persistent_volume_claim(),
                replace(make_storage_class(), volume_binding_mode=None),
            ],
            "claim",
            'VolumeBindingMode not set for StorageClass "standard"',
            id="no binding mode",
        ),
    ],
)
def test_what_is_missing_ends_the_attempt(
    objects: list[ApiObject], claim: str, reason: str
) -> None:
    # Objects that are never sent to the cluster cannot be rejected by its admission.
    harness = PluginHarness(VolumeZone, nodes=[make_node()], objects=objects)
    pod = make_pod(claims=[claim])
    assert harness.pre_filter(pod) == Status.unresolvable(reason)


def test_rule_8_without_pre_filter_the_filter_looks_itself() -> None:
    nodes = [make_node(name="here", labels={ZONE: "a"}), make_node(labels={ZONE: "b"})]
    harness = PluginHarness(VolumeZone, nodes=nodes, objects=bound({ZONE: "a"}))
    assert harness.filter(POD, pre_filter=False) == {"node": CONFLICT}
    missing = PluginHarness(VolumeZone, nodes=[make_node(labels={ZONE: "b"})])
    expected = Status.unresolvable('persistentvolumeclaim "claim" not found')
    assert missing.filter(POD, pre_filter=False) == {"node": expected}


LABELS = st.dictionaries(
    st.sampled_from([ZONE, REGION, BETA_ZONE, BETA_REGION]),
    st.sampled_from(["a", "b", "a__b"]),
)


VOLUMES = LABELS.map(lambda labels: bound(labels)[1])


class TestContract(PluginContract):
    plugin = VolumeZone
    objects = tuple(bound({}))

    def clusters(self) -> st.SearchStrategy[SmallCluster]:
        labelled = LABELS.map(lambda labels: make_node(labels=labels))
        return clusters(nodes=labelled, pods=st.just(POD) | pods(), objects=VOLUMES)


@pytest.mark.parametrize(
    ("mode", "hint"),
    [
        ("WaitForFirstConsumer", QueueingHint.QUEUE),
        ("Immediate", QueueingHint.SKIP),
    ],
)
def test_hint_for_a_new_class(mode: str, hint: QueueingHint) -> None:
    event = ClusterEvent(EventResource.STORAGE_CLASS, ActionType.ADD)
    new = make_storage_class(volume_binding_mode=mode)
    assert PluginHarness(VolumeZone).hint(POD, event, None, new) is hint


@pytest.mark.parametrize(
    ("name", "namespace", "hint"),
    [
        ("claim", "default", QueueingHint.QUEUE),
        ("other", "default", QueueingHint.SKIP),
        ("claim", "other", QueueingHint.SKIP),
    ],
)
@pytest.mark.parametrize("action", [ActionType.ADD, ActionType.UPDATE])
def test_hint_for_a_claim(
    action: ActionType, name: str, namespace: str, hint: QueueingHint
) -> None:
    event = ClusterEvent(EventResource.PERSISTENT_VOLUME_CLAIM, action)
    claim = make_persistent_volume_claim(name=name, namespace=namespace)
    old = None if action is ActionType.ADD else claim
    assert PluginHarness(VolumeZone).hint(POD, event, old, claim) is hint


def test_hint_for_a_volume_asks_whether_its_place_has_changed() -> None:
    harness = PluginHarness(VolumeZone)
    added = ClusterEvent(EventResource.PERSISTENT_VOLUME, ActionType.ADD)
    updated = ClusterEvent(EventResource.PERSISTENT_VOLUME, ActionType.UPDATE)
    here = make_persistent_volume(labels={ZONE: "a"})
    there = make_persistent_volume(labels={ZONE: "b"})
    also_here = make_persistent_volume(labels={ZONE: "a", "other": "x"})
    assert harness.hint(POD, added, None, here) is QueueingHint.QUEUE
    assert harness.hint(POD, updated, here, there) is QueueingHint.QUEUE
    assert harness.hint(POD, updated, here, also_here) is QueueingHint.SKIP


@pytest.mark.parametrize("action", [ActionType.ADD, ActionType.UPDATE_NODE_LABEL])
def test_nodes_and_their_labels_always_wake_up(action: ActionType) -> None:
    event = ClusterEvent(EventResource.NODE, action)
    hint = PluginHarness(VolumeZone).hint(POD, event, None, make_node())
    assert hint is QueueingHint.QUEUE
