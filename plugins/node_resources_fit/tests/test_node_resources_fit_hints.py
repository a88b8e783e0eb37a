"""NodeResourcesFit's events and queueing hints.

Mirrors ``TestEventsToRegister``, ``Test_isSchedulableAfterPodChange``,
``Test_isSchedulableAfterNodeChange`` and ``TestHaveAnyRequestedResourcesIncreased`` in
``fit_test.go`` (kube-scheduler 1.36.2,
``pkg/scheduler/framework/plugins/noderesources``).
"""

import pytest
from msgspec.structs import replace

from quaymaster import ActionType, ClusterEvent, EventResource, Node, Pod, QueueingHint
from quaymaster.config import Kubernetes
from quaymaster.objects import (
    ContainerStatus,
    DeviceClass,
    DeviceClassSpec,
    ObjectMeta,
    Quantity,
    ResourceRequirements,
)
from quaymaster.testing import PluginHarness, make_container, make_node, make_pod
from quaymaster_node_resources_fit import NodeResourcesFit

GPU = "nvidia.com/gpu"
FOO = "example.com/foo"

POD_DELETED = ClusterEvent(EventResource.ASSIGNED_POD, ActionType.DELETE)
POD_SHRUNK = ClusterEvent(EventResource.ASSIGNED_POD, ActionType.UPDATE_POD_SCALE_DOWN)
WAITING_POD_SHRUNK = ClusterEvent(
    EventResource.UNSCHEDULABLE_POD, ActionType.UPDATE_POD_SCALE_DOWN
)
NODE_ADDED = ClusterEvent(EventResource.NODE, ActionType.ADD)
NODE_RESIZED = ClusterEvent(EventResource.NODE, ActionType.UPDATE_NODE_ALLOCATABLE)

QUEUE, SKIP = QueueingHint.QUEUE, QueueingHint.SKIP


def hint(
    pod: Pod, event: ClusterEvent, old: Node | Pod | None, new: Node | Pod | None
) -> QueueingHint:
    return PluginHarness(NodeResourcesFit).hint(pod, event, old, new)


def test_events_are_upstreams() -> None:
    registered = [item.event for item in PluginHarness(NodeResourcesFit).events()]
    assert registered == [
        ClusterEvent(
            EventResource.ASSIGNED_POD,
            ActionType.DELETE | ActionType.UPDATE_POD_SCALE_DOWN,
        ),
        ClusterEvent(EventResource.TARGET_POD, ActionType.UPDATE_POD_SCALE_DOWN),
        ClusterEvent(
            EventResource.NODE, ActionType.ADD | ActionType.UPDATE_NODE_ALLOCATABLE
        ),
        ClusterEvent(EventResource.DEVICE_CLASS, ActionType.ADD | ActionType.UPDATE),
    ]


def device_class(name: str, resource: str | None) -> DeviceClass:
    spec = DeviceClassSpec(extended_resource_name=resource)
    return DeviceClass(metadata=ObjectMeta(name=name), spec=spec)


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        pytest.param(None, GPU, QueueingHint.QUEUE, id="added for the resource"),
        pytest.param(None, FOO, QueueingHint.SKIP, id="added for another"),
        pytest.param(None, None, QueueingHint.SKIP, id="added for none"),
        pytest.param(FOO, GPU, QueueingHint.QUEUE, id="changed to the resource"),
        pytest.param(GPU, GPU, QueueingHint.SKIP, id="resource unchanged"),
        pytest.param(GPU, None, QueueingHint.SKIP, id="resource taken away"),
    ],
)
def test_device_class_wakes_pods_that_want_its_resource(
    old: str | None, new: str | None, expected: QueueingHint
) -> None:
    action = ActionType.ADD if old is None else ActionType.UPDATE
    before = None if old is None else device_class("gpu", old)
    hint = PluginHarness(NodeResourcesFit).hint(
        make_pod(requests={GPU: "1"}, limits={GPU: "1"}),
        ClusterEvent(EventResource.DEVICE_CLASS, action),
        before,
        device_class("gpu", new),
    )
    assert hint is expected


def test_added_device_class_wakes_pods_that_want_it_by_name() -> None:
    name = "deviceclass.resource.kubernetes.io/gpu"
    hint = PluginHarness(NodeResourcesFit).hint(
        make_pod(requests={name: "1"}, limits={name: "1"}),
        ClusterEvent(EventResource.DEVICE_CLASS, ActionType.ADD),
        None,
        device_class("gpu", None),
    )
    assert hint is QueueingHint.QUEUE


@pytest.mark.parametrize(
    ("deleted", "expected"),
    [
        pytest.param(make_pod(name="other", node="a"), QUEUE, id="on a node"),
        pytest.param(make_pod(name="other", nominated_node="a"), QUEUE, id="nominated"),
        pytest.param(make_pod(name="other"), SKIP, id="unscheduled"),
    ],
)
def test_deleted_pod_helps_if_it_held_a_node(
    deleted: Pod, expected: QueueingHint
) -> None:
    pod = make_pod(requests={"cpu": "1"})
    assert hint(pod, POD_DELETED, deleted, None) is expected


def other(node: str | None = "a", /, **requests: str) -> Pod:
    return make_pod(name="other", node=node, requests=requests)


