"""The wire form of API objects: what is read, written and rejected."""

import json

import msgspec
import pytest

from quaymaster import ApiObject, Node, Pod
from quaymaster.errors import ObjectError, Problem
from quaymaster.objects import (
    CSINode,
    Deployment,
    LabelSelector,
    ObjectMeta,
    PersistentVolume,
    PersistentVolumeClaim,
    PodDisruptionBudget,
    PodSpec,
    Quantity,
    Service,
    decode,
    encode,
    from_wire,
    to_wire,
)
from tests.kit.trees import Tree, as_json, pod_tree, read_pod


def test_node_name_of_a_pod_is_read_from_its_spec_and_written_there() -> None:
    pod = read_pod(pod_tree(nodeName="n1"))
    assert pod.node_name == "n1"
    tree = to_wire(pod)
    assert tree["spec"]["nodeName"] == "n1"
    assert "nodeName" not in tree


def test_pod_without_a_node_is_written_without_node_name() -> None:
    assert "nodeName" not in to_wire(read_pod(pod_tree()))["spec"]


def test_written_object_has_its_api_version_and_kind() -> None:
    tree = to_wire(Node(metadata=ObjectMeta(name="n1")))
    assert tree == {"apiVersion": "v1", "kind": "Node", "metadata": {"name": "n1"}}


def test_names_with_acronyms_are_those_of_kubernetes() -> None:
    volume = from_wire(
        {
            "spec": {
                "awsElasticBlockStore": {"volumeID": "vol-1"},
                "gcePersistentDisk": {"pdName": "disk"},
                "azureDisk": {"diskURI": "uri"},
            }
        },
        PersistentVolume,
    )
    assert volume.spec.aws_elastic_block_store is not None
    assert volume.spec.aws_elastic_block_store.volume_id == "vol-1"
    assert volume.spec.gce_persistent_disk is not None
    assert volume.spec.gce_persistent_disk.pd_name == "disk"
    assert volume.spec.azure_disk is not None
    assert volume.spec.azure_disk.disk_uri == "uri"
    node = from_wire({"spec": {"drivers": [{"name": "d", "nodeID": "i-1"}]}}, CSINode)
    assert node.spec.drivers[0].node_id == "i-1"
    service = from_wire({"spec": {"clusterIP": "None"}}, Service)
    assert service.spec.cluster_ip == "None"
    pod = read_pod(pod_tree(containers=[{"ports": [{"hostPort": 1, "hostIP": "::1"}]}]))
    assert pod.spec.containers[0].ports[0].host_ip == "::1"


def test_unknown_fields_are_ignored() -> None:
    tree = pod_tree(dnsPolicy="ClusterFirst", securityContext={"runAsUser": 1})
    assert read_pod(tree) == read_pod(pod_tree())


def test_amounts_are_quantities_from_texts_and_numbers() -> None:
    resources = {"requests": {"cpu": 2, "memory": "1Gi", "example.com/x": 0.5}}
    pod = read_pod(pod_tree(containers=[{"name": "main", "resources": resources}]))
    assert pod.spec.containers[0].resources.requests == {
        "cpu": Quantity(2),
        "memory": Quantity("1Gi"),
        "example.com/x": Quantity("500m"),
    }


def test_number_or_text_is_kept_as_it_came() -> None:
    tree = {"spec": {"minAvailable": 2, "maxUnavailable": "30%"}}
    budget = from_wire(tree, PodDisruptionBudget)
    assert (budget.spec.min_available, budget.spec.max_unavailable) == (2, "30%")


def test_empty_selector_is_not_the_same_as_none() -> None:
    given_selector = from_wire({"spec": {"selector": {}}}, PodDisruptionBudget)
    assert given_selector.spec.selector == LabelSelector()
    assert from_wire(to_wire(given_selector), PodDisruptionBudget) == given_selector
    assert from_wire({"spec": {}}, PodDisruptionBudget).spec.selector is None


def test_empty_storage_class_name_is_not_the_same_as_none() -> None:
    claim = from_wire({"spec": {"storageClassName": ""}}, PersistentVolumeClaim)
    assert claim.spec.storage_class_name == ""
    assert from_wire(to_wire(claim), PersistentVolumeClaim) == claim


def test_null_fields_are_the_same_as_nothing() -> None:
    tree = pod_tree(
        tolerations=None,
        containers=[{"name": "main", "resources": {"limits": None}, "ports": None}],
    )
    tree["metadata"].update(creationTimestamp=None, labels=None, ownerReferences=None)
    tree["status"] = None
    assert read_pod(tree) == read_pod(pod_tree())


