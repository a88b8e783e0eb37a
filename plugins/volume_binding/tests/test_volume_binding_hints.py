"""The queueing hints of VolumeBinding, following upstream's tests."""

import pytest
from msgspec.structs import replace

from quaymaster import ActionType, ClusterEvent, EventResource, Pod, QueueingHint
from quaymaster.objects import (
    CSIDriver,
    CSIDriverSpec,
    CSIStorageCapacity,
    CSIVolumeSource,
    EphemeralVolumeSource,
    Quantity,
    Volume,
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
from quaymaster.volumes import MIGRATED_PLUGINS
from quaymaster_volume_binding import VolumeBinding

QUEUE, SKIP = QueueingHint.QUEUE, QueueingHint.SKIP
ADD, UPDATE = ActionType.ADD, ActionType.UPDATE


@pytest.fixture(scope="module")
def harness() -> PluginHarness:
    return PluginHarness(VolumeBinding)


@pytest.fixture(scope="module")
def pod() -> Pod:
    volumes = [
        Volume(name="v", ephemeral=EphemeralVolumeSource()),
        Volume(name="c", csi=CSIVolumeSource(driver="driver")),
    ]
    return make_pod(claims=["claim"], volumes=volumes)


@pytest.mark.parametrize(
    ("name", "namespace", "hint"),
    [
        ("claim", "default", QUEUE),
        ("pod-v", "default", QUEUE),
        ("other", "default", SKIP),
        ("claim", "other", SKIP),
    ],
)
@pytest.mark.parametrize("action", [ADD, UPDATE])
def test_hint_for_a_claim(
    harness: PluginHarness,
    pod: Pod,
    action: ActionType,
    name: str,
    namespace: str,
    hint: QueueingHint,
) -> None:
    event = ClusterEvent(EventResource.PERSISTENT_VOLUME_CLAIM, action)
    claim = make_persistent_volume_claim(name=name, namespace=namespace)
    old = None if action is ADD else claim
    assert harness.hint(pod, event, old, claim) is hint


def test_hint_for_a_class_asks_where_its_volumes_can_be_made(
    harness: PluginHarness, pod: Pod
) -> None:
    added = ClusterEvent(EventResource.STORAGE_CLASS, ADD)
    updated = ClusterEvent(EventResource.STORAGE_CLASS, UPDATE)
    old = make_storage_class()
    new = make_storage_class(allowed_topologies=[{"zone": ["a"]}])
    assert harness.hint(pod, added, None, new) is QUEUE
    assert harness.hint(pod, updated, old, new) is QUEUE
    assert harness.hint(pod, updated, old, old) is SKIP


def test_hint_for_a_csi_node_asks_what_has_moved_there(
    harness: PluginHarness, pod: Pod
) -> None:
    added = ClusterEvent(EventResource.CSI_NODE, ADD)
    updated = ClusterEvent(EventResource.CSI_NODE, UPDATE)
    old = make_csi_node()
    annotations = {MIGRATED_PLUGINS: "kubernetes.io/aws-ebs"}
    new = replace(old, metadata=replace(old.metadata, annotations=annotations))
    assert harness.hint(pod, added, None, old) is QUEUE
    assert harness.hint(pod, updated, old, new) is QUEUE
    assert harness.hint(pod, updated, old, make_csi_node(limits={"d": 1})) is SKIP


def driver(name: str, tracks: bool | None) -> CSIDriver:
    return CSIDriver(
        metadata=make_metadata(CSIDriver, name=name),
        spec=CSIDriverSpec(storage_capacity=tracks),
    )


@pytest.mark.parametrize(
    ("name", "before", "after", "hint"),
    [
        pytest.param("driver", True, False, QUEUE, id="no longer tracks"),
        pytest.param("driver", True, None, QUEUE, id="says nothing any more"),
        pytest.param("driver", False, True, SKIP, id="tracks now"),
        pytest.param("driver", True, True, SKIP, id="as before"),
        pytest.param("other", True, False, SKIP, id="other driver"),
    ],
)
def test_hint_for_a_driver(
    harness: PluginHarness,
    pod: Pod,
    name: str,
    before: bool | None,
    after: bool | None,
    hint: QueueingHint,
) -> None:
    event = ClusterEvent(EventResource.CSI_DRIVER, UPDATE)
    old, new = driver(name, before), driver(name, after)
    assert harness.hint(pod, event, old, new) is hint


def capacity(size: str | None, maximum: str | None = None) -> CSIStorageCapacity:
    return CSIStorageCapacity(
        metadata=make_metadata(CSIStorageCapacity, name="c", namespace="default"),
        capacity=None if size is None else Quantity(size),
        maximum_volume_size=None if maximum is None else Quantity(maximum),
    )


@pytest.mark.parametrize(
    ("old", "new", "hint"),
    [
        pytest.param(None, capacity("1Gi"), QUEUE, id="new"),
        pytest.param(capacity("1Gi"), capacity("2Gi"), QUEUE, id="more"),
        pytest.param(capacity("2Gi"), capacity("1Gi"), SKIP, id="less"),
        pytest.param(capacity("1Gi"), capacity("9Gi", "1Gi"), SKIP, id="same volumes"),
        pytest.param(capacity(None), capacity("1Gi"), QUEUE, id="known now"),
        pytest.param(capacity("1Gi"), capacity(None), SKIP, id="no longer known"),
    ],
)
def test_hint_for_a_capacity(
    harness: PluginHarness,
    pod: Pod,
    old: CSIStorageCapacity | None,
    new: CSIStorageCapacity,
    hint: QueueingHint,
) -> None:
    action = ADD if old is None else UPDATE
    event = ClusterEvent(EventResource.CSI_STORAGE_CAPACITY, action)
    assert harness.hint(pod, event, old, new) is hint


def test_volumes_nodes_and_labels_always_wake_up(
    harness: PluginHarness, pod: Pod
) -> None:
    volume, node = make_persistent_volume(), make_node()
    for action in (ADD, UPDATE):
        event = ClusterEvent(EventResource.PERSISTENT_VOLUME, action)
        assert harness.hint(pod, event, None, volume) is QUEUE
    for action in (ADD, ActionType.UPDATE_NODE_LABEL):
        event = ClusterEvent(EventResource.NODE, action)
        assert harness.hint(pod, event, None, node) is QUEUE
    deleted = ClusterEvent(EventResource.PERSISTENT_VOLUME, ActionType.DELETE)
    assert harness.hint(pod, deleted, volume) is SKIP
