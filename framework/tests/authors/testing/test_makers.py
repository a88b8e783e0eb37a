"""Makers create the objects of a test in one call."""

from typing import ClassVar

import pytest

from quaymaster import ApiObject, Handle, Node, Pod, Status, hookimpl
from quaymaster.errors import QuantityError
from quaymaster.objects import (
    Container,
    ContainerPort,
    LabelSelector,
    NodeSelector,
    NodeSelectorRequirement,
    NodeSelectorTerm,
    ObjectMeta,
    ObjectReference,
    Quantity,
    Taint,
    Time,
    Toleration,
)
from quaymaster.testing import (
    PluginHarness,
    make_affinity_term,
    make_container,
    make_csi_node,
    make_metadata,
    make_namespace,
    make_node,
    make_persistent_volume,
    make_persistent_volume_claim,
    make_pod,
    make_pod_disruption_budget,
    make_priority_class,
    make_replica_set,
    make_service,
    make_spread_constraint,
    make_storage_class,
    make_uid,
)
from tests.kit.internals.testing import parse_host_port, parse_taint, parse_toleration


def test_pod_without_arguments_is_pending() -> None:
    pod = make_pod()
    assert pod.key == "default/pod"
    assert pod.node_name == ""
    assert pod.status.phase == "Pending"
    assert pod.spec.scheduler_name == "default-scheduler"
    assert pod.spec.affinity is None
    assert [container.name for container in pod.spec.containers] == ["main"]


def test_pod_on_a_node_runs() -> None:
    pod = make_pod(node="n1", start_time="2030-01-01T00:00:00Z")
    assert pod.node_name == "n1"
    assert pod.status.phase == "Running"
    assert pod.status.start_time == Time(1893456000)


def test_same_arguments_make_equal_objects() -> None:
    assert make_pod(name="a") == make_pod(name="a")
    assert make_pod(name="a").uid == make_uid(Pod, "a", "default")
    uids = {
        make_pod(name="a").uid,
        make_pod(name="b").uid,
        make_pod(name="a", namespace="b").uid,
        make_node(name="a").uid,
    }
    assert len(uids) == 4


class Lane(ApiObject, frozen=True, kw_only=True):
    """A kind with namespaces."""

    api_version: ClassVar[str] = "acme.example/v1"
    kind: ClassVar[str] = "Lane"
    plural: ClassVar[str] = "lanes"


class Harbour(Lane, frozen=True, kw_only=True):
    """A cluster-scoped kind."""

    kind: ClassVar[str] = "Harbour"
    plural: ClassVar[str] = "harbours"
    namespaced: ClassVar[bool] = False


class WatchesLanes:
    """Finds the lanes of a pod's namespace."""

    kinds = (Lane,)

    def __init__(self, args: object, handle: Handle) -> None:
        self.informers = handle.informers

    @hookimpl
    def pre_filter(self, pod: Pod) -> Status | None:
        lane = self.informers.get(Lane, f"{pod.namespace}/left")
        return None if lane else Status.unresolvable("no such lane")


def test_metadata_has_the_namespace_that_its_kind_needs() -> None:
    assert Lane(metadata=make_metadata(Lane, name="left")).key == "default/left"
    assert make_metadata(Lane, name="left", namespace="other").namespace == "other"
    assert make_metadata(Harbour, name="north").namespace == ""
    assert make_uid(Pod, "a") == make_pod(name="a").uid
    assert make_uid(Node, "a") == make_node(name="a").uid


def test_harness_has_objects_where_a_cluster_stores_them() -> None:
    lane = Lane(metadata=ObjectMeta(name="left"))
    harness = PluginHarness(WatchesLanes, objects=[lane])
    assert harness.pre_filter(make_pod()) is None
    assert harness.pre_filter(make_pod(namespace="other")) is not None
    harness.remove(lane)
    assert harness.pre_filter(make_pod()) is not None
    harness.put(lane)
    assert harness.pre_filter(make_pod()) is None
    assert harness.cluster.get(Lane, "default/left").name == "left"


def test_amounts_are_as_in_manifests() -> None:
    pod = make_pod(requests={"cpu": "500m", "memory": 5}, limits={"cpu": 1, "x.y/z": 2})
    resources = pod.spec.containers[0].resources
    assert resources.limits == {"cpu": Quantity(1), "x.y/z": Quantity(2)}
    assert resources.requests == {
        "cpu": Quantity("500m"),
        "memory": Quantity(5),
        "x.y/z": Quantity(2),
    }
    with pytest.raises(QuantityError):
        make_pod(requests={"cpu": "12xyz"})


def test_each_image_is_a_container() -> None:
    pod = make_pod(images=["a:1", "b:2"], requests={"cpu": 1}, host_ports=[80])
    first, second = pod.spec.containers
    assert (first.image, second.image) == ("a:1", "b:2")
    assert first.name != second.name
    assert first.ports
    assert not second.ports
    assert not second.resources.requests


