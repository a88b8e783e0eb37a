"""Suggestions are safe: they keep facts about nodes and propose possible nodes."""

from collections.abc import Sequence
from typing import Any

import pytest

from quaymaster import ApiObject, Node
from quaymaster.objects import CSINode, Taint
from quaymaster.simulation import ChangeKind, Suggestions, suggest_changes
from quaymaster.testing import (
    make_csi_node,
    make_deployment,
    make_node,
    make_persistent_volume,
    make_persistent_volume_claim,
    make_pod,
    make_priority_class,
    make_resource_slice,
    make_spread_constraint,
    make_stateful_set,
)
from tests.kit.internals.why import (
    can_be_ignored,
    is_fact,
    is_protective,
    yaml_scalar,
)
from tests.kit.rollouts import half_rolled_out

ZONE = "topology.kubernetes.io/zone"
FACTS = (
    "kubernetes.io/arch",
    "kubernetes.io/os",
    "kubernetes.io/hostname",
    ZONE,
    "topology.kubernetes.io/region",
    "failure-domain.beta.kubernetes.io/zone",
    "node.kubernetes.io/instance-type",
    "nvidia.com/gpu.product",
    "feature.node.kubernetes.io/cpu-model.family",
    "eks.amazonaws.com/nodegroup",
    "eks.amazonaws.com/capacityType",
    "cloud.google.com/gke-accelerator",
    "cloud.google.com/gke-spot",
    "kubernetes.azure.com/scalesetpriority",
    "karpenter.sh/capacity-type",
    "karpenter.k8s.aws/instance-family",
    "node-role.kubernetes.io/worker",
    "agentpool",
    "acme.com/gpu-model",
    "instance-type",
    "node.openshift.io/os_id",
    "machine.openshift.io/interruptible-instance",
    "topology.ebs.csi.aws.com/zone",
    "cilium.io/no-schedule",
    "worker.gardener.cloud/pool",
    "cast.ai/node-id",
    "gpu.nvidia.com/class",
    "acme.com/gpuModel",
    "acme.com/datacenter",
    "nodepool",
    "kubevirt.io/schedulable",
    "cpu-model.node.kubevirt.io/Skylake",
    "acme.com/rdma",
    "acme.com/sriov-capable",
    "hugepages",
    "failure-domain",
    "az",
)
PROTECTIVE = (
    "node-role.kubernetes.io/control-plane:NoSchedule",
    "node-role.kubernetes.io/master:NoSchedule",
    "node.kubernetes.io/not-ready:NoExecute",
    "node.kubernetes.io/out-of-service=nodeshutdown:NoExecute",
    "node.cloudprovider.kubernetes.io/uninitialized=true:NoSchedule",
    "node.cilium.io/agent-not-ready:NoExecute",
    "ebs.csi.aws.com/agent-not-ready:NoExecute",
    "ToBeDeletedByClusterAutoscaler=1700000000:NoSchedule",
    "DeletionCandidateOfClusterAutoscaler=1:PreferNoSchedule",
    "karpenter.sh/disrupted:NoSchedule",
    "eks.amazonaws.com/compute-type=fargate:NoSchedule",
    "virtual-kubelet.io/provider=azure:NoSchedule",
    "weave.works/kured-node-reboot:NoSchedule",
    "kubernetes.io/arch=arm64:NoSchedule",
    "os=windows:NoSchedule",
    "sandbox.gke.io/runtime=gvisor:NoSchedule",
    "components.gke.io/gke-managed-components:NoSchedule",
    "efs.csi.aws.com/agent-not-ready:NoExecute",
    "node.istio.io/cni-not-ready:NoSchedule",
    "acme.com/maintenance:NoSchedule",
    "aws-node-termination-handler/spot-itn:NoSchedule",
    "UpdateInProgress:NoSchedule",
    "node.ocs.openshift.io/storage=true:NoSchedule",
    "metal3.io/remediation:NoSchedule",
    "kubevirt.io/drain:NoSchedule",
    "nvidia.com/gpu.xid-errors:NoSchedule",
    "node-problem-detector/kernel-deadlock=true:NoSchedule",
    "node-role.kubernetes.io/etcd=true:NoExecute",
    "k3s-controlplane=true:NoExecute",
    "cattle.io/os=linux:NoSchedule",
    "node.longhorn.io/create-default-disk=true:NoSchedule",
    "acme.com/pci-scope=true:NoSchedule",
    "hardware=flaky-nic:NoSchedule",
    "do-not-schedule=ticket-123:NoSchedule",
)
NEEDED = (
    ("kubernetes.io/arch", "arm64"),
    ("node.kubernetes.io/instance-type", "p5.48xlarge"),
    ("karpenter.k8s.aws/instance-family", "c7g"),
    ("cloud.google.com/machine-family", "c3"),
    ("feature.node.kubernetes.io/cpu-cpuid.AVX512F", "true"),
    ("cloud.google.com/gke-accelerator", "nvidia-tesla-t4"),
    ("nvidia.com/gpu.product", "NVIDIA-H100"),
    ("node-restriction.kubernetes.io/tenant", "a"),
    ("karpenter.sh/capacity-type", "on-demand"),
    ("eks.amazonaws.com/capacityType", "ON_DEMAND"),
    ("kubernetes.azure.com/os-sku", "Ubuntu"),
    ("kubevirt.io/schedulable", "true"),
    ("acme.com/rdma", "true"),
    ("env", "prod"),
    ("data-classification", "secret"),
    ("runtime", "kata"),
    ("acme.com/region", "eu"),
)
"""Labels that a pod cannot do without."""
WISHED = (
    ("disk", "ssd"),
    ("topology.kubernetes.io/zone", "z1"),
    ("eks.amazonaws.com/nodegroup", "general"),
    ("karpenter.sh/capacity-type", "spot"),
    ("eks.amazonaws.com/capacityType", "SPOT"),
    ("cloud.google.com/gke-spot", "true"),
)
ORDINARY_LABELS = ("disk", "team", "acme.com/tier", "example.com/pool")
ORDINARY_TAINTS = (
    "dedicated=gpu:NoSchedule",
    "nvidia.com/gpu:NoSchedule",
    "kubernetes.azure.com/scalesetpriority=spot:NoSchedule",
    "acme.com/batch:NoSchedule",
    "cloud.google.com/gke-spot=true:NoSchedule",
)


