"""Files of clusters: decisions stay the same, and secrets are not in them."""

import json
from collections.abc import Mapping
from typing import Any

import pytest
from hypothesis import given, reject
from hypothesis import strategies as st

from quaymaster.config import load_config
from quaymaster.inmemory import AdmissionError
from quaymaster.objects import from_wire, to_wire
from quaymaster.scheduler import PluginRegistry
from quaymaster.simulation import simulate
from quaymaster.testing import SmallCluster, clusters
from tests.kit.internals.inmemory import (
    CLAIM_OF_POD,
    DEVICES_ANNOTATION,
    FAILURES,
    IGNORED_FAILURES,
    INDEX,
    RUN_SECONDS_ANNOTATION,
    STARTUP_SECONDS_ANNOTATION,
    TERMINATION_SECONDS_ANNOTATION,
)
from tests.kit.internals.kubernetes import (
    READ_ANNOTATIONS,
    TimeShift,
    anonymised,
    is_own_key,
    lean_objects,
)
from tests.kit.internals.objects import KindSet
from tests.kit.profiles import fewer

Tree = dict[str, Any]

REGISTRY = PluginRegistry.discover()
CONFIG = load_config("default", REGISTRY)
LAST_APPLIED = "kubectl.kubernetes.io/last-applied-configuration"
SECRET = "hunter2"
OWN_VOLUMES: Mapping[str, Tree] = {
    "emptyDir": {"sizeLimit": "1Gi"},
    "hostPath": {"path": f"/{SECRET}"},
    "gitRepo": {"repository": f"https://{SECRET}@example.com/x"},
    "secret": {"secretName": SECRET, "items": [{"key": SECRET, "path": SECRET}]},
    "nfs": {"server": SECRET, "path": f"/{SECRET}"},
    "glusterfs": {"endpoints": SECRET, "path": SECRET},
    "flocker": {"datasetName": SECRET},
    "cephfs": {"monitors": [SECRET], "secretFile": SECRET},
    "quobyte": {"registry": f"{SECRET}:1", "volume": SECRET},
    "downwardAPI": {
        "items": [{"path": SECRET, "fieldRef": {"fieldPath": "metadata.name"}}]
    },
    "fc": {"targetWWNs": [SECRET], "lun": 1},
    "flexVolume": {"driver": "example.com/x", "options": {"password": SECRET}},
    "configMap": {"name": SECRET},
    "photonPersistentDisk": {"pdID": SECRET},
    "projected": {"sources": [{"secret": {"name": SECRET}}]},
    "scaleIO": {"gateway": SECRET, "system": SECRET, "volumeName": SECRET},
    "csi": {"driver": "csi.example.com", "volumeAttributes": {"key": SECRET}},
}
"""One volume of a pod for each source that scheduling does not read."""


ACTIONS: Mapping[str, Tree] = {
    "exec": {"command": ["sh", "-c", SECRET]},
    "httpGet": {
        "port": 80,
        "path": f"/{SECRET}",
        "httpHeaders": [{"name": "Authorization", "value": SECRET}],
    },
    "tcpSocket": {"port": "web", "host": SECRET},
    "grpc": {"port": 80, "service": SECRET},
}
"""One action of a probe of each kind."""


def text_of(value: object) -> str:
    return json.dumps(value)


def decisions(trees: list[Tree]) -> list[tuple[str, bool]]:
    """Which node each pod of a cluster gets, in order."""
    kinds = KindSet()
    objects = []
    for tree in trees:
        kind = kinds.find(tree["apiVersion"], tree["kind"])
        assert kind is not None
        objects.append(from_wire(tree, kind))
    result = simulate(objects, config=CONFIG, registry=REGISTRY)
    return [
        *((placement.node, True) for placement in result.placements),
        *(("", False) for _ in result.unscheduled),
    ]


def lean(trees: list[Tree]) -> list[Tree]:
    kinds = KindSet()
    objects = []
    for tree in trees:
        kind = kinds.find(tree["apiVersion"], tree["kind"])
        assert kind is not None
        objects.append(from_wire(tree, kind))
    return lean_objects(objects, kinds)


