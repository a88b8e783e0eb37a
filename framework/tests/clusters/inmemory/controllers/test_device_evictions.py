"""Pods are evicted from devices with a taint of the effect NoExecute.

Cases follow upstream's ``pkg/controller/devicetainteviction`` (Kubernetes v1.37,
``device_taint_eviction_test.go``).
"""

from collections.abc import Iterable, Mapping

import pytest
from msgspec.structs import replace

from quaymaster import ApiObject, Pod
from quaymaster.config import Kubernetes
from quaymaster.inmemory import InMemoryCluster
from quaymaster.objects import (
    Condition,
    DeviceTaint,
    DeviceTaintRule,
    DeviceToleration,
    PodExtendedResourceClaimStatus,
    PodResourceClaim,
    ResourceClaim,
    ResourceClaimConsumerReference,
    ResourceSlice,
    Time,
)
from quaymaster.testing import (
    make_device,
    make_device_taint_rule,
    make_node,
    make_pod,
    make_resource_claim,
    make_resource_slice,
)
from tests.kit.clusters import make_cluster, pass_time, react

DEVICE = "gpu.example.com/n/gpu-0"
NODE = make_node(name="n")
SLICE = make_resource_slice(node="n")
RULE = make_device_taint_rule(effect="NoExecute")
TOLERANT = DeviceToleration(operator="Exists", effect="NoExecute")
FOR_A_MINUTE = replace(TOLERANT, toleration_seconds=60)
EVENT = "DeviceTaintManagerEviction"


def user(name: str = "pod", *, claim: str = "claim", node: str = "n") -> Pod:
    pod = make_pod(name=name, node=node)
    wanted = PodResourceClaim(name="devices", resource_claim_name=claim)
    spec = replace(
        pod.spec, resource_claims=(wanted,), termination_grace_period_seconds=5
    )
    return replace(pod, spec=spec)


def used(
    *pods: Pod,
    name: str = "claim",
    devices: Iterable[str] = (DEVICE,),
    tolerations: Iterable[DeviceToleration] = (),
) -> ResourceClaim:
    """Return a claim with devices that some pods use."""
    claim = make_resource_claim(name=name, devices=devices)
    allocation = claim.status.allocation
    assert allocation is not None
    results = tuple(
        replace(result, tolerations=tuple(tolerations))
        for result in allocation.devices.results
    )
    users = tuple(
        ResourceClaimConsumerReference(resource="pods", name=pod.name, uid=pod.uid)
        for pod in pods
    )
    given = replace(allocation, devices=replace(allocation.devices, results=results))
    status = replace(claim.status, allocation=given, reserved_for=users)
    return replace(claim, status=status)


POD = user()


def scene(
    *objects: ApiObject,
    tolerations: Iterable[DeviceToleration] = (),
    kubernetes: Kubernetes | None = None,
) -> InMemoryCluster:
    """Return a cluster with a pod that uses a device."""
    cluster = make_cluster(
        NODE,
        SLICE,
        POD,
        used(POD, tolerations=tolerations),
        *objects,
        kubernetes=kubernetes or Kubernetes(),
    )
    react(cluster)
    return cluster


def is_going(cluster: InMemoryCluster, key: str = "default/pod") -> bool:
    return cluster.get(Pod, key).is_terminating


def notes(cluster: InMemoryCluster) -> list[str]:
    return [event.note for event in cluster.events() if event.reason == EVENT]


def eviction(cluster: InMemoryCluster, name: str = "rule") -> Condition:
    [condition] = cluster.get(DeviceTaintRule, name).status.conditions
    assert condition.type == "EvictionInProgress"
    return condition


def eviction_texts(cluster: InMemoryCluster) -> tuple[str, str, str]:
    condition = eviction(cluster)
    return condition.status, condition.reason, condition.message


def tainted(*taints: DeviceTaint) -> ResourceSlice:
    return make_resource_slice(node="n", devices=[make_device(taints=taints)])


# Times of evictions ------------------------------------------------------------------


def test_pod_is_evicted_when_a_rule_taints_its_device() -> None:
    cluster = scene()
    cluster.create(RULE)
    react(cluster)
    pod = cluster.get(Pod, "default/pod")
    assert pod.is_terminating
    [condition] = [entry for entry in pod.status.conditions if entry.type[:3] == "Dis"]
    assert condition.type == "DisruptionTarget"
    assert condition.reason == "DeletionByDeviceTaintManager"
    assert condition.message == "Device Taint manager: deleting due to NoExecute taint"
    assert notes(cluster) == ["Marking for deletion"]
    pass_time(cluster, 6)
    assert not cluster.list(Pod).items


