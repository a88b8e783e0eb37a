"""NodeCoolDown: rejections by kubelets start cool-downs, longer each time."""

import itertools
from collections.abc import Mapping
from typing import Any

import pytest

from quaymaster import Pod
from quaymaster.config import ConfigErrors
from quaymaster.testing import SchedulerHarness, make_node, make_pod

NAMES = (f"pod-{number}" for number in itertools.count())


def profile(**args: int) -> Mapping[str, Any]:
    return {
        "apiVersion": "kubescheduler.config.k8s.io/v1",
        "kind": "KubeSchedulerConfiguration",
        "profiles": [
            {
                "schedulerName": "default-scheduler",
                "plugins": {"multiPoint": {"enabled": [{"name": "NodeCoolDown"}]}},
                "pluginConfig": [{"name": "NodeCoolDown", "args": args}],
            }
        ],
    }


def cluster(*names: str, **args: int) -> SchedulerHarness:
    nodes = [make_node(name=name, allocatable={"cpu": "100"}) for name in names]
    return SchedulerHarness(nodes, config=profile(**args))


def refuse(harness: SchedulerHarness, node: str, reason: str = "OutOfcpu") -> Pod:
    """Let a node's kubelet reject a pod of another scheduler."""
    pod = make_pod(name=next(NAMES), node=node, scheduler_name="other")
    pod = harness.cluster.create(pod)
    return harness.cluster.patch_status(pod, {"phase": "Failed", "reason": reason})


def try_pod(harness: SchedulerHarness, **what: Any) -> str:
    """Create a pod, and schedule; return its key."""
    pod = harness.cluster.create(make_pod(name=next(NAMES), **what))
    harness.schedule_one()
    return pod.key


def refused_for(harness: SchedulerHarness, node: str) -> float:
    """Let a node reject a pod; return the seconds until it accepts pods again."""
    refuse(harness, node)
    key = try_pod(harness)
    begun = harness.clock.now()
    harness.assert_pending(key)
    harness.settle()
    harness.assert_scheduled(key, on=node)
    start = harness.pod(key).status.start_time
    assert start is not None
    return start - begun


@pytest.mark.parametrize("reason", ["OutOfcpu", "OutOfpods", "OutOfnvidia.com/gpu"])
def test_node_that_has_refused_a_pod_gets_none(reason: str) -> None:
    harness = cluster("one", "two")
    refuse(harness, "one", reason)
    keys = [try_pod(harness) for _ in range(8)]
    for key in keys[1:]:
        harness.assert_scheduled(key, on="two")


@pytest.mark.parametrize("reason", ["Evicted", "NodeAffinity", "", "BackOff"])
def test_pod_that_failed_for_another_reason_means_nothing(reason: str) -> None:
    harness = cluster("one")
    refuse(harness, "one", reason)
    harness.assert_scheduled(try_pod(harness), on="one")


def test_pod_that_was_about_to_go_there_is_sent_back() -> None:
    harness = cluster("one")
    refuse(harness, "one")
    key = try_pod(harness)
    harness.assert_pending(key, reason="node(s) were cooling down")


def test_message_of_a_pod_that_waits_tells_why() -> None:
    harness = cluster("one")
    harness.cluster.create(make_node(name="two", unschedulable=True))
    refuse(harness, "one")
    try_pod(harness)
    key = try_pod(harness)
    harness.assert_pending(
        key, reason="1 node(s) were cooling down, 1 node(s) were unschedulable"
    )


def test_facts_name_the_rest_of_the_cool_down() -> None:
    harness = cluster("one")
    refuse(harness, "one")
    key = try_pod(harness)
    (rejection,) = harness.explain(key).rejections
    assert rejection.details == (
        "the node's kubelet has rejected a pod",
        "gets no pods for 10 of 10 seconds",
    )


def test_refusal_long_before_the_next_pod_is_over_by_then() -> None:
    harness = cluster("one")
    refuse(harness, "one")
    harness.advance(60)
    harness.assert_scheduled(try_pod(harness), on="one")


def test_rest_ends_by_itself() -> None:
    assert refused_for(cluster("one"), "one") == pytest.approx(10, abs=1.5)


