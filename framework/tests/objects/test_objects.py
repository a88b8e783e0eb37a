"""API objects: their form, their wire form, and what pods share."""

import gc
import json
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from quaymaster import ApiObject, Node, Pod
from quaymaster.errors import ObjectError, Problem, TimeError
from quaymaster.objects import (
    KINDS,
    CSINode,
    Deployment,
    Event,
    LabelSelector,
    MicroTime,
    ObjectMeta,
    OwnerReference,
    PersistentVolume,
    PersistentVolumeClaim,
    PodDisruptionBudget,
    PodSpec,
    PodStatus,
    Quantity,
    Service,
    SpecPool,
    Time,
    Toleration,
    decode,
    encode,
    from_wire,
    to_wire,
)

Tree = dict[str, Any]


def pod_tree(**spec: object) -> Tree:
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "web", "namespace": "shop"},
        "spec": {"containers": [{"name": "main"}], **spec},
    }


def as_json(tree: object) -> bytes:
    return json.dumps(tree).encode()


def read(tree: Tree, kind: type[Pod] = Pod) -> Pod:
    """Read a pod both ways, and insist that they agree."""
    parsed = from_wire(tree, kind)
    assert decode(as_json(tree), kind) == parsed
    return parsed


# Form


@pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS)
def test_every_kind_says_what_it_is(kind: type[ApiObject]) -> None:
    assert KINDS[kind.kind] is kind
    assert kind.kind == kind.__name__
    assert kind.api_version.rpartition("/")[2] == "v1"


@pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS)
def test_every_kind_survives_its_wire_form(kind: type[ApiObject]) -> None:
    obj = kind(metadata=ObjectMeta(name="a", namespace="b", labels={"c": "d"}))
    assert from_wire(to_wire(obj), kind) == obj
    assert decode(encode(obj), kind) == obj


def test_namespaced_object_has_namespace_and_name_as_key() -> None:
    pod = Pod(metadata=ObjectMeta(name="web", namespace="shop", uid="1"))
    assert pod.key == "shop/web"
    assert (pod.name, pod.namespace, pod.uid) == ("web", "shop", "1")


def test_cluster_wide_object_has_its_name_as_key() -> None:
    assert Node(metadata=ObjectMeta(name="n1")).key == "n1"


def test_labels_and_annotations_are_those_of_the_metadata() -> None:
    node = Node(metadata=ObjectMeta(labels={"a": "1"}, annotations={"b": "2"}))
    assert node.labels == {"a": "1"}
    assert node.annotations == {"b": "2"}


def test_objects_are_immutable() -> None:
    pod = Pod()
    with pytest.raises(AttributeError):
        pod.node_name = "n1"  # type: ignore[misc]  # what is tested


def test_an_update_makes_a_new_object_without_the_facts_of_the_old() -> None:
    spec = PodSpec(priority=1)
    spec.__dict__["quaymaster.test"] = "a fact"
    assert msgspec.structs.replace(spec, priority=2).__dict__ == {}


def test_objects_are_left_alone_by_the_garbage_collector() -> None:
    assert not gc.is_tracked(Pod())
    assert not gc.is_tracked(Node())


def test_pod_without_priority_has_priority_0() -> None:
    assert Pod().priority == 0
    assert Pod(spec=PodSpec(priority=7)).priority == 7


def test_pod_with_deletion_timestamp_is_terminating() -> None:
    assert Pod(metadata=ObjectMeta(deletion_timestamp=Time(0))).is_terminating
    assert not Pod().is_terminating


@pytest.mark.parametrize(
    ("phase", "finished"), [("Succeeded", True), ("Failed", True), ("Running", False)]
)
def test_pod_is_finished_when_it_ended(phase: str, finished: bool) -> None:
    assert Pod(status=PodStatus(phase=phase)).is_finished is finished


