"""Decisions leave nothing that only the collector of cyclic garbage would find."""

import gc
from collections.abc import Callable

import pytest

from quaymaster import Pod
from quaymaster.objects import LabelSelector, PodAffinityTerm
from quaymaster.testing import SchedulerHarness, make_node, make_pod

COUNT = 40


def alike(number: int) -> Pod:
    return make_pod(name=f"pod-{number}", requests={"cpu": "10m"})


def each_of_its_own_kind(number: int) -> Pod:
    requests = {"cpu": "10m", "memory": f"{1000 + number}Ki"}
    return make_pod(name=f"pod-{number}", requests=requests)


def too_large(number: int) -> Pod:
    return make_pod(name=f"pod-{number}", requests={"cpu": f"{1000 + number}"})


def preempting(number: int) -> Pod:
    requests = {"cpu": "7", "memory": f"{1000 + number}Ki"}
    return make_pod(name=f"pod-{number}", requests=requests, priority=10)


def with_terms(number: int) -> Pod:
    labels = {"app": f"app-{number % 3}"}
    term = PodAffinityTerm(
        label_selector=LabelSelector(match_labels=labels),
        topology_key="kubernetes.io/hostname",
    )
    return make_pod(name=f"pod-{number}", labels=labels, pod_anti_affinity=[term])


@pytest.mark.parametrize(
    "make", [alike, each_of_its_own_kind, too_large, preempting, with_terms]
)
def test_decisions_leave_no_cycles(make: Callable[[int], Pod]) -> None:
    """Else processes that collect rarely would grow."""
    capacity = {"cpu": "8", "memory": "64Gi", "pods": "110"}
    harness = SchedulerHarness(
        [make_node(name=f"n{number}", capacity=capacity) for number in range(20)]
    )
    for number in range(20):  # there is something to preempt, and modules are loaded
        pod = make_pod(name=f"first-{number}", requests={"cpu": "4"}, priority=0)
        harness.cluster.create(pod)
    harness.settle()
    gc.collect()
    gc.disable()
    try:
        for number in range(COUNT):
            harness.cluster.create(make(number))
        harness.settle()
        found = gc.collect()
    finally:
        gc.enable()
    assert found < COUNT  # not one object for each pod