def taint(text: str) -> Taint:
    [parsed] = make_node(taints=[text]).spec.taints
    return parsed


def suggested(name: str, *objects: ApiObject) -> Suggestions:
    return suggest_changes(name, objects)


def kinds(answer: Suggestions) -> Sequence[ChangeKind]:
    return [change.kinds[0] for change in answer.changes]


def new_objects(answer: Suggestions, *objects: ApiObject) -> dict[type, Any]:
    [change] = [each for each in answer.changes if ChangeKind.ADD_NODE in each.kinds]
    return {type(obj): obj for obj in change.apply(objects)[len(objects) :]}


@pytest.mark.parametrize("key", FACTS)
def test_label_that_describes_a_node_is_a_fact(key: str) -> None:
    assert is_fact(key)


@pytest.mark.parametrize("key", ORDINARY_LABELS)
def test_label_of_an_owner_is_not_a_fact(key: str) -> None:
    assert not is_fact(key)


@pytest.mark.parametrize(("key", "value"), NEEDED)
def test_label_that_a_program_needs_cannot_be_ignored(key: str, value: str) -> None:
    assert not can_be_ignored(key, (value,))


@pytest.mark.parametrize(("key", "value"), WISHED)
def test_label_that_a_user_wishes_can_be_ignored(key: str, value: str) -> None:
    assert can_be_ignored(key, (value,))


@pytest.mark.parametrize("text", PROTECTIVE)
def test_taint_that_protects_is_recognised(text: str) -> None:
    assert is_protective(taint(text))


@pytest.mark.parametrize("text", ORDINARY_TAINTS)
def test_taint_that_reserves_nodes_may_be_tolerated(text: str) -> None:
    assert not is_protective(taint(text))


@pytest.mark.parametrize(("key", "value"), NEEDED)
def test_no_node_gets_a_label_that_a_program_needs(key: str, value: str) -> None:
    pod = make_pod(name="p", node_selector={key: value})
    answer = suggested("p", make_node(name="a"), pod)
    assert ChangeKind.LABEL_NODE not in kinds(answer)
    assert ChangeKind.SELECTOR not in kinds(answer)


