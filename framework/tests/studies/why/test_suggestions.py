"""Each suggested change places the pod when it is made by hand."""

import json
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quaymaster import ApiObject
from quaymaster.config import default_config
from quaymaster.manifests import load
from quaymaster.scheduler import PluginRegistry
from quaymaster.simulation import (
    ChangeKind,
    PodNotFoundError,
    SuggestedChange,
    Suggestions,
    simulate,
    suggest_changes,
)
from tests.kit.hand_edits import edited_by_hand
from tests.kit.profiles import fewer

REGISTRY = PluginRegistry.discover()
CONFIG = default_config(REGISTRY)
Document = dict[str, Any]


def node(name: str, cpu: str = "4", **spec: Any) -> Document:
    labels = {"kubernetes.io/hostname": name, **spec.pop("labels", {})}
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": name, "labels": labels},
        "spec": spec,
        "status": {"allocatable": {"cpu": cpu, "memory": "8Gi", "pods": "9"}},
    }


def spec_of(cpu: str = "1", memory: str = "1Gi", **spec: Any) -> Document:
    ports = spec.pop("ports", [])
    requests = {"cpu": cpu, "memory": memory}
    container = {"name": "c", "image": "x", "resources": {"requests": requests}}
    return {"containers": [{**container, "ports": ports}], **spec}


