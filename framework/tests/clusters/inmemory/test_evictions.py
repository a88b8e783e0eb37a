"""Evictions follow ``pkg/registry/core/pod/storage/eviction.go``."""

import pytest
from msgspec.structs import replace

from quaymaster import Pod
from quaymaster.cluster import (
    ApiError,
    ForbiddenError,
    NotFoundError,
    TooManyRequestsError,
)
from quaymaster.inmemory import AdmissionError, InMemoryCluster
from quaymaster.objects import (
    Condition,
    PodCondition,
    PodDisruptionBudget,
    PodDisruptionBudgetStatus,
    PodStatus,
)
from quaymaster.testing import make_deployment, make_pod, make_pod_disruption_budget
from tests.kit.clusters import make_cluster, pods_of, react, schedule

LABELS = {"app": "web"}
REFUSED = r"^Cannot evict pod as it would violate the pod's disruption budget\.$"


def deployed(
    replicas: int,
    *,
    min_available: int | None = None,
    max_unavailable: int | None = None,
) -> InMemoryCluster:
    """Return a Deployment whose pods all run, and its budget."""
    cluster = make_cluster(make_deployment(name="web", replicas=replicas), nodes=1)
    cluster.create(
        make_pod_disruption_budget(
            selector=LABELS,
            min_available=min_available,
            max_unavailable=max_unavailable,
        )
    )
    schedule(cluster)
    react(cluster)
    return cluster


def budget_of(cluster: InMemoryCluster) -> PodDisruptionBudget:
    return cluster.get(PodDisruptionBudget, "default/budget")


def with_policy(policy: str, *, min_available: int) -> PodDisruptionBudget:
    budget = make_pod_disruption_budget(selector=LABELS, min_available=min_available)
    spec = replace(budget.spec, unhealthy_pod_eviction_policy=policy)
    return replace(budget, spec=spec)


def sick_pod(name: str) -> Pod:
    """Return a pod that runs and is not ready."""
    unready = PodCondition(type="Ready", status="False")
    status = PodStatus(phase="Running", conditions=(unready,))
    return replace(make_pod(name=name, labels=LABELS, node="n0"), status=status)


def test_an_evicted_pod_ends_within_its_grace_period() -> None:
    cluster = make_cluster(make_pod(name="p", node="n0"), nodes=1)
    cluster.evict("default/p")
    pod = cluster.get(Pod, "default/p")
    assert pod.is_terminating
    [condition] = [c for c in pod.status.conditions if c.type == "DisruptionTarget"]
    assert (condition.status, condition.reason) == ("True", "EvictionByEvictionAPI")


def test_a_pod_that_does_not_exist_cannot_be_evicted() -> None:
    with pytest.raises(NotFoundError):
        make_cluster().evict("default/p")


def test_a_budget_allows_no_more_evictions_than_its_limit() -> None:
    cluster = deployed(3, min_available=2)
    first, second, _ = pods_of(cluster)
    cluster.evict(first.key)
    with pytest.raises(TooManyRequestsError, match=REFUSED) as refused:
        cluster.evict(second.key)
    assert refused.value.status == 429
    react(cluster)
    with pytest.raises(TooManyRequestsError, match=REFUSED) as refused:
        cluster.evict(second.key)
    assert refused.value.cause == (
        "The disruption budget budget needs 2 healthy pods and has 2 currently"
    )


def test_two_evictions_at_the_same_moment_are_both_counted() -> None:
    """The controller has not seen the first eviction; the budget records it."""
    cluster = deployed(4, max_unavailable=2)
    first, second, third, _ = pods_of(cluster)
    cluster.evict(first.key)
    cluster.evict(second.key)
    assert set(budget_of(cluster).status.disrupted_pods) == {first.name, second.name}
    [condition] = budget_of(cluster).status.conditions
    assert (condition.status, condition.reason) == ("False", "InsufficientPods")
    with pytest.raises(TooManyRequestsError):
        cluster.evict(third.key)
    react(cluster)
    assert budget_of(cluster).status.disrupted_pods == {}


def test_a_budget_that_no_controller_has_observed_allows_nothing() -> None:
    cluster = deployed(3, max_unavailable=3)
    cluster.delete(PodDisruptionBudget, "default/budget")
    cluster.create(make_pod_disruption_budget(selector=LABELS, max_unavailable=3))
    with pytest.raises(TooManyRequestsError, match=REFUSED) as refused:
        cluster.evict(pods_of(cluster)[0].key)
    assert "still being processed" in refused.value.cause
    assert refused.value.retry_after_seconds == 10


