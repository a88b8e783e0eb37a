"""The in-memory cluster reports wrong fields with the server's paths.

Each case is the answer of an API server 1.36.
"""

from typing import Any, TypeVar

import pytest

from quaymaster import ApiObject, Node, Pod
from quaymaster.inmemory import AdmissionError
from quaymaster.objects import KINDS, Deployment, PersistentVolumeClaim, from_wire
from tests.kit.clusters import make_cluster

Tree = dict[str, Any]
ObjT = TypeVar("ObjT", bound=ApiObject)

CONTAINER = {"name": "c", "image": "i"}


def paths_of(kind: str, tree: Tree) -> list[str]:
    """Return the wrong fields of a new object, or nothing if it is accepted."""
    cluster = make_cluster(controllers=False)
    try:
        cluster.create(from_wire({"metadata": {"name": "a"}, **tree}, KINDS[kind]))
    except AdmissionError as error:
        return [problem.path for problem in error.problems]
    return []


def container(**fields: object) -> Tree:
    return {"containers": [{**CONTAINER, **fields}]}


def resources(**fields: object) -> Tree:
    return container(resources=fields)


def volumes(*given: Tree) -> Tree:
    return {"volumes": [{"name": f"v{i}", **source} for i, source in enumerate(given)]}


REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
PREFERRED = "preferredDuringSchedulingIgnoredDuringExecution"


def near(**term: object) -> Tree:
    full = {"topologyKey": "zone", "labelSelector": {}, **term}
    return {"affinity": {"podAffinity": {REQUIRED: [full]}}}


def on_nodes(**condition: object) -> Tree:
    terms = [{"matchExpressions": [condition]}]
    return {"affinity": {"nodeAffinity": {REQUIRED: {"nodeSelectorTerms": terms}}}}


def preferring(**condition: object) -> Tree:
    terms = [{"weight": 1, "preference": {"matchExpressions": [condition]}}]
    return {"affinity": {"nodeAffinity": {PREFERRED: terms}}}


def spread(**fields: object) -> Tree:
    full = {"maxSkew": 1, "topologyKey": "z", "whenUnsatisfiable": "DoNotSchedule"}
    return {"topologySpreadConstraints": [{**full, **fields}]}


C0 = "spec.containers[0]"
AFFINITY = f"spec.affinity.podAffinity.{REQUIRED}[0]"
TERMS = f"spec.affinity.nodeAffinity.{REQUIRED}.nodeSelectorTerms[0]"

