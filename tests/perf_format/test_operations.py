"""The effects of each operation of the format."""

import re
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from quaymaster.objects import (
    CSINode,
    Namespace,
    PersistentVolume,
    PersistentVolumeClaim,
    Quantity,
    ResourceClaim,
    ResourceSlice,
    Service,
)
from tests.kit.internals.perf import PerfErrors, WorkloadError
from tests.perf_format.bench import Bench

NODES = {"opcode": "createNodes", "count": 2}
SELECTED = {"nodeSelector": {"chosen": "yes"}}
GATED = {"schedulingGates": [{"name": "example.com/hold"}]}


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    return Bench(tmp_path)


def test_create_nodes_makes_upstreams_base_node(bench: Bench) -> None:
    bench.play(NODES)
    node = bench.nodes[0]
    assert re.fullmatch(r"node-0-\w{5}", node.name)
    assert node.labels["kubernetes.io/hostname"] == node.name
    assert node.status.allocatable == {
        "pods": Quantity(110),
        "cpu": Quantity(4),
        "memory": Quantity("32Gi"),
    }


def test_create_nodes_fills_in_a_template(bench: Bench) -> None:
    text = (
        "apiVersion: v1\nkind: Node\nmetadata: {name: 'node-{{ .Index }}'}\n"
        "status: {capacity: {cpu: '{{ .Count }}'}}"
    )
    path = bench.template("Node", text)
    bench.play({**NODES, "nodeTemplatePath": path})
    assert [node.name for node in bench.nodes] == ["node-0", "node-1"]
    assert bench.nodes[1].status.allocatable == {"cpu": Quantity(2)}


def test_create_nodes_labels_with_one_value_after_the_other(bench: Bench) -> None:
    strategy = {"labelKey": "zone", "labelValues": ["a", "b"]}
    bench.play({**NODES, "count": 3, "labelNodePrepareStrategy": strategy})
    assert [node.labels["zone"] for node in bench.nodes] == ["a", "b", "a"]


def test_create_nodes_labels_uniquely(bench: Bench) -> None:
    bench.play({**NODES, "uniqueNodeLabelStrategy": {"labelKey": "own"}})
    assert len({node.labels["own"] for node in bench.nodes}) == 2


def test_create_nodes_adds_allocatable_and_limits_of_drivers(bench: Bench) -> None:
    strategy = {
        "nodeAllocatable": {"example.com/disks": "39"},
        "csiNodeAllocatable": {"ebs.csi.aws.com": {"count": 39}},
        "migratedPlugins": ["kubernetes.io/aws-ebs"],
    }
    bench.play({**NODES, "nodeAllocatableStrategy": strategy})
    node, csi = bench.nodes[0], bench.all(CSINode)[0]
    assert node.status.allocatable["example.com/disks"] == Quantity(39)
    assert node.status.allocatable["cpu"] == Quantity(4)
    assert csi.name == node.name
    assert csi.annotations == {
        "storage.alpha.kubernetes.io/migrated-plugins": "kubernetes.io/aws-ebs"
    }
    assert csi.spec.drivers[0].allocatable.count == 39


def test_create_namespaces_numbers_them(bench: Bench) -> None:
    path = bench.template("Namespace", metadata={"labels": {"team": "devops"}})
    bench.play(
        {
            "opcode": "createNamespaces",
            "prefix": "ns",
            "count": 2,
            "namespaceTemplatePath": path,
        }
    )
    made = {namespace.name: namespace.labels for namespace in bench.all(Namespace)}
    assert made["ns-1"]["team"] == made["ns-0"]["team"] == "devops"


def test_create_pods_waits_until_all_have_a_node(bench: Bench) -> None:
    bench.play(NODES, {"opcode": "createPods", "count": 3, "collectMetrics": True})
    assert all(pod.node_name for pod in bench.pods)
    assert {pod.namespace for pod in bench.pods} == {"namespace-1"}
    (measured,) = bench.measurements
    assert (measured.nodes, measured.pods, measured.scheduled) == (2, 3, 3)
    assert measured.name == "namespace-1"
    assert measured.throughput.average > 0
    assert measured.attempts == {"scheduled": 3}


def test_create_pods_uses_the_template_of_the_case_unless_it_has_its_own(
    bench: Bench,
) -> None:
    common = bench.template("Pod", metadata={"generateName": "common-"})
    own = bench.template("Pod", metadata={"generateName": "own-"})
    create = {"opcode": "createPods", "count": 1}
    bench.play(
        NODES,
        create,
        {**create, "podTemplatePath": own, "namespace": "mine"},
        defaultPodTemplatePath=common,
    )
    bases = {pod.namespace: pod.metadata.generate_name for pod in bench.pods}
    assert bases == {"namespace-1": "common-", "mine": "own-"}