def test_each_rest_is_twice_as_long_up_to_the_longest() -> None:
    harness = cluster("one", initialSeconds=20, maxSeconds=100)
    rests = [refused_for(harness, "one") for _ in range(5)]
    assert rests == pytest.approx([20, 40, 80, 100, 100], abs=2)


def test_calm_node_begins_anew() -> None:
    harness = cluster("one", initialSeconds=20, calmSeconds=60)
    assert refused_for(harness, "one") == pytest.approx(20, abs=2)
    assert refused_for(harness, "one") == pytest.approx(40, abs=2)
    harness.advance(61)
    assert refused_for(harness, "one") == pytest.approx(20, abs=2)


def test_refusals_during_a_rest_do_not_make_it_longer() -> None:
    harness = cluster("one", initialSeconds=20)
    refuse(harness, "one")
    first = try_pod(harness)
    for _ in range(5):
        refuse(harness, "one")
        try_pod(harness)
    begun = harness.clock.now()
    harness.settle()
    start = harness.pod(first).status.start_time
    assert start is not None
    assert start - begun == pytest.approx(20, abs=2)
    assert refused_for(harness, "one") == pytest.approx(40, abs=2)


def test_refused_pod_counts_once_whatever_else_happens_to_it() -> None:
    harness = cluster("one")
    pod = refuse(harness, "one")
    try_pod(harness)
    harness.advance(30)
    harness.cluster.patch_status(pod, {"message": "told again"})
    harness.assert_scheduled(try_pod(harness), on="one")
    harness.cluster.delete(Pod, pod.key)
    harness.assert_scheduled(try_pod(harness), on="one")


def test_another_pod_of_the_same_name_counts_again() -> None:
    harness = cluster("one")
    refuse(harness, "one")
    try_pod(harness)
    harness.advance(30)
    pod = harness.cluster.create(make_pod(name="again", node="one"))
    pod = harness.cluster.patch_status(pod, {"phase": "Failed", "reason": "OutOfcpu"})
    harness.assert_pending(try_pod(harness))
    harness.settle()
    harness.cluster.delete(Pod, pod.key, grace_period_seconds=0)
    pod = harness.cluster.create(make_pod(name="again", node="one"))
    harness.cluster.patch_status(pod, {"phase": "Failed", "reason": "OutOfcpu"})
    harness.assert_pending(try_pod(harness))


def test_pods_that_failed_before_the_start_mean_nothing() -> None:
    pod = make_pod(name="old", node="one", phase="Failed")
    harness = SchedulerHarness([make_node(name="one"), pod], config=profile())
    harness.assert_scheduled(try_pod(harness), on="one")


def test_critical_pod_may_go_there() -> None:
    harness = cluster("one")
    refuse(harness, "one")
    harness.assert_pending(try_pod(harness))
    harness.assert_scheduled(try_pod(harness, priority=2_000_001_000), on="one")


def test_nobody_is_evicted_for_a_node_that_rests() -> None:
    harness = cluster("one")
    victim = try_pod(harness, requests={"cpu": "90"})
    refuse(harness, "one")
    try_pod(harness)
    try_pod(harness, requests={"cpu": "90"}, priority=1000)
    assert not harness.pod(victim).is_terminating


@pytest.mark.long
def test_replacements_of_refused_pods_do_not_come_back_at_once() -> None:
    """Without the plugin, a node gets and rejects one pod after the other."""
    harness = cluster("full")
    refused = 0
    for _ in range(150):  # ten minutes
        key = try_pod(harness)
        pod = harness.pod(key)
        if pod.node_name:
            changes = {"phase": "Failed", "reason": "OutOfmemory"}
            harness.cluster.patch_status(pod, changes)
            refused += 1
        else:
            harness.cluster.delete(Pod, key)
        harness.advance(4)
    assert refused <= 7


@pytest.mark.parametrize(
    ("args", "line"),
    [
        ({"initialSeconds": 0}, r"initialSeconds: expected an integer, 1 or more"),
        (
            {"initialSeconds": 20, "maxSeconds": 10},
            r"maxSeconds: expected at least initialSeconds \(20\), got 10",
        ),
    ],
)
def test_wrong_arguments_are_told(args: Mapping[str, int], line: str) -> None:
    with pytest.raises(ConfigErrors, match=line):
        cluster("one", **args)