PODS: dict[str, tuple[Tree, list[str]]] = {
    "a device without a limit": (
        resources(requests={"nvidia.com/gpu": 1}),
        [f"{C0}.resources.limits"],
    ),
    "huge pages alone": (
        resources(limits={"hugepages-2Mi": "4Mi"}),
        [f"{C0}.resources"],
    ),
    "huge pages that are no multiple": (
        resources(limits={"hugepages-2Mi": "3Mi", "cpu": 1}),
        [f"{C0}.resources.{field}[hugepages-2Mi]" for field in ("limits", "requests")],
    ),
    "huge pages of the pod alone": (
        {"resources": {"limits": {"hugepages-2Mi": "4Mi"}}},
        ["spec.resources"],
    ),
    "claims of the whole pod": (
        {"resources": {"claims": [{"name": "a"}]}},
        ["spec.resources.claims", "spec.resources.claims[0]"],
    ),
    "a claim that nobody has": (
        resources(claims=[{"name": "a"}]),
        [f"{C0}.resources.claims[0]"],
    ),
    "a claim twice": (
        {
            **resources(claims=[{"name": "a", "request": "r"}, {"name": "a"}]),
            "resourceClaims": [{"name": "a", "resourceClaimName": "b"}],
        },
        [f"{C0}.resources.claims[1]"],
    ),
    "a claim with two sources": (
        {
            "resourceClaims": [
                {
                    "name": "a",
                    "resourceClaimName": "x",
                    "resourceClaimTemplateName": "y",
                }
            ]
        },
        ["spec.resourceClaims[0]"],
    ),
    "a claim without a source": (
        {"resourceClaims": [{"name": "A"}]},
        ["spec.resourceClaims[0].name", "spec.resourceClaims[0]"],
    ),
    "a resource that is none of a container's": (
        resources(requests={"storage": "1Gi"}),
        [f"{C0}.resources.requests[storage]"],
    ),
    "an image with space around it": (container(image=" i"), [f"{C0}.image"]),
    "no image": (container(image=""), [f"{C0}.image"]),
    "a container's name": (container(name="C_x"), [f"{C0}.name"]),
    "a port's name": (
        container(ports=[{"containerPort": 1, "name": "a--b"}]),
        [f"{C0}.ports[0].name"],
    ),
    "a port's name twice": (
        container(ports=[{"containerPort": n, "name": "a"} for n in (1, 2)]),
        [f"{C0}.ports[1].name"],
    ),
    "a host port twice in two containers": (
        {
            "containers": [
                {**CONTAINER, "name": n, "ports": [{"containerPort": 1, "hostPort": 8}]}
                for n in ("c", "d")
            ]
        },
        ["spec.containers[1].ports[0].hostPort"],
    ),
    "a host port twice in one init container": (
        {
            "initContainers": [
                {"name": "a", "image": "i"},
                {
                    "name": "b",
                    "image": "i",
                    "ports": [{"containerPort": n, "hostPort": 8} for n in (1, 2)],
                },
            ]
        },
        ["spec.initContainers[0].ports[1].hostPort"],
    ),
    "an init container's restart policy": (
        {"initContainers": [{"name": "a", "image": "i", "restartPolicy": "Perhaps"}]},
        ["spec.initContainers[0].restartPolicy"],
    ),
    "restart rules without a policy": (
        container(restartPolicyRules=[{"action": "Restart"}]),
        [f"{C0}.restartPolicy", f"{C0}.restartPolicyRules[0].exitCodes"],
    ),
    "resizing what never restarts": (
        {
            "restartPolicy": "Never",
            **container(
                resizePolicy=[
                    {"resourceName": "cpu", "restartPolicy": "RestartContainer"}
                ]
            ),
        },
        [f"{C0}.resizePolicy"],
    ),
    "volumes of one name": (
        {"volumes": [{"name": "a", "emptyDir": {}}, {"name": "a", "emptyDir": {}}]},
        ["spec.volumes[1].name"],
    ),
    "a volume with two sources": (
        volumes({"emptyDir": {}, "configMap": {"name": "a"}}),
        ["spec.volumes[0].configMap"],
    ),
    "a claim without its name": (
        volumes({"persistentVolumeClaim": {}}),
        ["spec.volumes[0].persistentVolumeClaim.claimName"],
    ),
    "sources that lack something": (
        volumes(
            {"secret": {}},
            {"nfs": {"server": "a", "path": "b"}},
            {"hostPath": {"path": "/a/../b"}},
            {"csi": {"driver": "a_b"}},
            {"ephemeral": {}},
            {"gcePersistentDisk": {}},
        ),
        [
            "spec.volumes[0].secret.secretName",
            "spec.volumes[1].nfs.path",
            "spec.volumes[2].hostPath.path",
            "spec.volumes[3].csi.driver",
            "spec.volumes[4].ephemeral.volumeClaimTemplate",
            "spec.volumes[5].persistentDisk.pdName",
        ],
    ),
    "a claim template without a size": (
        volumes({"ephemeral": {"volumeClaimTemplate": {"spec": {}}}}),
        [
            "spec.volumes[0].ephemeral.volumeClaimTemplate.spec.accessModes",
            "spec.volumes[0].ephemeral.volumeClaimTemplate.spec.resources[storage]",
        ],
    ),
    "users of its own on the host's network": (
        {"hostNetwork": True, "hostUsers": False},
        ["spec.hostNetwork"],
    ),
    "no time at all": ({"activeDeadlineSeconds": 0}, ["spec.activeDeadlineSeconds"]),
    "a node's name": ({"nodeName": "A b"}, ["spec.nodeName"]),
    "a class's name": (
        {"runtimeClassName": "A_b", "nodeName": "n"},
        ["spec.runtimeClassName"],
    ),
    "a gate's name": (
        {"schedulingGates": [{"name": "a b"}]},
        ["spec.schedulingGates[0]"],
    ),
    "a node selector": ({"nodeSelector": {"a b": "x y"}}, ["spec.nodeSelector"] * 2),
    "a toleration's value": (
        {"tolerations": [{"key": "a", "value": "x y"}]},
        ["spec.tolerations[0].operator"],
    ),
    "a field of nodes": (
        {
            "affinity": {
                "nodeAffinity": {
                    REQUIRED: {
                        "nodeSelectorTerms": [
                            {
                                "matchFields": [
                                    {
                                        "key": "metadata.uid",
                                        "operator": "In",
                                        "values": ["a"],
                                    }
                                ]
                            }
                        ]
                    }
                }
            }
        },
        [f"{TERMS}.matchFields[0].key"],
    ),
    "a value that no label has": (
        on_nodes(key="a", operator="In", values=["x y"]),
        [f"{TERMS}.matchExpressions[0].values[0]"],
    ),
    "a namespace near which": (near(namespaces=["A"]), [f"{AFFINITY}.namespace"]),
    "a topology key": (near(topologyKey="a b"), [f"{AFFINITY}.topologyKey"]),
    "a label key of both kinds": (
        near(matchLabelKeys=["a"], mismatchLabelKeys=["a"]),
        [f"{AFFINITY}.matchLabelKeys[0]"],
    ),
    "a pod's claim of its own ephemeral volume": (
        {
            "volumes": [
                {
                    "name": "v",
                    "ephemeral": {
                        "volumeClaimTemplate": {
                            "spec": {
                                "accessModes": ["ReadWriteOnce"],
                                "resources": {"requests": {"storage": 1}},
                            }
                        }
                    },
                },
                {"name": "w", "persistentVolumeClaim": {"claimName": "a-v"}},
            ]
        },
        ["spec.volumes[1].persistentVolumeClaim.claimName"],
    ),
    # Accepted:
    "a host port of containers and init containers": (
        {
            **container(ports=[{"containerPort": 1, "hostPort": 8}]),
            "initContainers": [
                {
                    "name": n,
                    "image": "i",
                    "ports": [{"containerPort": 1, "hostPort": 8}],
                }
                for n in ("a", "b")
            ],
        },
        [],
    ),
    "a host port at two addresses": (
        container(
            ports=[
                {"containerPort": 1, "hostPort": 8, "hostIP": f"10.0.0.{n}"}
                for n in (1, 2)
            ]
        ),
        [],
    ),
    "more than a word": (on_nodes(key="a", operator="Gt", values=["x"]), []),
    "less than a word, if possible": (
        preferring(key="a", operator="Lt", values=["x y"]),
        [],
    ),
    "a term without conditions": (
        {
            "affinity": {
                "nodeAffinity": {REQUIRED: {"nodeSelectorTerms": [{}]}},
            }
        },
        [],
    ),
    "a label key twice": (
        spread(labelSelector={}, matchLabelKeys=["other", "other"]),
        [],
    ),
    "a spread over what is no label": (spread(topologyKey="a b"), []),
    "a volume without a source": (volumes({}), []),
    "a negative time to tolerate": (
        {
            "tolerations": [
                {
                    "key": "a",
                    "operator": "Exists",
                    "effect": "NoExecute",
                    "tolerationSeconds": -5,
                }
            ]
        },
        [],
    ),
    "a container that restarts by itself": (
        container(
            restartPolicy="Never",
            restartPolicyRules=[
                {"action": "Restart", "exitCodes": {"operator": "In", "values": [1]}}
            ],
        ),
        [],
    ),
}


