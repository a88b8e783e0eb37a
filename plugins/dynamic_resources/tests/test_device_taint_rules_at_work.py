"""DeviceTaintRules at work: pods keep off, wait for a change, and then get devices."""

from collections.abc import Mapping

import pytest
from msgspec.structs import replace

from quaymaster import ApiObject, Pod
from quaymaster.config import Kubernetes, default_config
from quaymaster.objects import (
    DeviceTaintRule,
    DeviceToleration,
    PodResourceClaim,
)
from quaymaster.scheduler import PluginRegistry
from quaymaster.testing import (
    SchedulerHarness,
    make_deployment,
    make_device_class,
    make_device_request,
    make_device_taint_rule,
    make_node,
    make_pod,
    make_resource_claim,
    make_resource_claim_template,
    make_resource_slice,
)

RULE = make_device_taint_rule()
NO_DEVICES = "1 cannot allocate all claims"
OFF = {"DRADeviceTaintRules": False}


def claiming(name: str = "pod", claim: str = "claim") -> Pod:
    pod = make_pod(name=name)
    named = PodResourceClaim(name="devices", resource_claim_name=claim)
    return replace(pod, spec=replace(pod.spec, resource_claims=(named,)))


def scene(
    *more: ApiObject, kubernetes: Kubernetes | None = None, devices: int = 1
) -> SchedulerHarness:
    harness = SchedulerHarness(
        [
            make_node(name="n"),
            make_device_class(),
            make_resource_slice(node="n", devices=devices),
            make_resource_claim(),
            claiming(),
            *more,
        ],
        kubernetes=kubernetes or Kubernetes(),
    )
    harness.settle()
    return harness


def test_pod_is_kept_off_a_tainted_device_until_the_rule_is_gone() -> None:
    harness = scene(RULE)
    harness.assert_pending("pod", reason=NO_DEVICES)
    harness.cluster.delete(DeviceTaintRule, RULE.key)
    harness.advance(10)
    harness.assert_scheduled("pod", on="n")


def test_pod_gets_its_device_when_a_rule_selects_another_one() -> None:
    harness = scene(RULE)
    rule = harness.cluster.get(DeviceTaintRule, RULE.key)
    elsewhere = make_device_taint_rule(pool="elsewhere").spec
    harness.cluster.update(replace(rule, spec=elsewhere))
    harness.advance(10)
    harness.assert_scheduled("pod", on="n")


def test_pod_gets_its_device_when_a_rule_loses_its_effect() -> None:
    harness = scene(RULE)
    rule = harness.cluster.get(DeviceTaintRule, RULE.key)
    taint = replace(rule.spec.taint, effect="None")
    harness.cluster.update(replace(rule, spec=replace(rule.spec, taint=taint)))
    harness.advance(10)
    harness.assert_scheduled("pod", on="n")


def test_rule_that_comes_later_keeps_the_next_pod_off() -> None:
    harness = scene(devices=2)
    harness.assert_scheduled("pod", on="n")
    harness.cluster.create(make_device_taint_rule(device="gpu-1"))
    harness.cluster.create(make_resource_claim(name="second"))
    harness.cluster.create(claiming("later", "second"))
    harness.settle()
    harness.assert_pending("later", reason=NO_DEVICES)


def test_change_of_a_rule_tries_a_pod_again_only_if_a_device_has_other_taints() -> None:
    harness = scene(RULE)
    tries = len(harness.attempts)
    rule = harness.cluster.get(DeviceTaintRule, RULE.key)
    harness.cluster.patch_status(rule, {"conditions": ()})
    harness.cluster.create(make_device_taint_rule(name="far", pool="elsewhere"))
    harness.advance(10)
    assert len(harness.attempts) == tries
    harness.cluster.create(make_device_taint_rule(name="more", key="example.com/more"))
    harness.advance(10)
    assert len(harness.attempts) == tries + 1


def test_tolerant_request_gets_the_device() -> None:
    toleration = DeviceToleration(operator="Exists")
    request = make_device_request(tolerations=[toleration])
    harness = scene(
        RULE,
        make_resource_claim(name="tolerant", requests=[request]),
        claiming("brave", "tolerant"),
    )
    harness.assert_scheduled("brave", on="n")


@pytest.mark.parametrize(
    ("version", "gates", "is_kept_off"),
    [
        pytest.param("1.37", {}, True, id="1.37"),
        pytest.param("1.37", OFF, False, id="1.37 without the gate"),
        pytest.param("1.36", {}, False, id="1.36"),
        pytest.param(
            "1.36", {"DRADeviceTaintRules": True}, True, id="1.36 with the gate"
        ),
    ],
)
def test_rules_count_where_their_gate_is_on(
    version: str, gates: Mapping[str, bool], is_kept_off: bool
) -> None:
    harness = scene(RULE, kubernetes=Kubernetes(version, gates))
    assert bool(harness.node_of("pod")) is not is_kept_off


@pytest.mark.parametrize("is_on_first", [True, False], ids=["off", "on"])
def test_reload_may_switch_the_gate(is_on_first: bool) -> None:
    on, off = Kubernetes(), Kubernetes("1.37", OFF)
    first, second = (on, off) if is_on_first else (off, on)
    harness = scene(RULE, kubernetes=first, devices=2)
    assert bool(harness.node_of("pod")) is not is_on_first
    config = default_config(PluginRegistry.discover(), kubernetes=second)
    harness.reload(config)
    harness.cluster.create(make_resource_claim(name="second"))
    harness.cluster.create(claiming("later", "second"))
    harness.settle()
    assert bool(harness.node_of("later")) is is_on_first


def test_explanation_names_the_rule() -> None:
    harness = scene(RULE)
    explanation = str(harness.explain("default/pod"))
    assert "with taint example.com/unhealthy:NoSchedule of DeviceTaintRule rule" in (
        explanation
    )


def test_evicted_pod_of_a_workload_gets_a_device_elsewhere() -> None:
    template = make_resource_claim_template()
    wanted = PodResourceClaim(
        name="devices", resource_claim_template_name=template.name
    )
    pod = make_pod()
    pod = replace(pod, spec=replace(pod.spec, resource_claims=(wanted,)))
    harness = SchedulerHarness(
        [
            *(make_node(name=name) for name in "ab"),
            *(make_resource_slice(node=name) for name in "ab"),
            make_device_class(),
            template,
            make_deployment(pod=pod),
        ]
    )
    harness.settle()
    [placed] = harness.cluster.list(Pod).items
    rule = make_device_taint_rule(pool=placed.node_name, effect="NoExecute")
    harness.cluster.create(rule)
    harness.advance(60)
    [moved] = harness.cluster.list(Pod).items
    assert {placed.node_name, moved.node_name} == {"a", "b"}