@pytest.mark.parametrize(
    "text", ["nvidia.com/gpu:NoSchedule", "google.com/tpu=present:NoSchedule"]
)
def test_nodes_with_devices_are_kept_for_pods_that_request_some(text: str) -> None:
    node = make_node(
        name="a", taints=[text], allocatable={"x.io/gpu": "1", "cpu": "4", "pods": "9"}
    )
    plain = make_pod(name="p", requests={"cpu": "1"})
    assert suggested("p", node, plain).changes == ()
    gpus = {"x.io/gpu": "1"}
    pod = make_pod(name="p", requests=gpus, limits=gpus)
    assert kinds(suggested("p", node, pod)) == [ChangeKind.TOLERATION]


@pytest.mark.parametrize(
    "text",
    [
        "cloud.google.com/gke-spot=true:NoSchedule",
        "kubernetes.azure.com/scalesetpriority=spot:NoSchedule",
        "oci.oraclecloud.com/oke-is-preemptible=present:NoSchedule",
    ],
)
def test_toleration_of_spot_nodes_warns_of_interruptions(text: str) -> None:
    answer = suggested("p", make_node(name="a", taints=[text]), make_pod(name="p"))
    [change] = answer.changes
    assert change.kinds == (ChangeKind.RESERVED_NODES,)
    assert change.text.endswith(", if its pods may be interrupted at any time")


@pytest.mark.long
def test_missing_label_without_a_value_is_named() -> None:
    pod = make_pod(name="p", node_selector={"acme.com/infra": ""})
    answer = suggested("p", make_node(name="a"), pod)
    [remark] = answer.remarks
    assert remark.startswith("no node has acme.com/infra=; ")


@pytest.mark.parametrize("key", FACTS)
def test_no_node_gets_a_label_that_is_a_fact(key: str) -> None:
    node = make_node(name="a", labels={key: "old"})
    pod = make_pod(name="p", node_selector={key: "new"})
    answer = suggested("p", node, pod)
    assert ChangeKind.LABEL_NODE not in kinds(answer)
    assert answer.remarks[0].startswith(f"no node has {key}=new; existing values: ")


def test_label_that_a_node_has_keeps_its_value() -> None:
    node = make_node(name="a", labels={"disk": "hdd"})
    answer = suggested("p", node, make_pod(name="p", node_selector={"disk": "ssd"}))
    assert kinds(answer) == [ChangeKind.SELECTOR, ChangeKind.ADD_NODE]
    assert answer.remarks == ("no node has disk=ssd; existing values: hdd (1 node)",)


@pytest.mark.parametrize("text", PROTECTIVE[:2])
def test_protective_taint_is_not_tolerated(text: str) -> None:
    answer = suggested("p", make_node(name="a", taints=[text]), make_pod(name="p"))
    assert answer.changes == ()
    assert answer.remarks == (
        f"all nodes have taints that protect them: {taint(text).key} (1 node)",
    )


def test_requirement_of_an_architecture_is_not_removed() -> None:
    node = make_node(name="a", labels={"kubernetes.io/arch": "amd64"})
    pod = make_pod(name="p", node_selector={"kubernetes.io/arch": "arm64"})
    answer = suggested("p", node, pod)
    assert kinds(answer) == [ChangeKind.ADD_NODE]
    assert answer.changes[0].text == (
        "add one node like a, with kubernetes.io/arch=arm64 (tried with the resources "
        "of a)"
    )


def test_value_of_a_toleration_is_quoted() -> None:
    node = make_node(name="a", taints=["dedicated=1:NoSchedule"])
    answer = suggested("p", node, make_pod(name="p"))
    [field] = answer.changes[0].fields
    assert (
        field.new == '{key: dedicated, operator: Equal, value: "1", effect: NoSchedule}'
    )


def test_new_node_has_one_zone_and_its_region() -> None:
    labels = {"topology.ebs.csi.aws.com/zone": "eu-1a"}
    old = make_node(name="a", zone="eu-1a", region="eu-1", labels=labels)
    other = make_node(name="b", zone="us-1a", region="us-1", allocatable={"cpu": "0"})
    pod = make_pod(name="p", node_selector={ZONE: "us-1a"}, requests={"cpu": "1"})
    node = new_objects(suggested("p", old, other, pod), old, other, pod)[Node]
    assert node.labels[ZONE] == node.labels["topology.ebs.csi.aws.com/zone"] == "us-1a"
    assert node.labels["topology.kubernetes.io/region"] == "us-1"