def pod(name: str = "p", **spec: Any) -> Document:
    labels = {"app": name}
    metadata = {"name": name, "labels": labels}
    whole = spec_of(**spec)
    return {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": whole}


def workload(kind: str, name: str, replicas: int, **spec: Any) -> Document:
    labels = {"app": name}
    template = {"metadata": {"labels": labels}, "spec": spec_of(**spec)}
    whole = {
        "replicas": replicas,
        "selector": {"matchLabels": labels},
        "template": template,
    }
    metadata = {"name": name}
    return {"apiVersion": "apps/v1", "kind": kind, "metadata": metadata, "spec": whole}


def read(documents: Sequence[Document]) -> Sequence[ApiObject]:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "all.json"
        listed = {"apiVersion": "v1", "kind": "List", "items": list(documents)}
        path.write_text(json.dumps(listed))
        return load([str(path)]).objects


def suggested(name: str, *documents: Document, trials: int = 200) -> Suggestions:
    return suggest_changes(
        name, read(documents), config=CONFIG, registry=REGISTRY, max_trials=trials
    )


def placed_by_hand(documents: Sequence[Document], change: SuggestedChange) -> set[str]:
    """Make a change in the documents and return the pods that are still pending."""
    changed = edited_by_hand(documents, change)
    result = simulate(read(changed), config=CONFIG, registry=REGISTRY)
    return {left.pod for left in result.unscheduled}


def kinds(found: Suggestions) -> list[str]:
    return ["+".join(change.kinds) for change in found.changes]


def test_a_request_is_lowered_to_the_largest_round_amount_that_fits() -> None:
    found = suggested("p", node("a"), pod("x", nodeName="a"), pod(cpu="3500m"))
    assert kinds(found) == ["lower-request", "add-node"]
    [field] = found.changes[0].fields
    assert (field.object, field.namespace) == ("pod/p", "default")
    assert field.path == "spec.containers[0].resources.requests.cpu"
    assert (field.old, field.new) == ("3500m", "3")


@pytest.mark.long
def test_a_workload_is_lowered_until_all_its_pods_fit() -> None:
    documents = node("a"), workload("Deployment", "web", 3, cpu="1500m")
    found = suggested("deploy/web", *documents)
    assert found.changes[0].fields[0].new == "1300m"
    assert placed_by_hand(documents, found.changes[0]) == set()


@pytest.mark.parametrize(
    ("documents", "expected"),
    [
        pytest.param(
            [node("a", taints=[{"key": "k", "value": "v", "effect": "NoSchedule"}])],
            "toleration",
            id="taint",
        ),
        pytest.param([node("a", unschedulable=True)], "uncordon", id="cordon"),
    ],
)
def test_a_closed_node_is_opened(documents: list[Document], expected: str) -> None:
    assert expected in kinds(suggested("p", *documents, pod()))


def test_a_label_is_added_to_a_node_or_the_requirement_removed() -> None:
    found = suggested("p", node("a"), pod(nodeSelector={"disk": "ssd"}))
    assert kinds(found) == ["selector", "add-node", "label-node"]
    assert found.changes[2].command == "kubectl label node a disk=ssd"


def test_a_host_port_is_removed() -> None:
    ports = [{"containerPort": 80, "hostPort": 80}]
    found = suggested(
        "p", node("a"), pod("x", nodeName="a", ports=ports), pod(ports=ports)
    )
    assert kinds(found) == ["host-port", "add-node"]


def test_gates_are_opened_and_nothing_else_is_tried() -> None:
    found = suggested("p", node("a"), pod(schedulingGates=[{"name": "x.io/y"}]))
    assert kinds(found) == ["gates"]
    assert found.trials == 1


def test_a_scheduler_that_is_there_is_named() -> None:
    found = suggested("p", node("a"), pod(schedulerName="other"))
    assert kinds(found) == ["scheduler"]
    assert found.changes[0].fields[0].new == "default-scheduler"


@pytest.mark.long
def test_spreading_is_relaxed_no_more_than_needed() -> None:
    constraint = {
        "maxSkew": 1,
        "topologyKey": "zone",
        "whenUnsatisfiable": "DoNotSchedule",
        "labelSelector": {"matchLabels": {"app": "web"}},
    }
    found = suggested(
        "deploy/web",
        node("a", labels={"zone": "a"}),
        node("b", "1", labels={"zone": "b"}),
        pod("x", nodeName="b"),
        workload("Deployment", "web", 3, topologySpreadConstraints=[constraint]),
    )
    spread = found.changes[kinds(found).index("spreading")]
    assert (spread.fields[0].old, spread.fields[0].new) == ("1", "3")


def test_anti_affinity_is_removed() -> None:
    term = {
        "topologyKey": "kubernetes.io/hostname",
        "labelSelector": {"matchLabels": {"app": "web"}},
    }
    rules = {"requiredDuringSchedulingIgnoredDuringExecution": [term]}
    affinity = {"podAntiAffinity": rules}
    documents = node("a"), workload("Deployment", "web", 2, affinity=affinity)
    found = suggested("deploy/web", *documents)
    assert kinds(found) == ["affinity", "add-node"]
    assert placed_by_hand(documents, found.changes[0]) == set()


STORAGE: list[Document] = [
    {
        "apiVersion": "storage.k8s.io/v1",
        "kind": "StorageClass",
        "metadata": {"name": name},
        "provisioner": provisioner,
        "volumeBindingMode": "WaitForFirstConsumer",
    }
    for name, provisioner in (
        ("local", "kubernetes.io/no-provisioner"),
        ("fast", "csi.example.com"),
    )
]
CLAIM: Document = {
    "storageClassName": "local",
    "accessModes": ["ReadWriteOnce"],
    "resources": {"requests": {"storage": "1Gi"}},
}


def test_a_claim_gets_a_class_that_can_make_a_volume() -> None:
    claim: Document = {
        "apiVersion": "v1",
        "kind": "PersistentVolumeClaim",
        "metadata": {"name": "data"},
        "spec": CLAIM,
    }
    volume = {"name": "v", "persistentVolumeClaim": {"claimName": "data"}}
    documents = node("a"), *STORAGE, claim, pod(volumes=[volume])
    found = suggested("p", *documents)
    assert kinds(found) == ["storage-class"]
    assert found.changes[0].fields[0].new == "fast"
    assert placed_by_hand(documents, found.changes[0]) == set()


def test_template_of_claims_gets_the_class() -> None:
    database = workload("StatefulSet", "db", 2)
    database["spec"]["volumeClaimTemplates"] = [
        {"metadata": {"name": "data"}, "spec": CLAIM}
    ]
    documents = node("a"), *STORAGE, database
    found = suggested("sts/db", *documents)
    assert kinds(found) == ["storage-class"]
    [change] = found.changes
    assert change.text == (
        "have statefulset/db and its claims data made anew with the storage class fast"
    )
    assert change.placed == 2
    assert change.fields[0].path == "spec.volumeClaimTemplates[0].spec.storageClassName"
    assert placed_by_hand(documents, change) == set()


def test_volume_that_lives_with_its_pod_gets_the_class() -> None:
    volume = {"name": "v", "ephemeral": {"volumeClaimTemplate": {"spec": CLAIM}}}
    documents = node("a"), *STORAGE, workload("Deployment", "web", 2, volumes=[volume])
    found = suggested("deploy/web", *documents)
    assert kinds(found) == ["storage-class"]
    [change] = found.changes
    assert change.placed == 2
    assert change.fields[0].path == (
        "spec.template.spec.volumes[0].ephemeral.volumeClaimTemplate.spec"
        ".storageClassName"
    )
    assert placed_by_hand(documents, change) == set()


@pytest.mark.long
def test_two_changes_are_suggested_if_no_single_one_helps() -> None:
    documents = node("a", "2"), pod(cpu="3", memory="9Gi")
    found = suggested("p", *documents)
    assert kinds(found) == ["lower-request+lower-request"] or kinds(found) == [
        "lower-request-far+lower-request"
    ]
    assert placed_by_hand(documents, found.changes[0]) == set()


def test_nothing_is_suggested_if_nothing_helps() -> None:
    found = suggested("p", pod())
    assert (found.changes, found.pending, found.is_complete) == ((), 1, True)


def test_a_pod_with_a_node_needs_no_change() -> None:
    found = suggested("p", node("a"), pod())
    assert (found.changes, found.pending, found.trials) == ((), 0, 0)


def test_number_of_trials_is_limited() -> None:
    found = suggested("p", node("a"), pod(cpu="9", memory="9Gi"), trials=3)
    assert (found.trials, found.is_complete) == (3, False)


def test_no_pod_loses_its_node_by_a_suggestion() -> None:
    taken = [pod(f"x{number}", cpu="2") for number in range(2)]
    found = suggested("p", node("a"), *taken, pod(cpu="2", priority=-1))
    assert all(change.placed == 1 for change in found.changes)
    assert ChangeKind.ADD_NODE in found.changes[-1].kinds


@pytest.mark.long
def test_an_unknown_name_is_an_error() -> None:
    with pytest.raises(PodNotFoundError, match="no such pod"):
        suggested("nobody", node("a"), pod())


TAINT = [{"key": "k", "value": "1", "effect": "NoSchedule"}]
PORTS = [{"containerPort": 80, "hostPort": 80}]
NODES = st.lists(
    st.fixed_dictionaries(
        {"cpu": st.sampled_from(["1", "2", "3500m"])},
        optional={
            "taints": st.just(TAINT),
            "unschedulable": st.just(True),
            "labels": st.sampled_from([{"disk": "ssd"}, {"zone": "a"}]),
        },
    ),
    min_size=1,
    max_size=3,
)
SPEC = st.fixed_dictionaries(
    {
        "cpu": st.sampled_from(["500m", "1", "1900m", "3"]),
        "memory": st.sampled_from(["1Gi", "5Gi", "9Gi"]),
    },
    optional={
        "nodeSelector": st.sampled_from(
            [{"disk": "ssd"}, {"disk": "ssd", "zone": "a"}]
        ),
        "ports": st.just(PORTS),
        "schedulingGates": st.just([{"name": "x.io/y"}]),
    },
)


@pytest.mark.long
@fewer(2)
@given(nodes=NODES, alone=SPEC, many=SPEC, replicas=st.integers(1, 3))
def test_every_suggested_change_places_the_pod_when_made_by_hand(
    nodes: list[Document], alone: Document, many: Document, replicas: int
) -> None:
    documents = [
        *(node(f"n{number}", **fields) for number, fields in enumerate(nodes)),
        pod("one", **alone),
        workload("Deployment", "web", replicas, **many),
    ]
    for name, prefix in (("one", "default/one"), ("deploy/web", "default/web-")):
        found = suggested(name, *documents, trials=60)
        for change in found.changes:
            waiting = placed_by_hand(documents, change)
            assert not [key for key in waiting if key.startswith(prefix)], change.text