def peppered(tree: Tree, number: int, moment: int) -> Tree:
    """Add a secret wherever an API server stores a text that nothing reads."""
    metadata = {
        **tree["metadata"],
        "uid": f"{number:08x}-aaaa-4bbb-8ccc-{SECRET:0>12}",
        "resourceVersion": f"98765{number}",
        "annotations": {LAST_APPLIED: SECRET, "acme.example/note": SECRET},
    }
    metadata["labels"] = {
        **metadata.get("labels", {}),
        "acme-internal.kubernetes.io/customer": SECRET,
        "node-restriction.kubernetes.io/team": SECRET,
        "kubernetes.io/customer": SECRET,
    }
    result = {**tree, "metadata": metadata}
    if tree["kind"] == "Node":
        metadata["creationTimestamp"] = f"2025-03-04T05:06:{moment:02}Z"
        result["spec"] = {**tree.get("spec", {}), "providerID": SECRET}
    if tree["kind"] == "Pod" and tree.get("spec", {}).get("nodeName"):
        metadata["creationTimestamp"] = f"2025-03-04T05:06:{moment:02}Z"
        containers = [
            {
                **container,
                "env": [{"name": "PASSWORD", "value": SECRET}],
                "command": [SECRET],
                "args": [f"--password={SECRET}"],
            }
            for container in tree["spec"].get("containers", ())
        ]
        result["spec"] = {**tree["spec"], "containers": containers}
    return result


def trees_of(cluster: SmallCluster) -> list[Tree]:
    objects = (*cluster.objects, *cluster.nodes, *cluster.pods, *cluster.pending)
    return [to_wire(obj) for obj in objects]


@fewer(2)
@given(clusters(), st.integers(0, 59))
def test_decisions_stay_and_secrets_go(cluster: SmallCluster, moment: int) -> None:
    trees = [
        peppered(tree, number, moment) for number, tree in enumerate(trees_of(cluster))
    ]
    try:
        original = decisions(trees)
    except AdmissionError:
        reject()
    assert decisions(lean(trees)) == original
    others = anonymised(lean(trees), KindSet())
    names = {
        tree["metadata"]["name"]: other["metadata"]["name"]
        for tree, other in zip(trees, others, strict=True)
        if tree["kind"] == "Node"
    }
    assert decisions(others) == [
        (names.get(node, ""), is_placed) for node, is_placed in original
    ]
    text = text_of(others)
    assert SECRET not in text
    assert "98765" not in text
    assert "2025-03-04" not in text


@pytest.mark.parametrize("source", OWN_VOLUMES)
def test_volumes_that_nothing_reads_stay_valid_without_their_texts(source: str) -> None:
    node = {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": "n"},
        "status": {"allocatable": {"cpu": "1", "pods": "9"}},
    }
    pod = {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "p", "namespace": "default"},
        "spec": {
            "containers": [{"name": "c", "image": "i"}],
            "volumes": [{"name": "v", source: OWN_VOLUMES[source]}],
        },
    }
    trees: list[Tree] = [node, pod]
    assert decisions(trees) == [("n", True)]
    assert decisions(lean(trees)) == [("n", True)]
    others = anonymised(lean(trees), KindSet())
    assert [is_placed for _, is_placed in decisions(others)] == [True]
    assert SECRET not in text_of(others)


def test_what_nothing_reads_is_left_out() -> None:
    volume = {
        "apiVersion": "v1",
        "kind": "PersistentVolume",
        "metadata": {"name": "v", "annotations": {LAST_APPLIED: SECRET, "a": "b"}},
        "spec": {
            "csi": {
                "driver": "csi.example.com",
                "volumeHandle": "h",
                "volumeAttributes": {"password": SECRET},
            }
        },
    }
    [tree] = lean([volume])
    assert SECRET not in text_of(tree)
    assert tree["metadata"]["annotations"] == {"a": "b"}
    assert tree["spec"]["csi"] == {"driver": "csi.example.com", "volumeHandle": "h"}


def test_uids_keep_their_order_and_their_references() -> None:
    owner, other = "f0000000-0000-4000-8000-00000000000f", "a-uid"
    trees = [
        {
            "apiVersion": "batch/v1",
            "kind": "Job",
            "metadata": {
                "name": "j",
                "namespace": "default",
                "uid": owner,
                "labels": {"batch.kubernetes.io/controller-uid": owner},
            },
            "spec": {"selector": {"matchLabels": {"controller-uid": owner}}},
            "status": {"uncountedTerminatedPods": {"failed": [other]}},
        },
        {
            "apiVersion": "v1",
            "kind": "Pod",
            "metadata": {
                "name": "p",
                "namespace": "default",
                "uid": other,
                "labels": {"controller-uid": owner},
                "ownerReferences": [{"kind": "Job", "name": "j", "uid": owner}],
            },
        },
    ]
    job, pod = anonymised(trees, KindSet())
    new = job["metadata"]["uid"]
    assert job["metadata"]["labels"] == {"batch.kubernetes.io/controller-uid": new}
    assert job["spec"]["selector"]["matchLabels"] == {"controller-uid": new}
    assert pod["metadata"]["labels"] == {"controller-uid": new}
    assert pod["metadata"]["ownerReferences"][0]["uid"] == new
    uncounted = job["status"]["uncountedTerminatedPods"]
    assert uncounted == {"failed": [pod["metadata"]["uid"]]}
    assert pod["metadata"]["uid"] < new
    assert not {owner, other} & set(text_of([job, pod]).split('"'))