def test_new_node_comes_with_the_objects_of_its_model() -> None:
    node = make_node(name="a", allocatable={"cpu": "1", "pods": "9"})
    csi_node = make_csi_node(name="a", limits={"csi.example.com": 3})
    devices = make_resource_slice(node="a", devices=2)
    pods = [
        make_pod(name="x", node="a", requests={"cpu": "1"}),
        make_pod(name="p", requests={"cpu": "1"}),
    ]
    objects = [node, csi_node, devices, *pods]
    new = new_objects(suggested("p", *objects), *objects)
    name = new[Node].name
    assert new[CSINode].name == name
    [copied] = [obj for obj in new.values() if obj.kind == "ResourceSlice"]
    assert copied.spec.node_name == copied.spec.pool.name == name


def test_new_node_is_open_and_has_no_passing_taint() -> None:
    node = make_node(
        name="a",
        unschedulable=True,
        taints=["ToBeDeletedByClusterAutoscaler=1:NoSchedule", "team=a:NoSchedule"],
    )
    pod = make_pod(name="p", tolerations=["team"])
    new = new_objects(suggested("p", node, pod), node, pod)[Node]
    assert not new.spec.unschedulable
    assert [each.key for each in new.spec.taints] == ["team"]


def test_node_of_the_control_plane_is_not_copied() -> None:
    node = make_node(
        name="a",
        labels={"node-role.kubernetes.io/control-plane": ""},
        allocatable={"cpu": "1", "pods": "9"},
    )
    pods = [
        make_pod(name="x", node="a", requests={"cpu": "1"}),
        make_pod(name="p", requests={"cpu": "900m"}),
    ]
    assert ChangeKind.ADD_NODE not in kinds(suggested("p", node, *pods))


@pytest.mark.long
def test_several_nodes_are_offered_and_plan_is_named() -> None:
    node = make_node(name="a", allocatable={"cpu": "2", "pods": "9"})
    web = make_deployment(name="web", replicas=5, pod=make_pod(requests={"cpu": "2"}))
    answer = suggested("deploy/web", node, web)
    [change] = [each for each in answer.changes if ChangeKind.ADD_NODE in each.kinds]
    assert change.text == (
        "add 4 nodes like a; 'quaymaster plan' looks for the cheapest nodes"
    )


@pytest.mark.parametrize(
    ("requests", "remark"),
    [
        ({"cpu": "120"}, "no node offers cpu 120; the largest has 96"),
        ({"nvidia.com/gpu": "1"}, "no node offers nvidia.com/gpu"),
    ],
)
def test_resource_that_no_node_has_is_named(
    requests: dict[str, str], remark: str
) -> None:
    nodes = [make_node(name="a", allocatable={"cpu": "96", "pods": "9"})]
    pod = make_pod(name="p", requests=requests, limits=requests)
    assert remark in suggested("p", *nodes, pod).remarks


def test_equal_priorities_and_the_class_that_helps_are_named() -> None:
    node = make_node(name="a", allocatable={"cpu": "1", "pods": "9"})
    pods = [
        make_pod(name="x", node="a", requests={"cpu": "1"}),
        make_pod(name="p", requests={"cpu": "900m"}, priority=None),
    ]
    classes = [make_priority_class(name=f"c{value}", value=value) for value in (5, 9)]
    answer = suggested("p", node, *pods, *classes)
    assert answer.remarks == (
        "all running pods have priority 0, this one has 0: none can be preempted",
    )
    last = answer.changes[-1]
    assert (last.text, last.evicted) == ("give pod/p the priority class c5", 1)


def test_place_of_a_volume_and_a_claim_that_is_missing_are_named() -> None:
    node = make_node(name="a", zone="z1")
    claim = make_persistent_volume_claim(name="data", volume="v")
    volume = make_persistent_volume(name="v", node_labels={ZONE: "z2"})
    pod = make_pod(name="p", claims=["data"])
    assert suggested("p", node, claim, volume, pod).remarks == (
        f"claim data is volume v, which needs a node with {ZONE}=z2",
    )
    answer = suggested("p", node, pod)
    assert answer.remarks == ("claim data does not exist",)


def test_suggestion_for_a_gated_pod_shows_why_it_would_stay_pending() -> None:
    node = make_node(name="a", labels={"disk": "hdd"})
    pod = make_pod(name="p", node_selector={"disk": "ssd"}, scheduling_gates=["x.io/y"])
    answer = suggested("p", node, pod)
    assert answer.remarks[0].startswith(
        "without its gates it stays pending: 0/1 nodes are available"
    )
    assert answer.changes[0].kinds == (ChangeKind.GATES, ChangeKind.SELECTOR)