def test_create_pods_does_not_wait_if_it_is_told_so(bench: Bench) -> None:
    path = bench.template("Pod", metadata={"generateName": "a-"}, spec=SELECTED)
    create = {"opcode": "createPods", "count": 2, "podTemplatePath": path}
    bench.play(NODES, {**create, "skipWaitToCompletion": True})
    assert [pod.node_name for pod in bench.pods] == ["", ""]


def test_create_pods_gives_up_on_pods_that_find_no_node(bench: Bench) -> None:
    path = bench.template("Pod", metadata={"generateName": "a-"}, spec=SELECTED)
    create = {"opcode": "createPods", "count": 2, "podTemplatePath": path}
    message = (
        r"operation 1 \(createPods\): namespace namespace-1: 0 of 2 pods have a node "
        r"after 600 seconds; namespace-1/a-\w+: 0/2 nodes are available: 2 node\(s\) "
        "didn't match Pod's node affinity/selector"
    )
    with pytest.raises(WorkloadError, match=message):
        bench.play(NODES, create)


def test_create_pods_gives_each_pod_a_volume_that_is_bound_to_its_claim(
    bench: Bench,
) -> None:
    size, modes = {"storage": "1Gi"}, ["ReadWriteOnce"]
    csi = {"driver": "example.com"}
    volume = bench.template(
        "PersistentVolume", spec={"csi": csi, "capacity": size, "accessModes": modes}
    )
    claim = bench.template(
        "PersistentVolumeClaim",
        spec={"accessModes": modes, "resources": {"requests": size}},
    )
    bench.play(
        NODES,
        {
            "opcode": "createPods",
            "count": 2,
            "persistentVolumeTemplatePath": volume,
            "persistentVolumeClaimTemplatePath": claim,
        },
    )
    made = bench.all(PersistentVolume)[1]
    assert made.name == made.spec.csi.volume_handle == "namespace-1-vol-1"
    assert made.spec.claim_ref.name == "pvc-1"
    assert bench.all(PersistentVolumeClaim)[1].spec.volume_name == made.name
    (used,) = bench.pods[1].spec.volumes
    assert used.persistent_volume_claim is not None
    assert used.persistent_volume_claim.claim_name == "pvc-1"
    assert all(pod.node_name for pod in bench.pods)


def test_create_pods_keeps_a_steady_state_until_time_is_up(bench: Bench) -> None:
    create = {"opcode": "createPods", "count": 3, "collectMetrics": True}
    bench.play(NODES, {**create, "steadyState": True, "duration": "20ms"})
    (measured,) = bench.measurements
    assert measured.scheduled >= 3
    assert len(bench.pods) <= 3


def test_a_steady_state_without_any_pod_on_a_node_is_an_error(bench: Bench) -> None:
    create = {"opcode": "createPods", "count": 3, "collectMetrics": True}
    with pytest.raises(WorkloadError, match="no pod got a node in time"):
        bench.play({**create, "steadyState": True, "duration": "1h"})


def test_create_pod_sets_makes_the_same_pods_in_each_namespace(bench: Bench) -> None:
    bench.play(
        NODES,
        {
            "opcode": "createPodSets",
            "count": 3,
            "namespacePrefix": "set",
            "createPodsOp": {"opcode": "createPods", "count": 2},
        },
    )
    counts = Counter(pod.namespace for pod in bench.pods)
    assert counts == {"set-0": 2, "set-1": 2, "set-2": 2}


def test_create_any_makes_objects_of_any_kind(bench: Bench) -> None:
    service = bench.template("Service", metadata={"generateName": "s-"})
    any_op = {"opcode": "createAny", "templatePath": service, "namespace": "here"}
    bench.play({**any_op, "count": 2})
    assert [item.namespace for item in bench.all(Service)] == ["here", "here"]


def test_update_any_makes_a_pod_fit(bench: Bench) -> None:
    old = bench.template("Pod", metadata={"name": "a"}, spec=SELECTED)
    new = bench.template("Pod", metadata={"name": "a", "labels": {"new": "yes"}})
    bench.play(
        NODES,
        {
            "opcode": "createPods",
            "count": 1,
            "podTemplatePath": old,
            "namespace": "ns",
            "skipWaitToCompletion": True,
        },
        {"opcode": "barrier", "stageRequirement": "Attempted"},
        {"opcode": "updateAny", "templatePath": new, "namespace": "ns"},
        {"opcode": "barrier"},
    )
    (pod,) = bench.pods
    assert pod.node_name
    assert pod.labels == {"new": "yes"}


