"""What pods and nodes of one template share in memory."""

import gc
import json

from hypothesis import given
from hypothesis import strategies as st

from quaymaster import Node, Pod
from quaymaster.objects import (
    ObjectMeta,
    PodSpec,
    SpecPool,
    Toleration,
    decode,
    encode,
    from_wire,
)
from tests.kit.trees import Tree, as_json, pod_tree, read_pod


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


def test_pods_share_a_spec_whether_from_json_or_yaml() -> None:
    pool = SpecPool()
    tree = realistic_tree("abcde", "n1")
    parsed = from_wire(tree, Pod, pool=pool)
    assert decode(as_json(tree), Pod, pool=pool).spec is parsed.spec


def test_order_of_keys_does_not_matter_for_sharing() -> None:
    pool = SpecPool()
    first, other = decode_all(
        [
            pod_tree(nodeSelector={"a": "1", "b": "2"}),
            pod_tree(nodeSelector={"b": "2", "a": "1"}),
        ],
        pool,
    )
    assert first.spec is other.spec


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
    pod = read_pod(pod_tree(volumes=[*volumes, token]))
    assert json.loads(encode(pod))["spec"]["volumes"] == volumes


def test_pods_of_one_template_share_labels_owners_and_namespace() -> None:
    tree = pod_tree()
    tree["metadata"]["labels"] = {"app": "web"}
    tree["metadata"]["ownerReferences"] = [{"kind": "ReplicaSet", "name": "web"}]
    first, other = decode_all([tree, tree], SpecPool())
    assert first.metadata.labels is other.metadata.labels
    assert first.metadata.annotations is other.metadata.annotations
    assert first.metadata.owner_references is other.metadata.owner_references
    assert first.metadata.namespace is other.metadata.namespace


def test_statuses_with_only_a_phase_are_shared() -> None:
    tree = pod_tree()
    tree["status"] = {"phase": "Pending"}
    first, other = decode_all([tree, tree], SpecPool())
    assert first.status is other.status
    assert first.status.phase == "Pending"


def test_pods_share_the_resources_that_their_nodes_report() -> None:
    tree = pod_tree()
    report = {"name": "main", "resources": {"requests": {"cpu": "1"}}}
    tree["status"] = {
        "phase": "Running",
        "conditions": [{"type": "Ready", "status": "True"}],
        "containerStatuses": [report],
    }
    first, other = decode_all([tree, tree], SpecPool())
    assert first.status.container_statuses is other.status.container_statuses
    assert first.status.conditions[0].type is other.status.conditions[0].type


def test_nodes_share_their_images() -> None:
    pool = SpecPool()
    tree = {"status": {"images": [{"names": ["nginx:1"], "sizeBytes": 5}]}}
    first, other = (decode(as_json(tree), Node, pool=pool) for _ in range(2))
    assert first.status.images[0] is other.status.images[0]


def test_specs_that_differ_share_what_they_have_in_common() -> None:
    pool = SpecPool()
    first, other = (
        decode(as_json(pod_tree(priority=number)), Pod, pool=pool) for number in (1, 2)
    )
    assert first.spec is not other.spec
    assert first.spec.containers is other.spec.containers


def test_spec_that_no_pod_uses_is_forgotten() -> None:
    pool = SpecPool()
    spec = pool.share_spec(PodSpec(priority=1))
    assert len(pool) == 1
    del spec
    gc.collect()
    assert len(pool) == 0


def test_two_pools_share_nothing() -> None:
    tree = as_json(pod_tree())
    first = decode(tree, Pod, pool=SpecPool())
    other = decode(tree, Pod, pool=SpecPool())
    assert first.spec is not other.spec
    assert first.spec == other.spec


def test_label_named_node_name_is_not_mistaken_for_the_node() -> None:
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


def test_pool_keeps_working_when_it_is_full() -> None:
    pool = SpecPool()
    for number in range(20_000):
        pool.share_metadata(ObjectMeta(namespace=str(number)))
    metadata = pool.share_metadata(ObjectMeta(namespace="a"))
    assert metadata.namespace == "a"


def test_many_different_specs_are_read_correctly() -> None:
    pool = SpecPool()
    for number in range(3_000):
        tree = pod_tree(priority=number)
        assert decode(as_json(tree), Pod, pool=pool).spec.priority == number


def test_tolerations_and_taints_can_be_keys_of_dicts() -> None:
    assert len({Toleration(key="a"), Toleration(key="a"), Toleration(key="b")}) == 2