def test_controller_is_the_owner_that_says_so() -> None:
    other, controller = (
        OwnerReference(name="a"),
        OwnerReference(name="b", controller=True),
    )
    assert ObjectMeta(owner_references=(other, controller)).controller is controller
    assert ObjectMeta(owner_references=(other,)).controller is None


# Times


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("1970-01-01T00:00:00Z", 0),
        ("2030-01-01T00:00:01Z", 1893456001),
        ("2030-01-01t01:00:01+01:00", 1893456001),
        ("2030-01-01T00:00:01.250000Z", 1893456001.25),
        ("2030-01-01T00:00:01.250000999Z", 1893456001.25),
    ],
)
def test_times_are_seconds_since_the_epoch(text: str, seconds: float) -> None:
    assert Time.parse(text) == seconds


@given(st.integers(0, 4_000_000_000_000_000))
def test_times_are_exact_to_the_microsecond(micros: int) -> None:
    moment = Time(micros / 1_000_000)
    assert Time.parse(str(moment)) == moment
    assert MicroTime.parse(str(MicroTime(moment))) == moment


@pytest.mark.parametrize(
    "text",
    [
        "",
        "now",
        "2030-01-01",
        "2030-01-01T00:00:00",
        "2030-13-01T00:00:00Z",
        "20300101T000000Z",
    ],
)
def test_texts_that_are_no_rfc_3339_times_are_errors(text: str) -> None:
    with pytest.raises(TimeError, match="RFC 3339") as caught:
        Time.parse(text)
    assert caught.value.text == text


def test_micro_times_always_have_six_digits() -> None:
    assert str(Time(1.0)) == "1970-01-01T00:00:01Z"
    assert str(MicroTime(1.0)) == "1970-01-01T00:00:01.000000Z"
    assert repr(Time(1.0)) == "Time.parse('1970-01-01T00:00:01Z')"


def test_times_are_written_as_texts() -> None:
    event = Event(event_time=MicroTime(1.5))
    assert to_wire(event)["eventTime"] == "1970-01-01T00:00:01.500000Z"


# Wire form


def test_node_name_of_a_pod_is_read_from_its_spec_and_written_there() -> None:
    pod = read(pod_tree(nodeName="n1"))
    assert pod.node_name == "n1"
    tree = to_wire(pod)
    assert tree["spec"]["nodeName"] == "n1"
    assert "nodeName" not in tree


def test_pod_of_no_node_is_written_without_node_name() -> None:
    assert "nodeName" not in to_wire(read(pod_tree()))["spec"]


def test_written_object_says_what_it_is() -> None:
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
    pod = read(pod_tree(containers=[{"ports": [{"hostPort": 1, "hostIP": "::1"}]}]))
    assert pod.spec.containers[0].ports[0].host_ip == "::1"


def test_unknown_fields_are_ignored() -> None:
    tree = pod_tree(dnsPolicy="ClusterFirst", securityContext={"runAsUser": 1})
    assert read(tree) == read(pod_tree())


def test_amounts_are_quantities_from_texts_and_numbers() -> None:
    resources = {"requests": {"cpu": 2, "memory": "1Gi", "example.com/x": 0.5}}
    pod = read(pod_tree(containers=[{"name": "main", "resources": resources}]))
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
    assert read(tree) == read(pod_tree())


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
    assert read({"metadata": {"name": "a"}, "spec": None}).spec == PodSpec()


def test_all_problems_of_an_object_are_told_at_once() -> None:
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


def test_a_tree_that_is_no_object_is_a_problem_without_a_path() -> None:
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


# Sharing


def decode_all(trees: list[Tree], pool: SpecPool) -> list[Pod]:
    return [decode(as_json(tree), Pod, pool=pool) for tree in trees]


def realistic_tree(token: str, node: str) -> Tree:
    mount = {"mountPath": "/var/run", "name": f"kube-api-access-{token}"}
    return pod_tree(
        nodeName=node,
        containers=[{"name": "main", "env": [{"name": "A"}], "volumeMounts": [mount]}],
        volumes=[
            {"name": "config", "configMap": {"name": "config"}},
            {"name": f"kube-api-access-{token}", "projected": {"sources": []}},
        ],
    )