@pytest.mark.parametrize(
    ("tree", "kind", "expected"),
    [
        pytest.param(
            {"metadata": {"labels": {"role": None, "a": "b"}}},
            Node,
            {"metadata": {"labels": {"role": "", "a": "b"}}},
            id="a label",
        ),
        pytest.param(
            {"metadata": {"annotations": {"a": None}}},
            Node,
            {"metadata": {"annotations": {"a": ""}}},
            id="an annotation",
        ),
        pytest.param(
            {"spec": {"nodeSelector": {"disk": None}}},
            Pod,
            {"spec": {"nodeSelector": {"disk": ""}}},
            id="a node selector",
        ),
        pytest.param(
            {"status": {"capacity": {"cpu": None}}},
            Node,
            {"status": {"capacity": {"cpu": "0"}}},
            id="an amount",
        ),
        pytest.param(
            {"spec": {"selector": {"matchLabels": {"a": None}}}},
            PodDisruptionBudget,
            {"spec": {"selector": {"matchLabels": {"a": ""}}}},
            id="a label selector",
        ),
        pytest.param(
            {"spec": {"overhead": {"cpu": None}}},
            Pod,
            {"spec": {"overhead": {"cpu": "0"}}},
            id="an amount in a pod",
        ),
        pytest.param(
            {"spec": {"containers": [None, {"name": "a"}]}},
            Pod,
            {"spec": {"containers": [{}, {"name": "a"}]}},
            id="a container",
        ),
        pytest.param(
            {"metadata": {"finalizers": [None]}},
            Node,
            {"metadata": {"finalizers": [""]}},
            id="a text in a list",
        ),
    ],
)
@pytest.mark.parametrize("way", ["parsed", "JSON"])
def test_null_among_items_is_the_empty_value(
    tree: Tree, kind: type[ApiObject], expected: Tree, way: str
) -> None:
    obj = from_wire(tree, kind) if way == "parsed" else decode(as_json(tree), kind)
    assert obj == from_wire(expected, kind)
    wire = json.loads(encode(obj))
    assert {key: wire[key] for key in expected} == expected


@pytest.mark.parametrize("count", [2**31, -(2**31) - 1, 10**30])
def test_count_beyond_32_bits_cannot_be_read(count: int) -> None:
    tree = {"spec": {"replicas": count}}
    message = "spec.replicas: expected an integer from -2147483648 to 2147483647, got"
    with pytest.raises(ObjectError, match=message):
        from_wire(tree, Deployment)
    with pytest.raises(ObjectError, match=message):
        decode(as_json(tree), Deployment)


def test_null_spec_is_an_empty_one() -> None:
    assert read_pod({"metadata": {"name": "a"}, "spec": None}).spec == PodSpec()


def test_all_problems_of_an_object_are_reported_at_once() -> None:
    tree = pod_tree(
        nodeName=5,
        priority="high",
        hostNetwork="yes",
        nodeSelector={"disk": 1},
        tolerations={"key": "a"},
        overhead={"cpu": "12xyz"},
        containers=[{"name": True}, [], {"resources": {"requests": {"cpu": {}}}}],
    )
    tree["metadata"]["creationTimestamp"] = "yesterday"
    tree["metadata"]["deletionTimestamp"] = 5
    with pytest.raises(ObjectError) as caught:
        from_wire(tree, Pod)
    time = "expected a time such as 2026-01-31T12:00:00Z (RFC 3339)"
    amount = (
        "expected a quantity (a number with an optional suffix, such as 500m, 2, 1.5Gi "
        "or 1e3)"
    )
    assert sorted(map(str, caught.value.problems)) == [
        f"metadata.creationTimestamp: {time}, got 'yesterday'",
        f"metadata.deletionTimestamp: {time}, got 5",
        "spec.containers[0].name: expected a string, got true: put it in quotes",
        "spec.containers[1]: expected an object, got a list",
        f"spec.containers[2].resources.requests.cpu: {amount}, got {{}}",
        "spec.hostNetwork: expected true or false, got 'yes'",
        "spec.nodeName: expected a string, got 5: put it in quotes",
        "spec.nodeSelector.disk: expected a string, got 1: put it in quotes",
        f"spec.overhead.cpu: {amount}, got '12xyz'",
        "spec.priority: expected an integer, got 'high'",
        "spec.tolerations: expected a list, got an object",
    ]
    with pytest.raises(ObjectError) as again:
        decode(as_json(tree), Pod)
    assert again.value.problems == caught.value.problems


def test_a_tree_that_is_not_an_object_is_a_problem_without_a_path() -> None:
    with pytest.raises(
        ObjectError, match=r"^expected an object, got a list$"
    ) as caught:
        from_wire([], Node)
    assert caught.value.problems == (Problem(message="expected an object, got a list"),)


def test_maps_must_be_maps_with_strings_as_keys() -> None:
    with pytest.raises(ObjectError, match=r"metadata\.labels: expected an object"):
        from_wire({"metadata": {"labels": []}}, Node)
    with pytest.raises(
        ObjectError, match=r"metadata\.labels: expected a string as key"
    ):
        from_wire({"metadata": {"labels": {1: "a"}}}, Node)


def test_number_or_text_can_be_nothing_else() -> None:
    with pytest.raises(ObjectError, match=r"expected an integer or a string, got 1\.5"):
        from_wire({"spec": {"minAvailable": 1.5}}, PodDisruptionBudget)


def test_whole_floats_from_yaml_are_integers() -> None:
    assert from_wire(pod_tree(priority=8.0), Pod).spec.priority == 8


def test_malformed_json_is_an_error() -> None:
    with pytest.raises(msgspec.DecodeError, match="malformed"):
        decode(b"{]", Pod)