def test_a_pod_of_two_budgets_cannot_be_evicted_at_all() -> None:
    cluster = deployed(3, max_unavailable=3)
    cluster.create(
        make_pod_disruption_budget(name="b", selector=LABELS, max_unavailable=3)
    )
    react(cluster)
    with pytest.raises(ApiError, match="more than one PodDisruptionBudget") as refused:
        cluster.evict(pods_of(cluster)[0].key)
    assert refused.value.status == 500


def test_a_budget_of_another_namespace_protects_nothing() -> None:
    budget = make_pod_disruption_budget(
        namespace="other", selector=LABELS, min_available=9
    )
    pod = make_pod(name="p", labels=LABELS, node="n0")
    cluster = make_cluster(budget, pod, nodes=1)
    cluster.evict("default/p")
    assert cluster.get(Pod, "default/p").is_terminating


@pytest.mark.parametrize("phase", ["Pending", "Succeeded", "Failed"])
def test_pods_that_do_not_run_need_no_budget(phase: str) -> None:
    pod = make_pod(name="p", labels=LABELS)
    budget = make_pod_disruption_budget(selector=LABELS, min_available=9)
    pod = replace(pod, status=PodStatus(phase=phase))
    cluster = make_cluster(budget, pod)
    cluster.evict("default/p")
    assert pods_of(cluster) == []


def test_a_terminating_pod_needs_no_budget() -> None:
    cluster = deployed(1, min_available=1)
    [pod] = pods_of(cluster)
    cluster.delete(Pod, pod.key)
    cluster.evict(pod.key)


def test_an_unhealthy_pod_may_go_while_enough_others_are_healthy() -> None:
    healthy = make_pod(name="a", labels=LABELS, node="n0")
    budget = make_pod_disruption_budget(selector=LABELS, min_available=1)
    cluster = make_cluster(healthy, sick_pod("b"), budget, nodes=1)
    cluster.evict("default/b")
    assert budget_of(cluster).status.disrupted_pods == {}


@pytest.mark.parametrize(
    ("policy", "may_go"), [("IfHealthyBudget", False), ("AlwaysAllow", True)]
)
def test_the_policy_decides_on_unhealthy_pods_of_a_disrupted_workload(
    policy: str, may_go: bool
) -> None:
    cluster = make_cluster(
        sick_pod("a"), sick_pod("b"), with_policy(policy, min_available=1), nodes=1
    )
    if may_go:
        cluster.evict("default/b")
        return
    with pytest.raises(TooManyRequestsError, match=REFUSED):
        cluster.evict("default/b")


def test_a_policy_that_does_not_exist_is_refused() -> None:
    with pytest.raises(AdmissionError, match="unhealthyPodEvictionPolicy"):
        make_cluster(with_policy("Sometimes", min_available=1))


@pytest.mark.parametrize(
    ("reason", "healthy", "cause"),
    [
        ("SyncFailed", 1, " because it failed sync: it is broken"),
        ("Paused", 5, " (Paused): it is broken"),
    ],
)
def test_the_condition_of_a_budget_says_why_it_allows_nothing(
    reason: str, healthy: int, cause: str
) -> None:
    condition = Condition(
        type="DisruptionAllowed",
        status="False",
        reason=reason,
        message="it is broken",
    )
    budget = make_pod_disruption_budget(selector=LABELS)
    status = PodDisruptionBudgetStatus(
        observed_generation=1,
        current_healthy=healthy,
        desired_healthy=2,
        conditions=(condition,),
    )
    pod = make_pod(name="p", labels=LABELS, node="n0")
    cluster = make_cluster(replace(budget, status=status), pod, nodes=1)
    with pytest.raises(TooManyRequestsError, match=REFUSED) as refused:
        cluster.evict("default/p")
    assert refused.value.cause == (
        f"The disruption budget budget does not allow evicting pods currently{cause}"
    )


def test_a_status_below_zero_forbids_evictions() -> None:
    budget = make_pod_disruption_budget(selector=LABELS, disruptions_allowed=-1)
    status = replace(budget.status, observed_generation=1)
    pod = make_pod(name="p", labels=LABELS, node="n0")
    cluster = make_cluster(replace(budget, status=status), pod, nodes=1)
    with pytest.raises(ForbiddenError, match="disruptions allowed is negative"):
        cluster.evict("default/p")