@pytest.mark.parametrize(("spec", "paths"), PODS.values(), ids=PODS)
def test_pod_is_wrong_in(spec: Tree, paths: list[str]) -> None:
    assert paths_of("Pod", {"spec": {"containers": [CONTAINER], **spec}}) == paths


def test_label_both_in_the_selector_and_narrowing_it_is_refused() -> None:
    spec = spread(labelSelector={"matchLabels": {"a": "b"}}, matchLabelKeys=["a"])
    pod = {
        "metadata": {"name": "a", "labels": {"a": "b"}},
        "spec": {"containers": [CONTAINER], **spec},
    }
    assert paths_of("Pod", pod) == ["spec.topologySpreadConstraints[0][0]"]
    assert not paths_of("Pod", {"spec": pod["spec"]})


METADATA: dict[str, tuple[str, Tree, list[str]]] = {
    "a pod's name": ("Pod", {"name": "a_b"}, ["metadata.name"]),
    "the beginning of a name": (
        "Pod",
        {"generateName": "A_b-"},
        ["metadata.generateName", "metadata.name"],
    ),
    "a namespace with a dot": ("Namespace", {"name": "a.b"}, ["metadata.name"]),
    "a name that is too long": ("Node", {"name": "a" * 254}, ["metadata.name"]),
    "a label's value": ("Node", {"labels": {"a": "x" * 64}}, ["metadata.labels"]),
    "a label's prefix": ("Node", {"labels": {"A_b/c": ""}}, ["metadata.labels"]),
    "an annotation's key": (
        "Node",
        {"annotations": {"a b": ""}},
        ["metadata.annotations"],
    ),
    "too much to remember": (
        "Node",
        {"annotations": {"a": "x" * 2**18}},
        ["metadata.annotations"],
    ),
    "a finalizer of nobody": (
        "Node",
        {"finalizers": ["x"]},
        ["metadata.finalizers[0]"],
    ),
    "an owner without a name": (
        "Node",
        {"ownerReferences": [{"apiVersion": "v1", "kind": "Pod", "uid": "u"}]},
        ["metadata.ownerReferences.name"],
    ),
    "two controllers": (
        "Node",
        {
            "ownerReferences": [
                {"apiVersion": "v1", "kind": "Pod", "name": n, "controller": True}
                for n in "ab"
            ]
        },
        ["metadata.ownerReferences"],
    ),
    "a budget's name": ("PodDisruptionBudget", {"name": "A b"}, []),
    "a beginning that ends with a dash": ("Node", {"generateName": "a-"}, []),
    "an annotation in large letters": ("Node", {"annotations": {"A.io/B": "x y"}}, []),
}