def test_update_any_replaces_so_many_per_second_of_the_workloads_time(
    bench: Bench,
) -> None:
    text = (
        "apiVersion: v1\nkind: Node\nmetadata: {name: 'n-{{ .Index }}', labels: "
        "{%s: '1'}}\nstatus: {capacity: {cpu: 4}}"
    )
    old, new = (bench.template("Node", text % label) for label in ("old", "new"))
    update = {"opcode": "updateAny", "templatePath": new, "count": 2}
    bench.play(
        {**NODES, "nodeTemplatePath": old},
        {**update, "updatePerSecond": 1},
    )
    assert all("new" in node.labels for node in bench.nodes)
    assert all("old" not in node.labels for node in bench.nodes)
    assert bench.world.clock.skipped > 1


def test_update_any_of_resize_changes_nothing_but_resources(bench: Bench) -> None:
    asks = {"requests": {"cpu": "100m"}}
    container = {"name": "main", "image": "pause", "resources": asks}
    old = bench.template("Pod", metadata={"name": "a", "labels": {"kept": "yes"}})
    new = bench.template(
        "Pod", metadata={"name": "a"}, spec={"containers": [container]}
    )
    update = {"opcode": "updateAny", "templatePath": new, "namespace": "ns"}
    bench.play(
        NODES,
        {"opcode": "createPods", "count": 1, "podTemplatePath": old, "namespace": "ns"},
        {**update, "subresources": ["resize"]},
    )
    (pod,) = bench.pods
    assert pod.labels == {"kept": "yes"}
    assert pod.spec.containers[0].resources.requests == {"cpu": Quantity("100m")}


def test_update_any_of_what_is_not_there_is_an_error(bench: Bench) -> None:
    path = bench.template("Node", metadata={"name": "gone"})
    with pytest.raises(WorkloadError, match=r"operation 0 \(updateAny\): Node gone"):
        bench.play({"opcode": "updateAny", "templatePath": path})


def test_delete_pods_deletes_those_with_the_labels(bench: Bench) -> None:
    kept = bench.template("Pod", metadata={"generateName": "kept-"})
    short = {"terminationGracePeriodSeconds": 0}
    gone = bench.template(
        "Pod", metadata={"generateName": "gone-", "labels": {"a": "b"}}, spec=short
    )
    create = {"opcode": "createPods", "count": 2, "namespace": "ns"}
    bench.play(
        NODES,
        {**create, "podTemplatePath": kept},
        {**create, "podTemplatePath": gone, "skipWaitToCompletion": True},
        {"opcode": "sleep", "duration": "1s"},
        {"opcode": "deletePods", "namespace": "ns", "labelSelector": {"a": "b"}},
    )
    assert [pod.metadata.generate_name for pod in bench.pods] == ["kept-", "kept-"]


@pytest.mark.parametrize(("skips", "left"), [(False, 0), (True, 3)])
def test_delete_pods_takes_its_time(bench: Bench, skips: bool, left: int) -> None:
    short = {"terminationGracePeriodSeconds": 0}
    path = bench.template("Pod", metadata={"generateName": "a-"}, spec=short)
    delete = {"opcode": "deletePods", "namespace": "ns", "deletePodsPerSecond": 1}
    bench.play(
        NODES,
        {
            "opcode": "createPods",
            "count": 4,
            "podTemplatePath": path,
            "namespace": "ns",
        },
        {**delete, "skipWaitToCompletion": skips},
        {"opcode": "sleep", "duration": "1500ms"},
    )
    assert len(bench.pods) == left


def test_churn_creates_at_an_interval_up_to_a_number(bench: Bench) -> None:
    path = bench.template("Pod", metadata={"generateName": "a-"}, spec=SELECTED)
    churn = {"opcode": "churn", "mode": "create", "templatePaths": [path]}
    sleep = {"opcode": "sleep", "duration": "3500ms"}
    bench.play(NODES, {**churn, "intervalMilliseconds": 1000}, sleep)
    assert len(bench.pods) == 3
    bench.play(NODES, {**churn, "number": 5, "namespace": "ns"}, sleep)
    assert len(bench.pods) == 5
    assert {pod.namespace for pod in bench.pods} == {"ns"}