def test_containers_can_be_given_themselves() -> None:
    container, sidecar = Container(name="x"), make_container(sidecar=True)
    pod = make_pod(containers=[container], init_containers=[sidecar])
    assert pod.spec.containers == (container,)
    assert pod.spec.init_containers[0].is_sidecar


def test_pod_can_request_as_a_whole() -> None:
    resources = make_pod(
        pod_requests={"cpu": 1}, pod_limits={"memory": 1}
    ).spec.resources
    assert resources is not None
    assert resources.requests == {"cpu": Quantity(1), "memory": Quantity(1)}
    assert make_pod().spec.resources is None


def test_node_affinity_is_short_for_labels_with_values() -> None:
    wanted = {"zone": ["a", "b"], "disk": "ssd"}
    pod = make_pod(node_affinity=wanted, preferred_node_affinity=[(5, {"gpu": "yes"})])
    term = NodeSelectorTerm(
        match_expressions=(
            NodeSelectorRequirement(key="zone", operator="In", values=("a", "b")),
            NodeSelectorRequirement(key="disk", operator="In", values=("ssd",)),
        )
    )
    assert pod.spec.affinity is not None
    affinity = pod.spec.affinity.node_affinity
    assert affinity is not None
    required = affinity.required_during_scheduling_ignored_during_execution
    assert required == NodeSelector(node_selector_terms=(term,))
    (preferred,) = affinity.preferred_during_scheduling_ignored_during_execution
    assert preferred.weight == 5
    assert preferred.preference.match_expressions[0].values == ("yes",)
    same = make_pod(
        node_affinity=required, preferred_node_affinity=[(5, preferred.preference)]
    )
    assert same == pod


def test_pod_affinity_is_made_of_terms() -> None:
    near = make_affinity_term(selector={"app": "db"}, topology_key="zone")
    away = make_affinity_term(selector=LabelSelector(), namespaces=["a"])
    pod = make_pod(
        pod_affinity=[near],
        preferred_pod_affinity=[(1, near)],
        pod_anti_affinity=[away],
        preferred_pod_anti_affinity=[(2, away)],
    )
    affinity = pod.spec.affinity
    assert affinity is not None
    assert affinity.pod_affinity is not None
    assert affinity.pod_anti_affinity is not None
    required = affinity.pod_affinity.required_during_scheduling_ignored_during_execution
    assert required == (near,)
    (wish,) = (
        affinity.pod_anti_affinity.preferred_during_scheduling_ignored_during_execution
    )
    assert (wish.weight, wish.pod_affinity_term) == (2, away)
    assert near.label_selector == LabelSelector(match_labels={"app": "db"})
    assert away.topology_key == "kubernetes.io/hostname"


def test_other_parts_of_a_pod_have_short_forms() -> None:
    pod = make_pod(
        tolerations=["a:NoSchedule"],
        spread=[make_spread_constraint(selector={"a": "b"}, max_skew=2)],
        scheduling_gates=["wait"],
        claims=["data"],
        owner=make_replica_set(name="web"),
        nominated_node="n1",
        deletion_timestamp=5,
    )
    assert pod.spec.tolerations[0].key == "a"
    assert pod.spec.topology_spread_constraints[0].max_skew == 2
    assert pod.spec.scheduling_gates[0].name == "wait"
    (volume,) = pod.spec.volumes
    assert volume.persistent_volume_claim is not None
    assert volume.persistent_volume_claim.claim_name == "data"
    assert pod.metadata.controller is not None
    assert pod.metadata.controller.kind == "ReplicaSet"
    assert pod.metadata.controller.uid == make_replica_set(name="web").uid
    assert pod.status.nominated_node_name == "n1"
    assert pod.is_terminating


def test_node_without_arguments_is_an_ordinary_one() -> None:
    node = make_node(name="n1")
    assert node.labels == {"kubernetes.io/hostname": "n1"}
    assert {name: str(value) for name, value in node.status.allocatable.items()} == {
        "cpu": "4",
        "memory": "16Gi",
        "ephemeral-storage": "100Gi",
        "pods": "110",
    }
    assert node.status.capacity == node.status.allocatable
    assert node.status.conditions[0].status == "True"


def test_node_has_the_given_properties() -> None:
    node = make_node(
        name="n1",
        labels={"disk": "ssd"},
        zone="a",
        region="b",
        capacity={"cpu": 8, "nvidia.com/gpu": 2},
        allocatable={"cpu": "7500m"},
        taints=["a=b:NoExecute", Taint(key="c", effect="NoSchedule")],
        unschedulable=True,
        images={"nginx:1": 100},
        declared_features=["X"],
        ready=False,
    )
    assert node.labels == {
        "kubernetes.io/hostname": "n1",
        "topology.kubernetes.io/zone": "a",
        "topology.kubernetes.io/region": "b",
        "disk": "ssd",
    }
    assert node.status.capacity["cpu"] == Quantity(8)
    assert node.status.allocatable["cpu"] == Quantity("7500m")
    assert node.status.allocatable["nvidia.com/gpu"] == Quantity(2)
    assert [taint.key for taint in node.spec.taints] == ["a", "c"]
    assert node.spec.unschedulable
    assert node.status.images[0].names == ("nginx:1",)
    assert node.status.images[0].size_bytes == 100
    assert node.status.declared_features == ("X",)
    assert node.status.conditions[0].status == "False"