def test_pod_is_evicted_when_its_driver_taints_the_device() -> None:
    cluster = scene()
    taint = DeviceTaint(key="broken", effect="NoExecute")
    cluster.update(tainted(taint))
    react(cluster)
    assert is_going(cluster)


@pytest.mark.parametrize("effect", ["NoSchedule", "None"])
def test_pod_stays_with_taints_of_other_effects(effect: str) -> None:
    cluster = scene(make_device_taint_rule(effect=effect))
    cluster.update(tainted(DeviceTaint(key="broken", effect=effect)))
    react(cluster)
    assert not is_going(cluster)


def test_pod_stays_if_a_rule_taints_other_devices() -> None:
    elsewhere = make_device_taint_rule(pool="elsewhere", effect="NoExecute")
    assert not is_going(scene(elsewhere))


def test_pod_with_a_toleration_stays_for_good() -> None:
    cluster = scene(RULE, tolerations=[TOLERANT])
    pass_time(cluster, 10_000)
    assert not is_going(cluster)


def test_toleration_must_name_the_effect_unlike_for_scheduling() -> None:
    every_effect = DeviceToleration(operator="Exists")
    assert is_going(scene(RULE, tolerations=[every_effect]))


def test_pod_is_evicted_when_its_toleration_is_over() -> None:
    cluster = scene(RULE, tolerations=[FOR_A_MINUTE])
    pass_time(cluster, 59)
    assert not is_going(cluster)
    pass_time(cluster, 1.5)
    assert is_going(cluster)


def test_shortest_toleration_counts() -> None:
    shorter = replace(FOR_A_MINUTE, toleration_seconds=20)
    cluster = scene(RULE, tolerations=[FOR_A_MINUTE, shorter])
    pass_time(cluster, 21)
    assert is_going(cluster)


def test_pod_stays_if_the_rule_goes_before_its_toleration_is_over() -> None:
    cluster = scene(RULE, tolerations=[FOR_A_MINUTE])
    pass_time(cluster, 30)
    cluster.delete(DeviceTaintRule, "rule")
    assert notes(cluster) == ["Cancelling deletion"]
    pass_time(cluster, 100)
    assert not is_going(cluster)


def test_changed_effect_restarts_the_time() -> None:
    mild = make_device_taint_rule(effect="NoSchedule")
    cluster = scene(mild, tolerations=[FOR_A_MINUTE])
    pass_time(cluster, 100)
    rule = cluster.get(DeviceTaintRule, "rule")
    taint = replace(rule.spec.taint, effect="NoExecute")
    cluster.update(replace(rule, spec=replace(rule.spec, taint=taint)))
    pass_time(cluster, 58)
    assert not is_going(cluster)
    pass_time(cluster, 3)
    assert is_going(cluster)


def test_slices_of_older_generations_evict_no_pod() -> None:
    taint = DeviceTaint(key="broken", effect="NoExecute")
    old = tainted(taint)
    newer = make_resource_slice(name="newer", node="n", generation=2)
    cluster = make_cluster(NODE, old, newer, POD, used(POD))
    react(cluster)
    assert not is_going(cluster)
    cluster.delete(ResourceSlice, "newer")
    react(cluster)
    assert is_going(cluster)


def test_pod_goes_that_gets_a_tainted_device_later() -> None:
    cluster = make_cluster(NODE, SLICE, RULE, POD)
    react(cluster)
    assert not is_going(cluster)
    cluster.create(used(POD))
    react(cluster)
    assert is_going(cluster)


def test_pod_without_a_node_stays() -> None:
    waiting = user(node="")
    cluster = make_cluster(NODE, SLICE, RULE, waiting, used(waiting))
    react(cluster)
    assert not is_going(cluster)


def test_pod_that_uses_an_extended_resource_is_evicted() -> None:
    pod = make_pod(name="pod", node="n")
    made = PodExtendedResourceClaimStatus(resource_claim_name="claim")
    status = replace(pod.status, extended_resource_claim_status=made)
    pod = replace(pod, status=status)
    claim = used(pod)
    owned = make_resource_claim(owner=pod).metadata
    cluster = make_cluster(NODE, SLICE, RULE, pod, replace(claim, metadata=owned))
    react(cluster)
    assert is_going(cluster)


def test_future_times_of_another_cluster_count_as_now() -> None:
    later = Time(make_cluster().clock.now() + 1e6)
    rule = make_device_taint_rule(effect="NoExecute", time_added=later)
    read = replace(rule, metadata=replace(rule.metadata, creation_timestamp=later))
    cluster = scene(read, tolerations=[FOR_A_MINUTE])
    pass_time(cluster, 61)
    assert is_going(cluster)


