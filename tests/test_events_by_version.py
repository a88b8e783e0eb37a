"""The events that wake pods in whole schedulers, under the names of each version."""

from collections.abc import Callable

import pytest
from msgspec.structs import replace

from quaymaster import Pod
from quaymaster.config import KUBERNETES_VERSIONS, Kubernetes
from quaymaster.objects import Taint, Toleration
from quaymaster.testing import (
    SchedulerHarness,
    make_affinity_term,
    make_node,
    make_pod,
    profile_config,
)

TAINT = Taint(key="reserved", effect="NoSchedule")


def with_toleration(pod: Pod) -> Pod:
    tolerations = (Toleration(key="reserved", operator="Exists"),)
    return replace(pod, spec=replace(pod.spec, tolerations=tolerations))


def without_gates(pod: Pod) -> Pod:
    return replace(pod, spec=replace(pod.spec, scheduling_gates=()))


def relabelled(pod: Pod) -> Pod:
    return replace(pod, metadata=replace(pod.metadata, labels={"app": "calm"}))


BIG = make_pod(
    name="big",
    node="n",
    requests={"cpu": "4"},
    labels={"app": "big"},
    termination_grace_period_seconds=0,
)
AVERSE = make_pod(
    name="averse",
    node="n",
    pod_anti_affinity=[make_affinity_term(selector={"app": "loud"})],
)


@pytest.mark.parametrize("version", KUBERNETES_VERSIONS)
@pytest.mark.parametrize(
    ("pod", "change"),
    [
        pytest.param(make_pod(name="p"), with_toleration, id="TaintToleration"),
        pytest.param(
            make_pod(name="p", scheduling_gates=["g"], tolerations=["reserved"]),
            without_gates,
            id="SchedulingGates",
        ),
        pytest.param(
            make_pod(name="p", labels={"app": "loud"}, tolerations=["reserved"]),
            relabelled,
            id="InterPodAffinity",
        ),
    ],
)
def test_a_pod_is_woken_by_a_change_of_its_own(
    pod: Pod, change: Callable[[Pod], Pod], version: str
) -> None:
    node = make_node(name="n", taints=[TAINT])
    with SchedulerHarness(
        [node, AVERSE, pod], kubernetes=Kubernetes(version)
    ) as harness:
        harness.settle()
        harness.assert_pending("p")
        harness.cluster.update(change(harness.cluster.get(Pod, pod.key)))
        harness.settle()
        harness.assert_scheduled("p", on="n")


@pytest.mark.parametrize("version", KUBERNETES_VERSIONS)
@pytest.mark.parametrize(
    "pod",
    [
        pytest.param(make_pod(name="p", requests={"cpu": "1"}), id="NodeResourcesFit"),
        pytest.param(
            make_pod(
                name="p",
                pod_anti_affinity=[make_affinity_term(selector={"app": "big"})],
            ),
            id="InterPodAffinity",
        ),
    ],
)
def test_a_pod_is_woken_when_a_running_one_goes(pod: Pod, version: str) -> None:
    node = make_node(name="n", capacity={"cpu": "4", "memory": "8Gi", "pods": "9"})
    config = profile_config(disable=["DefaultPreemption"])
    with SchedulerHarness(
        [node, BIG, pod], config=config, kubernetes=Kubernetes(version)
    ) as harness:
        harness.settle()
        harness.assert_pending("p")
        harness.cluster.delete(Pod, BIG.key)
        harness.settle()
        harness.assert_scheduled("p", on="n")


@pytest.mark.parametrize("version", KUBERNETES_VERSIONS)
def test_another_profile_is_loaded_for_the_same_version(version: str) -> None:
    kubernetes = Kubernetes(version)
    with SchedulerHarness([make_node(name="n")], kubernetes=kubernetes) as harness:
        harness.reload(profile_config())
        assert harness.config.kubernetes == kubernetes
