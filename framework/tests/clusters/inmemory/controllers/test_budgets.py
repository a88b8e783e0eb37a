"""Disruption budgets of the in-memory cluster."""

import pytest
from msgspec.structs import replace

from quaymaster import Pod
from quaymaster.objects import (
    DaemonSet,
    Deployment,
    LabelSelector,
    ObjectMeta,
    OwnerReference,
    PodDisruptionBudget,
    PodDisruptionBudgetSpec,
    PodDisruptionBudgetStatus,
    Time,
)
from quaymaster.scheduler import VirtualClock
from quaymaster.testing import make_pod
from tests.kit.clusters import make_cluster, pods_of, react, schedule
from tests.kit.workloads import (
    SELECTOR,
    make_daemon_set,
    make_deployment,
)


def make_budget(**spec: int | str) -> PodDisruptionBudget:
    return PodDisruptionBudget(
        metadata=ObjectMeta(name="web"),
        spec=replace(PodDisruptionBudgetSpec(selector=SELECTOR), **spec),
    )


@pytest.mark.parametrize(
    ("budget", "desired", "allowed"),
    [
        pytest.param(make_budget(min_available=3), 3, 2, id="a number must stay"),
        pytest.param(make_budget(min_available="70%"), 4, 1, id="a part must stay"),
        pytest.param(make_budget(max_unavailable=1), 4, 1, id="a number may go"),
        pytest.param(make_budget(max_unavailable="30%"), 3, 2, id="a part may go"),
        pytest.param(make_budget(min_available=9), 9, 0, id="more than there are"),
    ],
)
def test_budget_reports_how_many_disruptions_are_allowed(
    budget: PodDisruptionBudget, desired: int, allowed: int
) -> None:
    cluster = make_cluster(make_deployment(5), budget, nodes=1)
    schedule(cluster)
    status = cluster.get(PodDisruptionBudget, "default/web").status
    assert (status.current_healthy, status.expected_pods) == (5, 5)
    assert (status.desired_healthy, status.disruptions_allowed) == (desired, allowed)


def test_budget_follows_its_pods() -> None:
    clock = VirtualClock()
    budget = make_budget(max_unavailable=2)
    cluster = make_cluster(make_deployment(3), budget, clock=clock, nodes=1)

    def allowed() -> int:
        clock.advance(0.0)
        status = cluster.get(PodDisruptionBudget, "default/web").status
        return status.disruptions_allowed

    assert allowed() == 0
    schedule(cluster)
    assert allowed() == 2
    cluster.delete(Pod, pods_of(cluster)[0].key)
    assert allowed() == 1
    schedule(cluster)
    assert allowed() == 2


def test_condition_says_since_when_disruptions_are_allowed() -> None:
    clock = VirtualClock()
    budget = make_budget(max_unavailable=2)
    cluster = make_cluster(make_deployment(3), budget, clock=clock, nodes=1)

    def conditions() -> list[tuple[str, str, Time | None]]:
        clock.advance(0.0)
        status = cluster.get(PodDisruptionBudget, "default/web").status
        assert {each.type for each in status.conditions} == {"DisruptionAllowed"}
        assert {each.observed_generation for each in status.conditions} == {1}
        return [
            (each.status, each.reason, each.last_transition_time)
            for each in status.conditions
        ]

    start = Time(clock.now())
    assert conditions() == [("False", "InsufficientPods", start)]
    clock.advance(60.0)
    schedule(cluster)
    since = Time(clock.now())
    assert conditions() == [("True", "SufficientPods", since)]
    clock.advance(60.0)
    cluster.delete(Pod, pods_of(cluster)[0].key)
    assert conditions() == [("True", "SufficientPods", since)]


def test_budget_follows_the_size_of_the_workload() -> None:
    clock = VirtualClock()
    budget = make_budget(max_unavailable="50%")
    cluster = make_cluster(make_deployment(2), budget, clock=clock, nodes=1)
    schedule(cluster)
    deployment = cluster.get(Deployment, "default/web")
    cluster.update(replace(deployment, spec=replace(deployment.spec, replicas=4)))
    react(cluster)
    schedule(cluster)
    clock.advance(0.0)
    status = cluster.get(PodDisruptionBudget, "default/web").status
    assert (status.expected_pods, status.disruptions_allowed) == (4, 2)


def test_budget_may_come_after_its_pods_and_select_others_later() -> None:
    cluster = make_cluster(make_deployment(2), nodes=1)
    schedule(cluster)
    cluster.create(make_budget(min_available=1))
    react(cluster)
    budget = cluster.get(PodDisruptionBudget, "default/web")
    assert budget.status.current_healthy == 2
    other = LabelSelector(match_labels={"app": "other"})
    cluster.update(replace(budget, spec=replace(budget.spec, selector=other)))
    react(cluster)
    budget = cluster.get(PodDisruptionBudget, "default/web")
    assert budget.status.current_healthy == 0


def test_removed_budget_is_left_alone() -> None:
    cluster = make_cluster(make_deployment(2), make_budget(min_available=1), nodes=1)
    cluster.delete(PodDisruptionBudget, "default/web")
    schedule(cluster)
    assert not cluster.list(PodDisruptionBudget).items


def test_budget_without_limits_keeps_its_status() -> None:
    status = PodDisruptionBudgetStatus(disruptions_allowed=3)
    cluster = make_cluster(
        make_deployment(2), replace(make_budget(), status=status), nodes=1
    )
    schedule(cluster)
    assert cluster.get(PodDisruptionBudget, "default/web").status == status


def test_budget_of_pods_without_a_sized_owner_keeps_its_status() -> None:
    budget = make_budget(max_unavailable=1)
    cluster = make_cluster(make_daemon_set(), budget, nodes=1)
    schedule(cluster)
    status = cluster.get(PodDisruptionBudget, "default/web").status
    assert status == budget.status


def test_counted_budget_allows_nothing_once_a_pod_has_no_sized_owner() -> None:
    budget = make_budget(max_unavailable=2)
    cluster = make_cluster(make_deployment(3), budget, nodes=1)
    schedule(cluster)
    counted = cluster.get(PodDisruptionBudget, "default/web").status
    assert counted.disruptions_allowed == 2
    cluster.create(make_daemon_set())
    react(cluster)
    status = cluster.get(PodDisruptionBudget, "default/web").status
    assert status.disruptions_allowed == 0
    assert (status.current_healthy, status.expected_pods) == (3, 3)
    [condition] = status.conditions
    assert (condition.status, condition.reason) == ("False", "SyncFailed")
    assert condition.message.startswith('found no controllers for pod "agent-')
    cluster.delete(DaemonSet, "default/agent")
    react(cluster)
    status = cluster.get(PodDisruptionBudget, "default/web").status
    assert status.disruptions_allowed == 2


def test_budget_of_pods_without_their_owner_keeps_the_status_of_the_input() -> None:
    status = PodDisruptionBudgetStatus(disruptions_allowed=1)
    budget = replace(make_budget(max_unavailable=1), status=status)
    owner = OwnerReference(
        api_version="apps/v1", kind="ReplicaSet", name="web", uid="u", controller=True
    )
    pod = make_pod(labels=SELECTOR.match_labels)
    pod = replace(pod, metadata=replace(pod.metadata, owner_references=(owner,)))
    cluster = make_cluster(pod, budget, nodes=1)
    schedule(cluster)
    assert cluster.get(PodDisruptionBudget, "default/web").status == status
