"""CapacityBuffers keep room on nodes, which real pods take."""

from typing import Any

import pytest
from msgspec.structs import replace

from quaymaster import ApiObject, Node
from quaymaster.autoscaling import (
    ClusterAutoscalerOptions,
    ClusterAutoscalerSetup,
    GivesNotices,
    GroupSettings,
)
from quaymaster.objects import Deployment, Quantity, ResourceQuota, from_wire
from quaymaster.simulation import Simulation
from quaymaster.testing import make_deployment, make_node, make_pod
from tests.kit.internals.capacity import (
    BufferSizeError,
    CapacityBuffer,
    PodTemplate,
    buffer_size,
)

MEMBER = {"pool": "small"}
ENABLED = ClusterAutoscalerOptions(
    capacity_buffer_controller_enabled=True,
    capacity_buffer_pod_injection_enabled=True,
)


def chunk(cpu: str = "900m", **spec: Any) -> PodTemplate:
    container = {"name": "main", "image": "x", "resources": {"requests": {"cpu": cpu}}}
    tree = {
        "metadata": {"name": "chunk", "namespace": "default"},
        "template": {"spec": {"containers": [container], **spec}},
    }
    return from_wire(tree, PodTemplate)


def buffer(name: str = "spare", **spec: Any) -> CapacityBuffer:
    metadata = {"name": name, "namespace": "default"}
    return from_wire({"metadata": metadata, "spec": spec}, CapacityBuffer)


def of_chunks(replicas: int, **spec: Any) -> CapacityBuffer:
    return buffer(podTemplateRef={"name": "chunk"}, replicas=replicas, **spec)


def web(replicas: int) -> Deployment:
    return make_deployment(
        name="web",
        replicas=replicas,
        pod=make_pod(requests={"cpu": "900m"}, labels={"app": "web"}),
    )


def of_web(**spec: Any) -> CapacityBuffer:
    ref = {"apiGroup": "apps", "kind": "Deployment", "name": "web"}
    return buffer(scalableRef=ref, **spec)


def started(
    *objects: ApiObject, options: ClusterAutoscalerOptions = ENABLED, most: int = 10
) -> Simulation:
    """Make a simulation whose nodes have room for two pods of 900m each."""
    group = GroupSettings(
        name="small",
        min=0,
        max=most,
        nodes=MEMBER,
        resources={"cpu": Quantity("2"), "memory": Quantity("8Gi")},
        labels=MEMBER,
    )
    node = make_node(name="old", labels=MEMBER, capacity={"cpu": "2", "memory": "8Gi"})
    setup = ClusterAutoscalerSetup(groups=[group], options=options)
    return Simulation([node, *objects], autoscaler=setup)


def nodes_of(simulation: Simulation) -> int:
    return len(simulation.cluster.list(Node).items)


def events_of(simulation: Simulation) -> list[str]:
    return [
        event.note
        for event in simulation.cluster.events()
        if event.regarding.kind == "CapacityBuffer"
    ]


def test_buffer_gets_nodes_for_its_pods() -> None:
    with started(chunk(), of_chunks(5)) as simulation:
        simulation.settle()
        assert nodes_of(simulation) == 3
        assert events_of(simulation) == [
            "capacity buffer 3 fake pods triggered scale-up: [{small 1->3 (max: 10)}]"
        ]
        assert simulation.result().pods == 0
        [stored] = simulation.cluster.list(CapacityBuffer).items
    assert stored.status.replicas == 5
    assert {each.type: each.status for each in stored.status.conditions} == {
        "ReadyForProvisioning": "True",
        "Provisioning": "True",
    }


def test_buffer_keeps_nodes_without_pods() -> None:
    with started(chunk(), of_chunks(2)) as simulation:
        simulation.settle()
        assert nodes_of(simulation) == 1


def test_real_pods_take_the_room_and_the_buffer_gets_more() -> None:
    with started(web(0), chunk(), of_chunks(2)) as simulation:
        simulation.settle()
        before = simulation.now
        stored = simulation.cluster.get(Deployment, "default/web")
        simulation.cluster.update(
            replace(stored, spec=replace(stored.spec, replicas=2))
        )
        simulation.settle()
        placements = simulation.result().placements
        assert {placement.node for placement in placements} == {"old"}
        assert max(placement.bound for placement in placements) < before + 10
        assert nodes_of(simulation) == 2


@pytest.mark.long
def test_share_of_a_workload_follows_its_size() -> None:
    with started(web(2), of_web(percentage=50)) as simulation:
        simulation.settle()
        assert nodes_of(simulation) == 2
        stored = simulation.cluster.get(Deployment, "default/web")
        simulation.cluster.update(
            replace(stored, spec=replace(stored.spec, replicas=6))
        )
        simulation.settle()
        [spare] = simulation.cluster.list(CapacityBuffer).items
        assert spare.status.replicas == 3
        assert nodes_of(simulation) == 5