@pytest.mark.parametrize(("kind", "metadata", "paths"), METADATA.values(), ids=METADATA)
def test_metadata_is_wrong_in(kind: str, metadata: Tree, paths: list[str]) -> None:
    name = {} if "generateName" in metadata else {"name": "a"}
    spec = {"containers": [CONTAINER]} if kind == "Pod" else {}
    tree = {"metadata": {**name, **metadata}, "spec": spec}
    assert paths_of(kind, tree) == paths


def workload(pod: Tree | None = None, **spec: object) -> Tree:
    labels = {"app": "a"}
    template = {
        "metadata": {"labels": labels},
        "spec": {"containers": [CONTAINER], **(pod or {})},
    }
    return {"spec": {"selector": {"matchLabels": labels}, "template": template, **spec}}


def job(pod: Tree | None = None, **spec: object) -> Tree:
    template = {"spec": {"containers": [CONTAINER], **(pod or {})}}
    template["spec"].setdefault("restartPolicy", "Never")
    return {"spec": {"template": template, **spec}}


DISK = {"accessModes": ["ReadWriteOnce"], "capacity": {"storage": "1Gi"}}
CLAIM = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": 1}}}
POLICY = "spec.template.spec.restartPolicy"

OTHERS: dict[str, tuple[str, Tree, list[str]]] = {
    "pods that must last": (
        "Deployment",
        workload({"restartPolicy": "Never"}),
        [POLICY],
    ),
    "pods that must last, with a deadline": (
        "DaemonSet",
        workload({"activeDeadlineSeconds": 5}),
        ["spec.template.spec.activeDeadlineSeconds"],
    ),
    "a DaemonSet without a selector": (
        "DaemonSet",
        workload(selector=None),
        ["spec.template.metadata.labels"],
    ),
    "a Deployment without a selector": (
        "Deployment",
        workload(selector=None),
        ["spec.selector", "spec.template.metadata.labels"],
    ),
    "a template with space around its image": (
        "ReplicaSet",
        workload(container(image=" i ")),
        [],
    ),
    "a template that leaves the host port open": (
        "Deployment",
        workload({"hostNetwork": True, **container(ports=[{"containerPort": 1}])}),
        [],
    ),
    "claims without a size": (
        "StatefulSet",
        workload(volumeClaimTemplates=[{"metadata": {"name": "d"}}]),
        [
            "spec.volumeClaimTemplates[0].spec.accessModes",
            "spec.volumeClaimTemplates[0].spec.resources[storage]",
        ],
    ),
    "a claim in the place of a volume": (
        "StatefulSet",
        workload(
            {"volumes": [{"name": "d", "emptyDir": {}}]},
            volumeClaimTemplates=[{"metadata": {"name": "d"}, "spec": CLAIM}],
        ),
        [],
    ),
    "a Job that never ends": ("Job", job({"restartPolicy": "Always"}), [POLICY]),
    "a Job with a selector of its own": (
        "Job",
        job(selector={"matchLabels": {"a": "b"}}),
        ["spec.selector"],
    ),
    "a Job managed by nobody one can name": (
        "Job",
        job(managedBy="a b"),
        ["spec.managedBy"],
    ),
    "a Job managed by a domain alone": (
        "Job",
        job(managedBy="example.com"),
        ["spec.managedBy"],
    ),
    "a Job managed by a controller": ("Job", job(managedBy="example.com/jobs"), []),
    "an Indexed Job that says no number": ("Job", job(completionMode="Indexed"), []),
    "an Indexed Job without an end": (
        "Job",
        job(completionMode="Indexed", parallelism=1),
        ["spec.completions"],
    ),
    "too much at once": (
        "Job",
        job(completionMode="Indexed", parallelism=100_001, completions=1),
        ["spec.parallelism"],
    ),
    "a system class": (
        "PriorityClass",
        {"metadata": {"name": "system-x"}, "value": 5},
        ["metadata.name"],
    ),
    "a claim without anything": (
        "PersistentVolumeClaim",
        {},
        ["spec.accessModes", "spec.resources[storage]"],
    ),
    "a claim of nothing, in unknown ways": (
        "PersistentVolumeClaim",
        {
            "spec": {
                "accessModes": ["Sometimes"],
                "resources": {"requests": {"storage": "-1"}},
                "volumeMode": "Tape",
            }
        },
        ["spec.accessModes", "spec.resources[storage]", "spec.volumeMode"],
    ),
    "access modes that clash": (
        "PersistentVolumeClaim",
        {"spec": {**CLAIM, "accessModes": ["ReadWriteOncePod", "ReadWriteMany"]}},
        ["spec.accessModes"],
    ),
    "a volume without anything": (
        "PersistentVolume",
        {},
        ["spec.accessModes", "spec.capacity", "spec"],
    ),
    "a local volume without nodes": (
        "PersistentVolume",
        {"spec": {**DISK, "local": {"path": "/x"}}},
        ["spec.nodeAffinity"],
    ),
    "a volume of a source that is not read": (
        "PersistentVolume",
        {"spec": {**DISK, "nfs": {"server": "s", "path": "/x"}}},
        [],
    ),
    "a class without provisioner, of unknown binding": (
        "StorageClass",
        {"volumeBindingMode": "Perhaps"},
        ["provisioner", "volumeBindingMode"],
    ),
    "a CSINode": (
        "CSINode",
        {"spec": {"drivers": [{"name": "d", "allocatable": {"count": -1}}]}},
        ["spec.drivers[0].nodeID", "spec.drivers[0].allocatable.count"],
    ),
    "a taint": (
        "Node",
        {"spec": {"taints": [{"key": "a b", "value": "x y", "effect": "Foo"}]}},
        [f"metadata.taints[0].{field}" for field in ("key", "value", "effect")],
    ),
    "a part of a device": (
        "Node",
        {"status": {"allocatable": {"nvidia.com/gpu": "500m"}}},
        ["status.allocatable.nvidia.com/gpu"],
    ),
}