@pytest.mark.parametrize(
    ("wanted", "old", "new", "expected"),
    [
        pytest.param("cpu", other(cpu="2"), other(cpu="1"), QUEUE, id="cpu"),
        pytest.param(
            "memory", other(memory="2"), other(memory="1"), QUEUE, id="memory"
        ),
        pytest.param(
            "ephemeral-storage",
            other(**{"ephemeral-storage": "2"}),
            other(**{"ephemeral-storage": "1"}),
            QUEUE,
            id="ephemeral storage",
        ),
        pytest.param(
            GPU, other(**{GPU: "2"}), other(**{GPU: "1"}), QUEUE, id="extended resource"
        ),
        pytest.param("cpu", other(cpu="2"), other(), QUEUE, id="request is gone"),
        pytest.param(
            "cpu", other(memory="2"), other(memory="1"), SKIP, id="unrelated resource"
        ),
        pytest.param("cpu", other(cpu="1"), other(cpu="2"), SKIP, id="growth"),
        pytest.param(
            "cpu",
            other(None, cpu="2"),
            other(None, cpu="1"),
            SKIP,
            id="of an unscheduled pod",
        ),
    ],
)
def test_pod_scaled_down_helps_if_it_gives_back_what_is_wanted(
    wanted: str, old: Pod, new: Pod, expected: QueueingHint
) -> None:
    pod = make_pod(requests={wanted: "1"})
    assert hint(pod, POD_SHRUNK, old, new) is expected


def make_resized(requests: dict[str, str], given: dict[str, str]) -> Pod:
    """Make a pod on a node: container -> requested CPU, and actual CPU."""
    containers = [
        make_container(name=name, requests={"cpu": cpu})
        for name, cpu in requests.items()
    ]
    pod = make_pod(name="resized", node="n", containers=containers)
    statuses = tuple(
        ContainerStatus(
            name=name, resources=ResourceRequirements(requests={"cpu": Quantity(cpu)})
        )
        for name, cpu in given.items()
    )
    return replace(pod, status=replace(pod.status, container_statuses=statuses))


@pytest.mark.parametrize(("version", "expected"), [("1.36", QUEUE), ("1.37", SKIP)])
def test_since_1_37_a_resize_counts_by_its_totals(
    version: str, expected: QueueingHint
) -> None:
    # Two containers exchange a CPU.
    wanted = {"a": "2", "b": "1"}
    before = make_resized(wanted, {"a": "1", "b": "2"})
    after = make_resized(wanted, wanted)
    harness = PluginHarness(NodeResourcesFit, kubernetes=Kubernetes(version))
    pod = make_pod(requests={"cpu": "1"})
    assert harness.hint(pod, POD_SHRUNK, before, after) is expected


def test_the_pod_itself_scaled_down_may_fit_now() -> None:
    old = make_pod(requests={"cpu": "2"})
    new = make_pod(requests={"cpu": "1"})
    assert hint(new, WAITING_POD_SHRUNK, old, new) is QUEUE


def node(**capacity: str) -> Node:
    return make_node(name="node", capacity=capacity)


@pytest.mark.parametrize(
    ("requests", "new", "expected"),
    [
        pytest.param({"cpu": "4"}, node(cpu="4"), QUEUE, id="large enough"),
        pytest.param({"cpu": "5"}, node(cpu="4"), SKIP, id="too small"),
        pytest.param({GPU: "1"}, node(), SKIP, id="without the resource"),
        pytest.param({}, node(pods="0"), SKIP, id="without room for a pod"),
    ],
)
def test_added_node_helps_if_it_is_large_enough(
    requests: dict[str, str], new: Node, expected: QueueingHint
) -> None:
    assert hint(make_pod(requests=requests), NODE_ADDED, None, new) is expected


@pytest.mark.parametrize(
    ("requests", "old", "new", "expected"),
    [
        pytest.param({"cpu": "1"}, node(cpu="2"), node(cpu="3"), QUEUE, id="cpu"),
        pytest.param(
            {"memory": "1"}, node(memory="2"), node(memory="3"), QUEUE, id="memory"
        ),
        pytest.param(
            {"ephemeral-storage": "1"},
            node(**{"ephemeral-storage": "2"}),
            node(**{"ephemeral-storage": "3"}),
            QUEUE,
            id="ephemeral storage",
        ),
        pytest.param({GPU: "1"}, node(), node(**{GPU: "1"}), QUEUE, id="extended"),
        pytest.param({}, node(pods="1"), node(pods="2"), QUEUE, id="room for pods"),
        pytest.param(
            {"cpu": "1"}, node(memory="2"), node(memory="3"), SKIP, id="unrelated"
        ),
        pytest.param({"cpu": "1"}, node(cpu="3"), node(cpu="2"), SKIP, id="less"),
        pytest.param({"cpu": "4"}, node(cpu="2"), node(cpu="3"), SKIP, id="too small"),
        pytest.param({"cpu": "1"}, node(cpu="2"), node(cpu="2"), SKIP, id="the same"),
        pytest.param({}, node(cpu="2"), node(cpu="3"), SKIP, id="requests nothing"),
        pytest.param(
            {"cpu": "0"}, node(cpu="2"), node(cpu="3"), SKIP, id="requests zero"
        ),
    ],
)
def test_changed_node_helps_if_what_is_wanted_has_grown(
    requests: dict[str, str], old: Node, new: Node, expected: QueueingHint
) -> None:
    assert hint(make_pod(requests=requests), NODE_RESIZED, old, new) is expected


def test_ignored_resources_are_not_ignored_by_hints() -> None:
    # As in upstream, which ignores them.
    harness = PluginHarness(NodeResourcesFit, args={"ignoredResources": [FOO]})
    pod = make_pod(requests={FOO: "1"})
    assert harness.hint(pod, NODE_ADDED, None, node()) is SKIP


def test_other_changes_of_nodes_are_not_asked_for() -> None:
    event = ClusterEvent(EventResource.NODE, ActionType.UPDATE_NODE_LABEL)
    assert hint(make_pod(), event, node(cpu="1"), node(cpu="2")) is SKIP
