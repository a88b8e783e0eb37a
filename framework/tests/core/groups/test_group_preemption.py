"""A group preempts from the whole cluster, and may be preempted as a whole."""

from quaymaster import ApiObject, Pod
from quaymaster.testing import (
    SchedulerHarness,
    make_pod,
    make_pod_disruption_budget,
)
from tests.kit.group_cluster import (
    cpu_nodes,
    gang_objects,
    group_condition,
    harness_with_groups,
    nodes_by_pod,
)

HIGH = 100


def low_pod(name: str, node: str, start: float = 0.0) -> Pod:
    """Return a running pod that fills its node."""
    return make_pod(
        name=name,
        node=node,
        requests={"cpu": "1"},
        labels={"app": name},
        start_time=start,
    )


def settled(*objects: ApiObject) -> SchedulerHarness:
    harness = harness_with_groups(objects)
    harness.settle()
    return harness


def test_gang_evicts_the_least_important_pods_that_it_needs() -> None:
    running = [low_pod("old", "a", 1.0), low_pod("new", "a", 2.0)]
    objects = [*cpu_nodes("a", cpu="2"), *running, *gang_objects(1, priority=HIGH)]
    harness = settled(*objects)
    assert sorted(nodes_by_pod(harness)) == ["gang-0", "old"]
    assert group_condition(harness) == ("True", "Scheduled", "")


def test_pods_of_a_gang_are_nominated_and_evict_on_several_nodes() -> None:
    running = [low_pod("x", "a"), low_pod("y", "b")]
    objects = [*cpu_nodes("a", "b"), *running, *gang_objects(2, priority=HIGH)]
    harness = settled(*objects)
    assert sorted(nodes_by_pod(harness)) == ["gang-0", "gang-1"]


def test_gang_that_would_not_fit_without_them_evicts_no_pod() -> None:
    running = [low_pod("old", "a")]
    objects = [*cpu_nodes("a", "b"), *running, *gang_objects(3, priority=HIGH)]
    harness = settled(*objects)
    assert sorted(nodes_by_pod(harness)) == ["old"]
    text = "pod group preemption: minCount (3) cannot be satisfied: "
    assert text in group_condition(harness)[2]


def test_group_is_evicted_as_a_whole_if_it_says_so() -> None:
    low = gang_objects(2, name="low", together=True)
    harness = settled(*cpu_nodes("a", "b"), *low)
    high = make_pod(name="high", requests={"cpu": "1"}, priority=HIGH)
    harness.cluster.create(high)
    harness.settle()
    assert sorted(nodes_by_pod(harness)) == ["high"]


def test_pods_of_a_group_are_evicted_one_by_one_by_default() -> None:
    harness = settled(*cpu_nodes("a", "b"), *gang_objects(2, name="low"))
    high = make_pod(name="high", requests={"cpu": "1"}, priority=HIGH)
    harness.cluster.create(high)
    harness.settle()
    assert len(nodes_by_pod(harness)) == 2
    assert "high" in nodes_by_pod(harness)


def test_pod_that_a_budget_protects_is_evicted_last() -> None:
    budget = make_pod_disruption_budget(selector={"app": "safe"}, min_available=1)
    running = [low_pod("safe", "a", 2.0), low_pod("other", "a", 1.0)]
    objects = [*cpu_nodes("a", cpu="2"), budget, *running]
    harness = settled(*objects, *gang_objects(1, priority=HIGH))
    assert sorted(nodes_by_pod(harness)) == ["gang-0", "safe"]


def test_group_never_preempts_with_the_policy_never() -> None:
    group, *pods = gang_objects(1, priority=HIGH)
    harness = settled(*cpu_nodes("a"), low_pod("old", "a"), group)
    for pod in pods:
        never = make_pod(
            name=pod.name,
            requests={"cpu": "1"},
            scheduling_group="gang",
            priority=HIGH,
            preemption_policy="Never",
        )
        harness.cluster.create(never)
    harness.settle()
    assert sorted(nodes_by_pod(harness)) == ["old"]
    text = "pod group preemption: not eligible due to preemptionPolicy=Never."
    assert group_condition(harness)[2].endswith(text)
