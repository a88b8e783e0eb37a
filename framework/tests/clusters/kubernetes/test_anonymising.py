"""Anonymised objects reveal no names and lead to the same decisions."""

import json
import re
from typing import Any

import pytest
import yaml
from hypothesis import given, reject
from hypothesis import strategies as st

from quaymaster.config import load_config
from quaymaster.inmemory import AdmissionError
from quaymaster.objects import DeviceTaintRule, from_wire, to_wire
from quaymaster.scheduler import PluginRegistry
from quaymaster.simulation import simulate
from quaymaster.testing import (
    SmallCluster,
    clusters,
    make_device_taint_rule,
    make_node,
    make_persistent_volume_claim,
    make_pod,
    make_resource_slice,
)
from tests.kit.internals.kubernetes import Aliases, anonymised
from tests.kit.internals.objects import KindSet
from tests.kit.kinds import LABEL, PodGroup, make_group
from tests.kit.profiles import fewer

SECRETS = ("harbour", "orca", "tuna", "crane", "hunter2", "cargo", "quay", "berth")
"""Parts of all names that users have given in the cluster below."""

NODES = [
    {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {
            "name": f"quay-{index}",
            "uid": f"n{index}",
            "annotations": {"cargo": "hunter2"},
            "labels": {
                "kubernetes.io/hostname": f"quay-{index}",
                "topology.kubernetes.io/zone": f"zone-{index % 3}",
                "crew": "orca" if index % 2 else "tuna",
                "generation": str(index),
            },
        },
        "spec": {
            "providerID": f"cloud://harbour/{index}",
            "taints": [{"key": "crew", "value": "orca", "effect": "NoSchedule"}]
            if index == 1
            else [],
        },
        "status": {
            "allocatable": {"cpu": "4", "memory": "8Gi", "pods": "20"},
            "conditions": [{"type": "Ready", "status": "True", "message": "hunter2"}],
            "images": [{"names": ["harbour/crane:1"], "sizeBytes": 900_000_000}]
            if index == 4
            else [],
        },
    }
    for index in range(6)
]
MANIFESTS = """
{apiVersion: v1, kind: Namespace, metadata: {name: harbour, labels: {crew: orca, kubernetes.io/metadata.name: harbour}}}
---
{apiVersion: v1, kind: Namespace, metadata: {name: default, labels: {kubernetes.io/metadata.name: default}}}
---
{apiVersion: scheduling.k8s.io/v1, kind: PriorityClass, metadata: {name: berth-first}, value: 1000, description: hunter2}
---
apiVersion: storage.k8s.io/v1
kind: StorageClass
metadata: {name: berth-fast}
provisioner: kubernetes.io/no-provisioner
parameters: {secret: hunter2}
volumeBindingMode: WaitForFirstConsumer
---
apiVersion: v1
kind: PersistentVolume
metadata: {name: berth-volume}
spec:
  capacity: {storage: 10Gi}
  accessModes: [ReadWriteOnce]
  storageClassName: berth-fast
  local: {path: /mnt/berth}
  nodeAffinity:
    required:
      nodeSelectorTerms:
      - matchExpressions: [{key: kubernetes.io/hostname, operator: In, values: [quay-3]}]
---
apiVersion: v1
kind: ResourceQuota
metadata: {name: berth-quota, namespace: harbour}
spec: {hard: {pods: "9", berth-fast.storageclass.storage.k8s.io/requests.storage: 20Gi}}
---
apiVersion: policy/v1
kind: PodDisruptionBudget
metadata: {name: tuna}
spec: {minAvailable: 2, selector: {matchLabels: {app: tuna}}}
---
apiVersion: apps/v1
kind: StatefulSet
metadata: {name: orca, namespace: harbour}
spec:
  replicas: 2
  serviceName: orca
  podManagementPolicy: Parallel
  selector: {matchLabels: {app: orca}}
  template:
    metadata: {labels: {app: orca}}
    spec:
      tolerations: [{key: crew, value: orca}]
      affinity:
        podAntiAffinity:
          requiredDuringSchedulingIgnoredDuringExecution:
          - topologyKey: topology.kubernetes.io/zone
            labelSelector: {matchLabels: {app: orca}}
      containers:
      - name: crane
        image: harbour/crane:1
        env: [{name: PASSWORD, value: hunter2}]
        volumeMounts: [{name: cargo, mountPath: /cargo}]
        resources: {requests: {cpu: "1"}}
  volumeClaimTemplates:
  - metadata: {name: cargo}
    spec:
      accessModes: [ReadWriteOnce]
      storageClassName: berth-fast
      resources: {requests: {storage: 1Gi}}
---
apiVersion: v1
kind: Pod
metadata: {name: orca-0, namespace: harbour, labels: {app: orca, apps.kubernetes.io/pod-index: "0"}, uid: p0}
spec:
  containers: [{name: crane, image: harbour/crane:1, resources: {requests: {cpu: "1"}}}]
  volumes: [{name: cargo, persistentVolumeClaim: {claimName: cargo-orca-0}}]
---
apiVersion: v1
kind: PersistentVolumeClaim
metadata: {name: cargo-orca-0, namespace: harbour}
spec:
  accessModes: [ReadWriteOnce]
  storageClassName: berth-fast
  resources: {requests: {storage: 1Gi}}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: tuna}
spec:
  replicas: 7
  selector: {matchLabels: {app: tuna}}
  template:
    metadata: {labels: {app: tuna}}
    spec:
      containers:
      - {name: crane, image: harbour/crane, resources: {requests: {cpu: "2"}}}
      affinity:
        nodeAffinity:
          requiredDuringSchedulingIgnoredDuringExecution:
            nodeSelectorTerms:
            - matchExpressions: [{key: generation, operator: Gt, values: ["0"]}]
        podAffinity:
          preferredDuringSchedulingIgnoredDuringExecution:
          - weight: 10
            podAffinityTerm:
              topologyKey: topology.kubernetes.io/zone
              labelSelector: {matchLabels: {app: orca}}
              namespaceSelector: {matchLabels: {crew: orca}}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: cargo, namespace: harbour}
spec:
  replicas: 4
  selector: {matchLabels: {app: cargo}}
  template:
    metadata: {labels: {app: cargo}}
    spec:
      priorityClassName: berth-first
      nodeSelector: {crew: tuna}
      topologySpreadConstraints:
      - maxSkew: 1
        topologyKey: kubernetes.io/hostname
        whenUnsatisfiable: DoNotSchedule
        labelSelector: {matchLabels: {app: cargo}}
      containers:
      - {name: crane, image: "harbour/crane:1", resources: {requests: {cpu: "1500m"}}}
"""  # noqa: E501 - one object a line where that is all it says