@pytest.mark.long
def test_buffer_without_room_in_any_group_has_one_event() -> None:
    with started(chunk(), of_chunks(5), most=1) as simulation:
        simulation.settle()
        text = "1 max node group size reached"
        assert events_of(simulation)[0] == (
            f"capacity buffer 3 fake pods didn't trigger scale-up: {text},{text},{text}"
        )


def test_quota_limits_a_buffer() -> None:
    tree = {
        "metadata": {"name": "few", "namespace": "default"},
        "spec": {"hard": {"requests.cpu": "2"}},
    }
    with started(chunk(), of_chunks(5), from_wire(tree, ResourceQuota)) as simulation:
        simulation.settle()
        [notice] = [each for each in simulation.result().notices if each.where]
        assert nodes_of(simulation) == 1
    expected = "buffer replicas limited from 5 to 2 due to quotas: few"
    assert notice.message == expected


@pytest.mark.parametrize(
    ("objects", "options", "message"),
    [
        pytest.param(
            [of_chunks(1)], ENABLED, 'podtemplate "chunk" not found', id="no template"
        ),
        pytest.param(
            [of_web(replicas=1)], ENABLED, 'get Deployment: "web" not', id="no workload"
        ),
        pytest.param(
            [buffer(scalableRef={"kind": "Fleet", "name": "x"}, replicas=1)],
            ENABLED,
            "kind /Fleet is not supported",
            id="other kind",
        ),
        pytest.param(
            [web(1), of_web(percentage=0)], ENABLED, "zero replicas", id="empty"
        ),
        pytest.param(
            [chunk(), of_chunks(1, provisioningStrategy="x/other")],
            ENABLED,
            "spec.provisioningStrategy is 'x/other'",
            id="other strategy",
        ),
        pytest.param(
            [chunk(), of_chunks(9)],
            ClusterAutoscalerOptions(),
            "--capacity-buffer-controller-enabled",
            id="flags not set",
        ),
    ],
)
def test_buffer_without_effect_is_a_warning(
    objects: list[ApiObject], options: ClusterAutoscalerOptions, message: str
) -> None:
    with started(*objects, options=options) as simulation:
        simulation.run_until(30)
        notices = [str(each) for each in simulation.result().notices]
        assert isinstance(simulation.autoscaler, GivesNotices)
        assert len(simulation.autoscaler.notices()) == 1
        assert nodes_of(simulation) == 1
    assert any(message in each for each in notices)


def test_stored_status_counts_without_the_controller() -> None:
    options = ClusterAutoscalerOptions(capacity_buffer_pod_injection_enabled=True)
    status = {
        "podTemplateRef": {"name": "chunk"},
        "replicas": 4,
        "provisioningStrategy": "buffer.x-k8s.io/active-capacity",
        "conditions": [{"type": "ReadyForProvisioning", "status": "True"}],
    }
    tree = {"metadata": {"name": "spare", "namespace": "default"}, "status": status}
    stored = from_wire(tree, CapacityBuffer)
    with started(chunk(), stored, options=options) as simulation:
        simulation.settle()
        assert nodes_of(simulation) == 2


@pytest.mark.parametrize(
    ("spec", "workload", "size"),
    [
        ({"replicas": 3}, None, 3),
        ({"replicas": -3}, None, 0),
        ({"percentage": 20}, 10, 2),
        ({"percentage": 1}, 10, 1),
        ({"percentage": 50, "replicas": 2}, 10, 5),
        ({"limits": {"cpu": "2"}}, None, 4),
        ({"limits": {"cpu": "2", "memory": "2Gi"}}, None, 2),
        ({"limits": {"cpu": "2"}, "replicas": 3}, None, 3),
        ({"limits": {"cpu": "100m"}, "replicas": 3}, None, 0),
    ],
)
def test_size_of_a_buffer(
    spec: dict[str, Any], workload: int | None, size: int
) -> None:
    """Cases of ``capacitybuffer/translators/replicas_test.go``."""
    pod = make_pod(requests={"cpu": "500m", "memory": "1Gi"})
    assert buffer_size(buffer(**spec).spec, pod, workload) == size


@pytest.mark.long
@pytest.mark.parametrize("spec", [{}, {"percentage": 5}, {"limits": {"gpu": "1"}}])
def test_buffer_without_a_size(spec: dict[str, Any]) -> None:
    pod = make_pod(requests={"cpu": "500m"})
    with pytest.raises(BufferSizeError):
        buffer_size(buffer(**spec).spec, pod, None)