@pytest.mark.long
def test_churn_recreates_in_turn(bench: Bench) -> None:
    pod = bench.template("Pod", metadata={"generateName": "a-"}, spec=SELECTED)
    node = bench.template("Node", metadata={"generateName": "n-"})
    churn = {"opcode": "churn", "mode": "recreate", "number": 2}
    counts = []
    for seconds in (1.5, 2.5, 3.5, 4.5, 5.5):
        bench.play(
            {
                **churn,
                "templatePaths": [pod, node],
                "intervalMilliseconds": 1000,
            },
            {"opcode": "sleep", "duration": f"{seconds}s"},
        )
        counts.append((len(bench.pods), len(bench.nodes)))
    assert counts == [(1, 1), (2, 2), (1, 1), (0, 0), (1, 1)]


def test_a_barrier_waits_for_pods_that_were_not_waited_for(bench: Bench) -> None:
    create = {"opcode": "createPods", "count": 2, "skipWaitToCompletion": True}
    bench.play(
        NODES,
        {**create, "namespace": "a"},
        {**create, "namespace": "b"},
        {"opcode": "barrier", "namespaces": ["a"]},
        {"opcode": "barrier"},
    )
    assert all(pod.node_name for pod in bench.pods)


def test_a_barrier_can_wait_for_attempts_only(bench: Bench) -> None:
    unfit = bench.template("Pod", metadata={"generateName": "a-"}, spec=SELECTED)
    gated = bench.template("Pod", metadata={"generateName": "b-"}, spec=GATED)
    create = {"opcode": "createPods", "count": 2, "skipWaitToCompletion": True}
    bench.play(
        NODES,
        {**create, "podTemplatePath": unfit},
        {**create, "podTemplatePath": gated},
        {"opcode": "barrier", "stageRequirement": "Attempted"},
    )
    reasons = Counter(pod.status.conditions[0].reason for pod in bench.pods)
    assert reasons == {"Unschedulable": 2, "SchedulingGated": 2}


def test_a_barrier_can_wait_for_pods_with_labels_only(bench: Bench) -> None:
    labelled = {"generateName": "a-", "labels": {"type": "one"}}
    unfit = bench.template("Pod", metadata={"generateName": "b-"}, spec=SELECTED)
    fit = bench.template("Pod", metadata=labelled)
    create = {"opcode": "createPods", "count": 2, "namespace": "ns"}
    bench.play(
        NODES,
        {**create, "podTemplatePath": fit, "skipWaitToCompletion": True},
        {"opcode": "barrier", "labelSelector": {"type": "one"}},
        {**create, "podTemplatePath": unfit, "skipWaitToCompletion": True},
    )
    assert sum(bool(pod.node_name) for pod in bench.pods) == 2


def test_a_barrier_on_an_unknown_namespace_is_an_error(bench: Bench) -> None:
    with pytest.raises(WorkloadError, match="no operation has made the namespace 'a'"):
        bench.play({"opcode": "barrier", "namespaces": ["a"]})


def test_sleep_lets_the_workloads_time_pass(bench: Bench) -> None:
    bench.play({"opcode": "sleep", "duration": "1h"})
    # A busy machine takes a second for what else the operation does.
    assert 3500 < bench.world.clock.skipped <= 3600


def test_measuring_covers_the_named_namespaces_and_labels(bench: Bench) -> None:
    labelled = {"generateName": "a-", "labels": {"type": "one"}}
    path = bench.template("Pod", metadata=labelled)
    create = {"opcode": "createPods", "count": 2}
    bench.play(
        NODES,
        {**create, "namespace": "a"},
        {
            "opcode": "startCollectingMetrics",
            "name": "some",
            "namespaces": ["a", "b"],
            "labelSelector": {"type": "one"},
        },
        {**create, "namespace": "a"},
        {**create, "namespace": "b", "podTemplatePath": path},
        {**create, "namespace": "c", "podTemplatePath": path},
        {"opcode": "stopCollectingMetrics"},
    )
    (measured,) = bench.measurements
    assert (measured.name, measured.pods, measured.scheduled) == ("some", 2, 2)
    assert measured.attempts == {"scheduled": 6}


START = {"opcode": "startCollectingMetrics", "namespaces": ["a"]}
STOP = {"opcode": "stopCollectingMetrics"}


@pytest.mark.parametrize(
    ("operations", "message"),
    [
        ([START, START, STOP], "something else is being measured"),
        ([STOP], "nothing is being measured"),
    ],
)
def test_measuring_has_one_begin_and_one_end(
    bench: Bench, operations: list[dict[str, object]], message: str
) -> None:
    with pytest.raises(WorkloadError, match=message):
        bench.play(*operations)