@pytest.fixture(scope="module")
def trees() -> list[dict[str, Any]]:
    return [*NODES, *yaml.safe_load_all(MANIFESTS)]


@pytest.fixture(scope="module")
def other(trees: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return anonymised(trees, KindSet())


REGISTRY = PluginRegistry.discover()
CONFIG = load_config("default", REGISTRY)


def placed(trees: list[dict[str, Any]]) -> tuple[list[str], list[str]]:
    """Return the nodes of the pods in order, and the messages of the others."""
    kinds = KindSet()
    objects = []
    for tree in trees:
        kind = kinds.find(tree["apiVersion"], tree["kind"])
        assert kind is not None
        objects.append(from_wire(tree, kind))
    result = simulate(objects, config=CONFIG, registry=REGISTRY)
    return (
        [placement.node for placement in result.placements],
        # Some messages name a claim or the like.
        [re.sub('"[^"]*"', "it", pod.message) for pod in result.unscheduled],
    )


def decisions_stay_the_same(trees: list[dict[str, Any]]) -> None:
    others = anonymised(trees, KindSet())
    names = {
        tree["metadata"]["name"]: new["metadata"]["name"]
        for tree, new in zip(trees, others, strict=True)
        if tree["kind"] == "Node"
    }
    (nodes, messages), (other_nodes, other_messages) = placed(trees), placed(others)
    assert [names[node] for node in nodes] == other_nodes
    assert messages == other_messages


def test_decisions_stay_the_same(trees: list[dict[str, Any]]) -> None:
    decisions_stay_the_same(trees)
    nodes, messages = placed(trees)
    assert nodes
    assert messages


def test_a_claim_of_the_implied_storage_class_keeps_it() -> None:
    claim = make_persistent_volume_claim(name="data", storage_class="standard")
    objects = make_node(name="n"), claim, make_pod(name="p", claims=["data"])
    trees = [to_wire(obj) for obj in objects]
    nodes, _ = placed(trees)
    assert nodes == ["n"]
    decisions_stay_the_same(trees)


@fewer(2)
@given(clusters())
def test_decisions_about_any_cluster_stay_the_same(cluster: SmallCluster) -> None:
    objects = (*cluster.objects, *cluster.nodes, *cluster.pods, *cluster.pending)
    trees = [to_wire(obj) for obj in objects]
    try:
        decisions_stay_the_same(trees)
    except AdmissionError:
        reject()


def test_no_name_and_no_secret_remains(other: list[dict[str, Any]]) -> None:
    text = json.dumps(other)
    assert [word for word in SECRETS if word in text] == []


AUTOSCALERS: list[dict[str, Any]] = [
    {
        "apiVersion": "keda.sh/v1alpha1",
        "kind": "ScaledObject",
        "metadata": {
            "name": "crane",
            "annotations": {"autoscaling.keda.sh/paused-replicas": "3"},
        },
        "spec": {
            "scaleTargetRef": {"name": "crane"},
            "triggers": [
                {
                    "type": "kafka",
                    "metadata": {"topic": "cargo"},
                    "authenticationRef": {"name": "hunter2"},
                }
            ],
        },
        "status": {"hpaName": "keda-hpa-crane", "externalMetricNames": ["s0-cargo"]},
    },
    {
        "apiVersion": "autoscaling.k8s.io/v1",
        "kind": "VerticalPodAutoscaler",
        "metadata": {"name": "berth"},
        "spec": {
            "targetRef": {
                "apiVersion": "apps/v1",
                "kind": "Deployment",
                "name": "crane",
            },
            "resourcePolicy": {"containerPolicies": [{"containerName": "*"}]},
        },
        "status": {
            "recommendation": {
                "containerRecommendations": [
                    {"containerName": "orca", "target": {"cpu": "2"}}
                ]
            }
        },
    },
]


def test_autoscalers_keep_their_workloads_under_other_names() -> None:
    containers = [{"name": "orca", "image": "tuna"}]
    template = {
        "metadata": {"labels": {"app": "a"}},
        "spec": {"containers": containers},
    }
    workload = {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": "crane"},
        "spec": {"selector": {"matchLabels": {"app": "a"}}, "template": template},
    }
    deployment, scaled, scaler = anonymised([workload, *AUTOSCALERS], KindSet())
    name = deployment["metadata"]["name"]
    assert scaled["spec"]["scaleTargetRef"]["name"] == name != "crane"
    assert (
        scaled["metadata"]["annotations"] == AUTOSCALERS[0]["metadata"]["annotations"]
    )
    assert scaled["spec"]["triggers"] == [{"type": "kafka"}]
    assert scaler["spec"]["targetRef"]["name"] == name
    container = deployment["spec"]["template"]["spec"]["containers"][0]["name"]
    (entry,) = scaler["status"]["recommendation"]["containerRecommendations"]
    assert entry["containerName"] == container != "orca"
    (policy,) = scaler["spec"]["resourcePolicy"]["containerPolicies"]
    assert policy["containerName"] == "*"
    text = json.dumps([deployment, scaled, scaler])
    assert [word for word in SECRETS if word in text] == []


def test_values_of_kubernetes_own_labels_stay(other: list[dict[str, Any]]) -> None:
    labels = other[0]["metadata"]["labels"]
    assert labels["topology.kubernetes.io/zone"] == "zone-0"
    assert labels["kubernetes.io/hostname"] == other[0]["metadata"]["name"]


def test_composed_names_stay_composed(other: list[dict[str, Any]]) -> None:
    [pod] = [tree for tree in other if tree["kind"] == "Pod"]
    [owner] = [tree for tree in other if tree["kind"] == "StatefulSet"]
    template = owner["spec"]["volumeClaimTemplates"][0]["metadata"]["name"]
    name = owner["metadata"]["name"]
    assert pod["metadata"]["name"] == f"{name}-0"
    [volume] = pod["spec"]["volumes"]
    assert volume["persistentVolumeClaim"]["claimName"] == f"{template}-{name}-0"


@pytest.mark.parametrize("key", [LABEL, "pod-group.scheduling.sigs.k8s.io"])
def test_names_in_labels_follow_objects_of_declared_kinds(key: str) -> None:
    kinds = KindSet([PodGroup])
    pod = to_wire(make_pod(name="p", labels={key: "crew"}))
    group, member = anonymised([to_wire(make_group(name="crew")), pod], kinds)
    assert member["metadata"]["labels"][key] == group["metadata"]["name"] != "crew"


@given(st.sets(st.text("ab-01", max_size=5)))
def test_aliases_are_different_and_in_order(names: set[str]) -> None:
    aliases = Aliases(names, compound={}, stems=["a"])
    assert len({aliases.of(name) for name in names}) == len(names)
    plain = [name for name in sorted(names) if aliases.of(name).isalnum()]
    renamed = [name for name in plain if aliases.of(name) != name]
    assert renamed == sorted(renamed, key=aliases.of)


def test_rules_taint_the_same_devices_under_other_names() -> None:
    objects = [
        make_resource_slice(node="quay", devices=2),
        make_device_taint_rule(name="hunter2", pool="quay", key="crew", value="orca"),
    ]
    trees = [to_wire(obj) for obj in objects]
    listed, rule = anonymised(trees, KindSet())
    text = json.dumps([listed, rule])
    assert not any(secret in text for secret in SECRETS)
    selector = rule["spec"]["deviceSelector"]
    assert selector == {"pool": listed["spec"]["pool"]["name"]}
    assert rule["spec"]["taint"]["key"] == "crew"
    assert from_wire(rule, DeviceTaintRule).name != "hunter2"