@pytest.mark.parametrize(("kind", "tree", "paths"), OTHERS.values(), ids=OTHERS)
def test_object_is_wrong_in(kind: str, tree: Tree, paths: list[str]) -> None:
    assert paths_of(kind, tree) == paths


def stored(kind: type[ObjT], tree: Tree) -> ObjT:
    cluster = make_cluster(controllers=False)
    return cluster.create(from_wire({"metadata": {"name": "a"}, **tree}, kind))


def test_grace_period_below_0_is_1() -> None:
    pod = {"spec": {"containers": [CONTAINER], "terminationGracePeriodSeconds": -7}}
    assert stored(Pod, pod).spec.termination_grace_period_seconds == 1


def test_amounts_of_nodes_are_rounded_up_to_thousandths() -> None:
    node = stored(Node, {"status": {"capacity": {"cpu": "1500500u"}}})
    assert str(node.status.capacity["cpu"]) == "1501m"
    assert str(node.status.allocatable["cpu"]) == "1501m"


def test_templates_are_stored_with_their_defaults() -> None:
    pod = container(resources={"limits": {"cpu": 1}}, ports=[{"containerPort": 1}])
    spec = stored(Deployment, workload(pod)).spec.template.spec
    assert (spec.scheduler_name, spec.restart_policy) == ("default-scheduler", "Always")
    assert spec.containers[0].ports[0].protocol == "TCP"
    assert not spec.containers[0].resources.requests
    assert not spec.tolerations


def test_volumes_that_nothing_reads_are_dropped_when_stored() -> None:
    claim = {"persistentVolumeClaim": {"claimName": "x"}}
    own = volumes({"emptyDir": {}}, claim, {"configMap": {"name": "c"}}, {})
    spec = stored(Pod, {"spec": {"containers": [CONTAINER], **own}}).spec
    # A volume without a source is an empty directory.
    assert [volume.name for volume in spec.volumes] == ["v0", "v1", "v3"]


def test_claim_with_the_class_annotation_gets_no_other_class() -> None:
    annotations = {"volume.beta.kubernetes.io/storage-class": ""}
    metadata = {"name": "a", "annotations": annotations}
    claim = stored(PersistentVolumeClaim, {"metadata": metadata, "spec": CLAIM})
    assert claim.spec.storage_class_name is None