@pytest.mark.parametrize(
    ("text", "taint"),
    [
        ("a=b:NoSchedule", Taint(key="a", value="b", effect="NoSchedule")),
        ("a:NoExecute", Taint(key="a", effect="NoExecute")),
        ("x/y=:PreferNoSchedule", Taint(key="x/y", effect="PreferNoSchedule")),
    ],
)
def test_taints_are_written_as_for_kubectl(text: str, taint: Taint) -> None:
    assert parse_taint(text) == taint
    assert parse_taint(taint) is taint


@pytest.mark.parametrize("text", ["", "a", "a=b", "a:Never", "=b:NoSchedule"])
def test_texts_that_are_not_taints_are_errors(text: str) -> None:
    with pytest.raises(ValueError, match="expected a taint"):
        parse_taint(text)


@pytest.mark.parametrize(
    ("text", "toleration"),
    [
        (
            "a=b:NoSchedule",
            Toleration(key="a", operator="Equal", value="b", effect="NoSchedule"),
        ),
        ("a=b", Toleration(key="a", operator="Equal", value="b")),
        (
            "a:NoExecute",
            Toleration(key="a", operator="Exists", effect="NoExecute"),
        ),
        ("a", Toleration(key="a", operator="Exists")),
        (":NoExecute", Toleration(operator="Exists", effect="NoExecute")),
        ("*", Toleration(operator="Exists")),
    ],
)
def test_tolerations_are_written_like_taints(text: str, toleration: Toleration) -> None:
    assert parse_toleration(text) == toleration
    assert parse_toleration(toleration) is toleration


@pytest.mark.parametrize("text", ["", "a:Never", "=b", "a:"])
def test_texts_that_are_not_tolerations_are_errors(text: str) -> None:
    with pytest.raises(ValueError, match="expected a toleration"):
        parse_toleration(text)


@pytest.mark.parametrize(
    ("text", "ip", "port", "protocol"),
    [
        (8080, "", 8080, "TCP"),
        ("8080/UDP", "", 8080, "UDP"),
        ("10.0.0.1:80", "10.0.0.1", 80, "TCP"),
        ("::1:80/SCTP", "::1", 80, "SCTP"),
    ],
)
def test_host_ports_can_have_address_and_protocol(
    text: int | str, ip: str, port: int, protocol: str
) -> None:
    parsed = parse_host_port(text)
    assert (parsed.host_ip, parsed.host_port, parsed.protocol) == (ip, port, protocol)
    assert parse_host_port(parsed) is parsed
    assert isinstance(parsed, ContainerPort)


def test_texts_that_are_not_host_ports_are_errors() -> None:
    with pytest.raises(ValueError, match="expected a host port"):
        parse_host_port("http")


def test_small_objects_are_made_in_one_call() -> None:
    assert make_namespace(name="a", labels={"b": "c"}).labels == {
        "kubernetes.io/metadata.name": "a",
        "b": "c",
    }
    assert make_service(selector={"a": "b"}).spec.selector == {"a": "b"}
    budget = make_pod_disruption_budget(selector={"a": "b"}, disruptions_allowed=1)
    assert budget.status.disruptions_allowed == 1
    assert make_priority_class(value=5).value == 5
    assert make_replica_set(selector=LabelSelector()).spec.selector == LabelSelector()


def test_claim_and_volume_can_be_bound_to_each_other() -> None:
    claim = make_persistent_volume_claim(name="c", volume="v")
    volume = make_persistent_volume(name="v", claim=claim, node_labels={"zone": "a"})
    assert claim.spec.volume_name == "v"
    assert claim.status.phase == "Bound"
    assert volume.spec.claim_ref == ObjectReference(
        api_version="v1",
        kind="PersistentVolumeClaim",
        namespace="default",
        name="c",
        uid=claim.uid,
    )
    assert volume.status.phase == "Bound"
    assert volume.spec.node_affinity is not None


def test_claim_and_volume_are_free_by_default() -> None:
    assert make_persistent_volume_claim().status.phase == "Pending"
    assert make_persistent_volume().status.phase == "Available"
    assert make_persistent_volume().spec.node_affinity is None


def test_storage_class_waits_for_the_first_consumer() -> None:
    assert make_storage_class().volume_binding_mode == "WaitForFirstConsumer"


def test_csi_node_limits_its_volumes() -> None:
    drivers = make_csi_node(limits={"a": 5, "b": None}).spec.drivers
    assert drivers[0].allocatable is not None
    assert drivers[0].allocatable.count == 5
    assert drivers[1].allocatable is not None
    assert drivers[1].allocatable.count is None
