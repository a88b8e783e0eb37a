"""Memory is freed: decisions leave no cycles, and simulations nothing at all."""

import gc
import weakref
from collections.abc import Callable, Sequence

import pytest
from msgspec.structs import replace

from quaymaster import ApiObject, Node, Pod
from quaymaster.objects import PodResourceClaim
from quaymaster.testing import (
    SchedulerHarness,
    make_affinity_term,
    make_deployment,
    make_device_class,
    make_device_request,
    make_namespace,
    make_node,
    make_persistent_volume_claim,
    make_pod,
    make_resource_claim,
    make_resource_quota,
    make_resource_slice,
    make_spread_constraint,
    make_storage_class,
)
from tests.kit.engine import scheduler_of

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
    term = make_affinity_term(selector=labels)
    return make_pod(name=f"pod-{number}", labels=labels, pod_anti_affinity=[term])


def spread(number: int) -> Pod:
    labels = {"app": f"app-{number % 3}"}
    constraint = make_spread_constraint(
        selector=labels, topology_key="kubernetes.io/hostname"
    )
    return make_pod(name=f"pod-{number}", labels=labels, spread=[constraint])


KINDS = [alike, each_of_its_own_kind, too_large, preempting, with_terms, spread]


def make_nodes() -> list[Node]:
    capacity = {"cpu": "8", "memory": "64Gi", "pods": "110"}
    return [make_node(name=f"n{number}", capacity=capacity) for number in range(20)]


@pytest.mark.long
@pytest.mark.parametrize("make", KINDS)
def test_decisions_leave_no_cycles(make: Callable[[int], Pod]) -> None:
    """Otherwise processes that collect rarely would grow."""
    harness = SchedulerHarness(make_nodes())
    for number in range(20):  # so that preemption is possible, and modules are loaded
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
    assert found < COUNT  # less than one object for each pod


def claiming(name: str, claim: str) -> Pod:
    named = PodResourceClaim(name=claim, resource_claim_name=claim)
    pod = make_pod(name=name)
    return replace(pod, spec=replace(pod.spec, resource_claims=(named,)))


def with_devices() -> Sequence[ApiObject]:
    return (
        make_device_class(name="gpu"),
        make_resource_slice(node="n0", devices=3),
        make_resource_claim(name="mine", requests=[make_device_request()]),
        claiming("one", "mine"),
    )


def with_volumes() -> Sequence[ApiObject]:
    return (
        make_storage_class(name="slow"),
        make_persistent_volume_claim(name="data", storage_class="slow"),
        make_pod(name="one", claims=["data"]),
    )


def with_rules() -> Sequence[ApiObject]:
    return (
        make_namespace(name="team"),
        make_resource_quota(namespace="team", hard={"pods": "5"}),
        make_deployment(name="web", replicas=3),
        make_pod(name="one", namespace="team"),
    )


# Python's collector ignores API objects: what they held would stay for ever.
@pytest.mark.parametrize("make", KINDS)
def test_pods_do_not_hold_a_simulation_that_is_over(make: Callable[[int], Pod]) -> None:
    assert left_of(*map(make, range(5))) == []


@pytest.mark.parametrize("make", [with_devices, with_volumes, with_rules])
def test_other_objects_do_not_either(make: Callable[[], Sequence[ApiObject]]) -> None:
    assert left_of(*make(), has_placed="one") == []


def left_of(*objects: ApiObject, has_placed: str = "") -> list[str]:
    """Return what is left of a scheduler and its cluster while its objects live on."""
    harness = SchedulerHarness([*make_nodes(), *objects])
    harness.settle()
    pods = harness.cluster.list(Pod).items
    assert (
        any(pod.node_name for pod in pods if pod.name == has_placed) or not has_placed
    )
    others: list[object] = [
        harness.cluster.list(kind).items for kind in set(map(type, objects))
    ]
    watched: dict[str, weakref.ref[object]] = {
        "cluster": weakref.ref(harness.cluster),
        "scheduler": weakref.ref(scheduler_of(harness)),
    }
    del harness
    gc.collect()
    assert pods
    assert others
    return [name for name, reference in watched.items() if reference() is not None]