def test_pods_of_one_template_share_one_spec() -> None:
    pool = SpecPool()
    pods = decode_all(
        [realistic_tree("abcde", "n1"), realistic_tree("fgh24", "n2")], pool
    )
    assert pods[0].spec is pods[1].spec
    assert [pod.node_name for pod in pods] == ["n1", "n2"]
    assert len(pool) == 1


def test_pods_share_a_spec_however_they_came() -> None:
    pool = SpecPool()
    tree = realistic_tree("abcde", "n1")
    parsed = from_wire(tree, Pod, pool=pool)
    assert decode(as_json(tree), Pod, pool=pool).spec is parsed.spec


def test_order_of_keys_does_not_matter_for_sharing() -> None:
    pool = SpecPool()
    one, other = decode_all(
        [
            pod_tree(nodeSelector={"a": "1", "b": "2"}),
            pod_tree(nodeSelector={"b": "2", "a": "1"}),
        ],
        pool,
    )
    assert one.spec is other.spec


def test_volumes_are_kept_but_for_the_one_with_the_token() -> None:
    volumes = [
        {"name": "data", "persistentVolumeClaim": {"claimName": "data"}},
        {"name": "scratch", "ephemeral": {}},
        {"name": "model", "image": {"reference": "models/llama:3"}},
        {"name": "driver", "csi": {"driver": "csi.example.com"}},
        {"name": "disk", "gcePersistentDisk": {"pdName": "disk"}},
        {"name": "tmp", "emptyDir": {}},
        {"name": "path", "hostPath": {"path": "/tmp"}},
        {"name": "all", "projected": {"sources": [{"secret": {"name": "a"}}]}},
        {"name": "none"},
    ]
    token = {"name": "kube-api-access-abcde", "projected": {"sources": []}}
    pod = read(pod_tree(volumes=[*volumes, token]))
    assert json.loads(encode(pod))["spec"]["volumes"] == volumes


def test_pods_of_one_template_share_labels_owners_and_namespace() -> None:
    tree = pod_tree()
    tree["metadata"]["labels"] = {"app": "web"}
    tree["metadata"]["ownerReferences"] = [{"kind": "ReplicaSet", "name": "web"}]
    one, other = decode_all([tree, tree], SpecPool())
    assert one.metadata.labels is other.metadata.labels
    assert one.metadata.annotations is other.metadata.annotations
    assert one.metadata.owner_references is other.metadata.owner_references
    assert one.metadata.namespace is other.metadata.namespace


def test_pods_that_say_no_more_than_their_phase_share_their_status() -> None:
    tree = pod_tree()
    tree["status"] = {"phase": "Pending"}
    one, other = decode_all([tree, tree], SpecPool())
    assert one.status is other.status
    assert one.status.phase == "Pending"


def test_pods_share_the_resources_that_their_nodes_report() -> None:
    tree = pod_tree()
    report = {"name": "main", "resources": {"requests": {"cpu": "1"}}}
    tree["status"] = {
        "phase": "Running",
        "conditions": [{"type": "Ready", "status": "True"}],
        "containerStatuses": [report],
    }
    one, other = decode_all([tree, tree], SpecPool())
    assert one.status.container_statuses is other.status.container_statuses
    assert one.status.conditions[0].type is other.status.conditions[0].type


def test_nodes_share_their_images() -> None:
    pool = SpecPool()
    tree = {"status": {"images": [{"names": ["nginx:1"], "sizeBytes": 5}]}}
    one, other = (decode(as_json(tree), Node, pool=pool) for _ in range(2))
    assert one.status.images[0] is other.status.images[0]