@pytest.mark.long
def test_pods_that_a_stateful_set_creates_later_get_a_node_too() -> None:
    node = make_node(name="a", allocatable={"cpu": "1500m", "pods": "9"})
    db = make_stateful_set(name="db", replicas=3, pod=make_pod(requests={"cpu": "2"}))
    assert all(len(each.kinds) > 1 for each in suggested("sts/db", node, db).changes)
    large = make_node(name="b", allocatable={"cpu": "2", "pods": "9"})
    full = make_pod(name="x", node="b", requests={"cpu": "1"})
    [change] = suggested("sts/db", large, full, db).changes
    assert change.text.startswith("add 3 nodes like b")


def test_pods_that_a_change_behind_gates_evicts_are_counted() -> None:
    node = make_node(name="a", allocatable={"cpu": "1", "pods": "9"})
    pods = [
        make_pod(name="x", node="a", requests={"cpu": "1"}),
        make_pod(
            name="p", requests={"cpu": "900m"}, priority=None, scheduling_gates=["g"]
        ),
    ]
    high = make_priority_class(name="high", value=5)
    last = suggested("p", node, *pods, high).changes[-1]
    assert last.kinds == (ChangeKind.GATES, ChangeKind.PRIORITY)
    assert (last.placed, last.evicted) == (0, 1)


@pytest.mark.long
def test_two_expressions_of_one_term_are_dropped_together() -> None:
    node = make_node(name="a")
    pod = make_pod(name="p", node_affinity={"disk": "ssd", "team": "blue"})
    changes = suggested("p", node, pod).changes
    assert [each.kinds for each in changes] == [(ChangeKind.ADD_NODE,)]
    tainted = make_node(name="a", unschedulable=True)
    [change] = suggested("p", tainted, pod).changes
    assert change.kinds == (ChangeKind.ADD_NODE,)


def test_fewer_devices_are_another_program() -> None:
    node = make_node(name="a", allocatable={"nvidia.com/gpu": "7", "pods": "9"})
    gpus = {"nvidia.com/gpu": "8"}
    answer = suggested("p", node, make_pod(name="p", requests=gpus, limits=gpus))
    assert kinds(answer) == [ChangeKind.LOWER_REQUEST_FAR]


def test_rollout_that_its_own_old_pod_blocks_deletes_that_pod_first() -> None:
    node = make_node(name="a")
    pods = [make_pod(host_ports=[80], images=[f"web:{n}"], node=n) for n in ("a", None)]
    objects = [node, *half_rolled_out("web", *pods)]
    first = suggested("deploy/web", *objects).changes[0]
    assert first.text == (
        "let deployment/web delete an old pod before it creates a new one; meanwhile "
        "it has one pod less"
    )
    [field] = first.fields
    assert (field.path, field.new) == (
        "spec.strategy",
        "{type: RollingUpdate, rollingUpdate: {maxSurge: 0, maxUnavailable: 1}}",
    )


def test_rollout_that_old_pods_keep_from_spreading_counts_its_own_revision() -> None:
    nodes = [make_node(name="a"), make_node(name="b", allocatable={"cpu": "100m"})]
    rule = make_spread_constraint(
        selector={"app": "web"}, topology_key="kubernetes.io/hostname"
    )
    fields: dict[str, Any] = {"spread": [rule], "requests": {"cpu": "1"}}
    old = make_pod(images=["web:1"], node="a", **fields)
    objects = [*nodes, *half_rolled_out("web", old, make_pod(**fields))]
    first = suggested("deploy/web", *objects).changes[0]
    assert first.kinds == (ChangeKind.MATCH_LABEL_KEYS,)
    assert first.fields[0].new == "[pod-template-hash]"


@pytest.mark.parametrize("text", ["100", "1e3", "on", "true", "2026-11-27", "a: b"])
def test_name_that_yaml_reads_as_something_else_is_quoted(text: str) -> None:
    assert yaml_scalar(text) == f'"{text}"'


@pytest.mark.long
@pytest.mark.parametrize("text", ["high", "acme.com/batch", "gp3", "v1.2", "one"])
def test_other_names_are_not_quoted(text: str) -> None:
    assert yaml_scalar(text) == text