def test_time_of_a_new_rule_may_be_in_the_future() -> None:
    later = make_cluster().clock.now() + 1000
    cluster = scene(make_device_taint_rule(effect="NoExecute", time_added=later))
    pass_time(cluster, 990)
    assert not is_going(cluster)
    pass_time(cluster, 11)
    assert is_going(cluster)


NO_RULES = {"DRADeviceTaintRules": False}
NEITHER = {"DRADeviceTaintRules": False, "DRADeviceTaints": False}


@pytest.mark.parametrize(
    ("version", "gates", "expected"),
    [
        pytest.param("1.37", {}, (True, True), id="1.37"),
        pytest.param("1.36", {}, (False, True), id="1.36: rules are off"),
        pytest.param("1.37", NO_RULES, (False, True), id="no rules"),
        pytest.param("1.37", NEITHER, (False, False), id="no taints"),
    ],
)
def test_gates_decide_which_taints_evict(
    version: str, gates: Mapping[str, bool], expected: tuple[bool, bool]
) -> None:
    kubernetes = Kubernetes(version, gates)
    by_rule = scene(RULE, kubernetes=kubernetes)
    by_slice = scene(kubernetes=kubernetes)
    by_slice.update(tainted(DeviceTaint(key="broken", effect="NoExecute")))
    react(by_slice)
    assert (is_going(by_rule), is_going(by_slice)) == expected


def test_rules_without_effect_are_named_in_a_notice() -> None:
    cluster = scene(RULE, kubernetes=Kubernetes("1.36"))
    [notice] = cluster.notices()
    assert str(notice) == (
        "1 DeviceTaintRule has no effect while the feature gate DRADeviceTaintRules is "
        "off: rule"
    )
    assert not scene(RULE).notices()


# Status of rules ---------------------------------------------------------------------


def test_status_of_a_rule_reports_evictions_and_then_completion() -> None:
    cluster = scene(RULE)
    assert eviction_texts(cluster) == (
        "True",
        "PodsPendingEviction",
        "1 pod needs to be evicted in 1 namespace.",
    )
    pass_time(cluster, 9)
    assert eviction(cluster).reason == "PodsPendingEviction"
    pass_time(cluster, 2)
    assert eviction_texts(cluster) == (
        "False",
        "Completed",
        "1 pod evicted since starting the controller.",
    )


def test_status_of_a_rule_that_evicts_no_pod() -> None:
    assert eviction_texts(make_scene_without_pods(RULE)) == ("False", "NotStarted", "")


def test_status_of_a_rule_with_another_effect() -> None:
    mild = make_device_taint_rule()
    expected = "Eviction only happens for the NoExecute effect."
    assert eviction_texts(scene(mild)) == ("False", "OtherEffect", expected)


def test_status_of_a_rule_without_effect_counts_the_pods_it_would_evict() -> None:
    trial = make_device_taint_rule(effect="None")
    other = replace(user("other"), metadata=make_pod(name="x", namespace="b").metadata)
    claim = replace(used(other), metadata=make_resource_claim(namespace="b").metadata)
    assert eviction_texts(scene(trial, other, claim))[2] == (
        "1 published device selected. 2 allocated devices selected. 2 pods would be "
        "evicted in 2 different namespaces if the effect was NoExecute. This "
        "information will not be updated again. Recreate the DeviceTaintRule to "
        "trigger an update."
    )


def test_status_follows_a_changed_spec_at_once() -> None:
    cluster = scene(make_device_taint_rule())
    assert eviction(cluster).observed_generation == 1
    rule = cluster.get(DeviceTaintRule, "rule")
    cluster.update(replace(rule, spec=RULE.spec))
    react(cluster)
    assert eviction(cluster).observed_generation == 2
    assert eviction(cluster).reason == "PodsPendingEviction"


def test_pods_that_have_to_go_later_are_counted() -> None:
    second = user("second")
    cluster = make_cluster(
        NODE, SLICE, RULE, POD, second, used(POD, second, tolerations=[FOR_A_MINUTE])
    )
    pass_time(cluster, 1)
    assert eviction(cluster).message == "2 pods need to be evicted in 1 namespace."
    pass_time(cluster, 80)
    assert eviction(cluster).message == "2 pods evicted since starting the controller."


def make_scene_without_pods(*objects: ApiObject) -> InMemoryCluster:
    cluster = make_cluster(NODE, SLICE, *objects)
    react(cluster)
    return cluster