def test_specs_that_differ_share_what_they_have_in_common() -> None:
    pool = SpecPool()
    one, other = (
        decode(as_json(pod_tree(priority=number)), Pod, pool=pool) for number in (1, 2)
    )
    assert one.spec is not other.spec
    assert one.spec.containers is other.spec.containers


def test_spec_that_no_pod_uses_is_forgotten() -> None:
    pool = SpecPool()
    spec = pool.share_spec(PodSpec(priority=1))
    assert len(pool) == 1
    del spec
    gc.collect()
    assert len(pool) == 0


def test_two_pools_share_nothing() -> None:
    tree = as_json(pod_tree())
    one = decode(tree, Pod, pool=SpecPool())
    other = decode(tree, Pod, pool=SpecPool())
    assert one.spec is not other.spec
    assert one.spec == other.spec


def test_label_called_node_name_is_not_taken_for_the_node() -> None:
    pool = SpecPool()
    trees = [
        pod_tree(nodeSelector={"nodeName": "a"}),
        pod_tree(nodeSelector={"nodeName": "b"}),
        pod_tree(nodeSelector={"nodeName": "a"}, nodeName="a"),
        pod_tree(nodeSelector={"nodeName": "b"}, nodeName="a"),
        pod_tree(nodeSelector={"nodeName": ""}, nodeName="a"),
        pod_tree(nodeSelector={"nodeName": "a"}, nodeName=""),
        {**pod_tree(), "spec": {"nodeName": "a", "nodeSelector": {"nodeName": "a"}}},
        {**pod_tree(), "spec": {"nodeName": "b", "nodeSelector": {"nodeName": "a"}}},
    ]
    for tree, pod in zip(trees, decode_all(trees, pool), strict=True):
        assert pod == from_wire(tree, Pod)


def test_claim_with_the_name_of_a_token_volume_stays_what_it_is() -> None:
    pool = SpecPool()
    trees = [
        pod_tree(volumes=[{"name": "a", "persistentVolumeClaim": {"claimName": claim}}])
        for claim in ("kube-api-access-abcde", "kube-api-access-fghij")
    ]
    for tree, pod in zip(trees, decode_all(trees, pool), strict=True):
        assert pod == from_wire(tree, Pod)


names = st.sampled_from(["", "a", "b", "kube-api-access-", "kube-api-access-abcde"])
specs = st.fixed_dictionaries(
    {},
    optional={
        "nodeName": names,
        "schedulerName": names,
        "nodeSelector": st.dictionaries(st.sampled_from(["nodeName", "x"]), names),
        "volumes": st.lists(
            st.one_of(
                st.builds(lambda name: {"name": name, "emptyDir": {}}, names),
                st.builds(
                    lambda name: {"name": name, "persistentVolumeClaim": {}}, names
                ),
            ),
            max_size=2,
        ),
        "hostUsers": st.none() | st.booleans(),
    },
)


@given(st.lists(specs, min_size=2, max_size=8))
def test_sharing_never_changes_a_pod(trees: list[Tree]) -> None:
    pool = SpecPool()
    for spec in trees:
        tree = {"metadata": {"name": "a"}, "spec": spec}
        assert decode(as_json(tree), Pod, pool=pool) == from_wire(tree, Pod)


def test_pool_keeps_working_when_it_has_seen_too_much() -> None:
    pool = SpecPool()
    for number in range(20_000):
        pool.share_metadata(ObjectMeta(namespace=str(number)))
    metadata = pool.share_metadata(ObjectMeta(namespace="a"))
    assert metadata.namespace == "a"


def test_many_different_specs_are_read_right() -> None:
    pool = SpecPool()
    for number in range(3_000):
        tree = pod_tree(priority=number)
        assert decode(as_json(tree), Pod, pool=pool).spec.priority == number


def test_tolerations_and_taints_can_be_keys_of_dicts() -> None:
    assert len({Toleration(key="a"), Toleration(key="a"), Toleration(key="b")}) == 2