def test_versions_go_and_stored_objects_stay_stored() -> None:
    created = {"creationTimestamp": "2026-05-01T00:00:00Z"}
    trees = [
        {
            "apiVersion": "v1",
            "kind": "Pod",
            "metadata": {"name": "p", "resourceVersion": "98765", **extra},
        }
        for extra in (created, {})
    ]
    first, second = anonymised(trees, KindSet())
    assert "resourceVersion" not in first["metadata"]
    assert second["metadata"]["resourceVersion"] == "1"


def test_durations_between_times_stay() -> None:
    pod = {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "p", "creationTimestamp": "2026-05-01T00:00:00Z"},
        "status": {
            "startTime": "2026-05-01T00:00:09Z",
            "conditions": [
                {"type": "Ready", "lastTransitionTime": "2026-05-01T01:00:00Z"}
            ],
        },
    }
    [new] = anonymised([pod], KindSet())
    [again] = anonymised([pod], KindSet())
    assert new == again
    created = new["metadata"]["creationTimestamp"]
    assert created > "2026-05-31"
    kind = KindSet().find("v1", "Pod")
    assert kind is not None
    obj = from_wire(new, kind)
    before = from_wire(pod, kind)
    assert obj.metadata.creation_timestamp is not None
    assert before.metadata.creation_timestamp is not None
    shift = obj.metadata.creation_timestamp - before.metadata.creation_timestamp
    assert (
        TimeShift(int(shift)).shifted("2026-05-01T00:00:09Z")
        == (new["status"]["startTime"])
    )
    assert (
        TimeShift(int(shift)).shifted("2026-05-01T01:00:00Z")
        == (new["status"]["conditions"][0]["lastTransitionTime"])
    )


def test_times_in_the_past_of_simulations_stay_there() -> None:
    secret = bytes(8)
    assert TimeShift.of(["2025-12-31T23:59:59Z"], secret).seconds < 0
    assert TimeShift.of(["2026-01-01T00:00:01Z"], secret).seconds > 0
    assert TimeShift(1).shifted("2026-13-01T00:00:00Z") == "2026-13-01T00:00:00Z"
    assert TimeShift(1).shifted("9999-12-31T23:59:59Z") == "9999-12-31T23:59:59Z"


def test_finalizers_of_others_keep_objects_alive_under_other_names() -> None:
    pod = {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "p", "finalizers": [f"{SECRET}.io/x", "orphan"]},
    }
    [new] = anonymised([pod], KindSet())
    first, second = new["metadata"]["finalizers"]
    assert SECRET not in first
    assert "/" in first
    assert second == "orphan"


@pytest.mark.parametrize(
    "key",
    [
        "acme-internal.kubernetes.io/customer",
        "app.kubernetes.io/name",
        "customer",
        "kubernetes.io/customer",
        "kubernetes.io/hostname",
        "node-restriction.kubernetes.io/team",
        "pod-group.scheduling.sigs.k8s.io",
        "statefulset.kubernetes.io/pod-name",
    ],
)
def test_users_choose_the_values_of(key: str) -> None:
    assert not is_own_key(key)


@pytest.mark.parametrize(
    "key",
    [
        "apps.kubernetes.io/pod-index",
        "kubernetes.io/arch",
        "node.kubernetes.io/instance-type",
        "topology.kubernetes.io/zone",
    ],
)
def test_kubernetes_defines_the_values_of(key: str) -> None:
    assert is_own_key(key)


def test_annotations_that_simulations_read_are_kept() -> None:
    assert {
        CLAIM_OF_POD,
        DEVICES_ANNOTATION,
        FAILURES,
        IGNORED_FAILURES,
        INDEX,
        RUN_SECONDS_ANNOTATION,
        STARTUP_SECONDS_ANNOTATION,
        TERMINATION_SECONDS_ANNOTATION,
    } <= READ_ANNOTATIONS


@pytest.mark.parametrize("action", ACTIONS)
def test_probes_stay_valid_without_their_texts(action: str) -> None:
    probe = {action: ACTIONS[action], "periodSeconds": 5}
    container = {"name": "c", "image": "i", "readinessProbe": probe}
    pod = {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "p", "namespace": "default"},
        "spec": {"containers": [container]},
    }
    others = anonymised(lean([pod]), KindSet())
    assert decisions(others) == [("", False)]
    assert SECRET not in text_of(others)