def test_fields_of_templates_may_be_written_in_any_case(bench: Bench) -> None:
    spread = {
        "maxSkew": 1,
        "topologyKey": "zone",
        "whenUnsatisfiable": "DoNotSchedule",
        "NodeTaintsPolicy": "Honor",
    }
    path = bench.template(
        "Pod",
        metadata={"generateName": "a-", "labels": {"NodeName": "PerTemplate"}},
        spec={"TopologySpreadConstraints": [spread], **GATED},
    )
    create = {"opcode": "createPods", "count": 1, "podTemplatePath": path}
    bench.play({**create, "skipWaitToCompletion": True})
    (pod,) = bench.pods
    (constraint,) = pod.spec.topology_spread_constraints
    assert constraint.node_taints_policy == "Honor"
    assert pod.labels == {"NodeName": "PerTemplate"}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{{ .Name }}", r"\.yaml: line 1: unknown field '\.Name'"),
        ("{{ Mod 1 0 }}", r"\.yaml: line 1: {{ Mod 1 0 }}: "),
        ("a: [", r"\.yaml: line 2, column 1: "),
        ("- a", r"\.yaml: expected one object, got a list"),
        ("apiVersion: v1\nkind: Node", r"\.yaml: kind: expected 'Pod', got 'Node'"),
        ("apiVersion: v1\nkind: Pot", r"\.yaml: kind: expected 'Pod', got 'Pot'"),
        (
            "apiVersion: v1\nkind: Pod\nspec: {priority: high}",
            r"\.yaml: spec\.priority: expected an integer, got 'high'",
        ),
    ],
)
def test_a_template_that_is_wrong_is_told_with_its_file(
    bench: Bench, text: str, message: str
) -> None:
    create = {"opcode": "createPods", "count": 1}
    path = bench.template("Pod", text)
    with pytest.raises(PerfErrors, match=message):
        bench.play({**create, "podTemplatePath": path})


def test_a_template_that_is_missing_is_told_with_its_file(bench: Bench) -> None:
    with pytest.raises(PerfErrors, match=r"none\.yaml: no such file"):
        bench.play({"opcode": "createAny", "templatePath": "none.yaml"})


DRIVER = {"driverName": "gpu.example.com", "maxClaimsPerNode": 2, "nodes": "n-*"}
CLAIM: dict[str, Any] = {
    "metadata": {"name": "claim-{{.Index}}"},
    "spec": {
        "devices": {"requests": [{"name": "r", "exactly": {"deviceClassName": "c"}}]}
    },
}


def devices_of(bench: Bench, claims: int) -> None:
    """Play claims that get their devices without a pod."""
    api: dict[str, Any] = {"apiVersion": "resource.k8s.io/v1beta2"}
    node = bench.template("Node", metadata={"generateName": "n-"})
    device_class = bench.template("DeviceClass", **api, metadata={"name": "c"})
    claim = bench.template("ResourceClaim", **api, **CLAIM)
    bench.play(
        {"opcode": "createNodes", "count": 1},
        {"opcode": "createNodes", "count": 2, "nodeTemplatePath": node},
        {"opcode": "createResourceDriver", **DRIVER},
        {"opcode": "createAny", "templatePath": device_class},
        {
            "opcode": "createResourceClaims",
            "templatePath": claim,
            "namespace": "init",
            "count": claims,
        },
        {"opcode": "allocResourceClaims", "namespace": "init"},
    )


def test_claims_get_devices_of_the_nodes_that_have_some(bench: Bench) -> None:
    devices_of(bench, 4)
    slices = bench.all(ResourceSlice)
    assert {item.spec.node_name for item in slices} == {
        node.name for node in bench.nodes if node.name.startswith("n-")
    }
    results = [
        result
        for claim in bench.all(ResourceClaim)
        if claim.status.allocation is not None
        for result in claim.status.allocation.devices.results
    ]
    assert len({(result.pool, result.device) for result in results}) == 4


def test_claims_that_get_no_devices_end_the_workload(bench: Bench) -> None:
    with pytest.raises(WorkloadError, match="init/claim-4: no node has its devices"):
        devices_of(bench, 5)


def test_rules_that_the_scheduler_does_not_look_at_are_passed_over(
    bench: Bench,
) -> None:
    text = "apiVersion: resource.k8s.io/v1alpha3\nkind: DeviceTaintRule"
    path = bench.template("DeviceTaintRule", text)
    bench.play({"opcode": "createAny", "templatePath": path})
