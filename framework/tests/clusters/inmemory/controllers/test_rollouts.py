"""Workloads whose template changes replace their pods.

As ``pkg/controller/deployment``, ``statefulset`` and ``daemon`` (Kubernetes v1.36) do
it. Pods are ready as soon as they are bound, and take 30 seconds to end.
"""

from collections.abc import Callable
from typing import Final

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from quaymaster import Pod
from quaymaster.inmemory import AdmissionError, InMemoryCluster
from quaymaster.objects import (
    DaemonSet,
    DaemonSetUpdateStrategy,
    Deployment,
    DeploymentStrategy,
    PodCondition,
    RollingUpdateDaemonSet,
    RollingUpdateDeployment,
    RollingUpdateStatefulSetStrategy,
    StatefulSet,
    StatefulSetUpdateStrategy,
)
from tests.kit.clusters import (
    make_cluster,
    pass_time,
    pods_of,
    react,
    schedule,
    target_of,
)
from tests.kit.workloads import (
    make_daemon_set,
    make_deployment,
    make_stateful_set,
    make_template,
)

Limit = int | str | None

NEW: Final = make_template(cpu="200m")
LIMITS: Final = st.one_of(
    st.none(), st.integers(0, 6), st.integers(0, 100).map("{}%".format)
)
COUNTS: Final = st.integers(1, 9)


def is_new(pod: Pod) -> bool:
    return str(pod.spec.containers[0].resources.requests["cpu"]) == "200m"


def active(cluster: InMemoryCluster) -> list[Pod]:
    return [pod for pod in pods_of(cluster) if not pod.is_terminating]


def ready(cluster: InMemoryCluster) -> list[Pod]:
    """Return the running pods; here, these are all bound pods."""
    return [pod for pod in active(cluster) if pod.status.phase == "Running"]


def old(cluster: InMemoryCluster) -> list[Pod]:
    return [pod for pod in active(cluster) if not is_new(pod)]


def waiting(cluster: InMemoryCluster) -> list[Pod]:
    return [pod for pod in active(cluster) if not pod.node_name]


def roll_out(
    cluster: InMemoryCluster, kind: type[Deployment | StatefulSet | DaemonSet]
) -> None:
    """Change the template of the only workload of a kind."""
    [workload] = cluster.list(kind).items
    spec = replace(workload.spec, template=NEW)
    cluster.update(replace(workload, spec=spec))
    react(cluster)


def bind_one(cluster: InMemoryCluster, choice: int) -> None:
    pods = waiting(cluster)
    if pods:
        pod = pods[choice % len(pods)]
        cluster.bind(pod, target_of(pod))
        react(cluster)


def play(
    cluster: InMemoryCluster, moves: st.DataObject, law: Callable[[], None]
) -> None:
    """Bind single pods and let time pass, in any order; then bind all pods."""
    law()
    for choice in moves.draw(st.lists(st.integers(0, 12), max_size=20)):
        if choice < 9:
            bind_one(cluster, choice)
        else:
            pass_time(cluster, 31)
        law()
    for _ in range(200):
        bind_one(cluster, 0)
        law()
        pass_time(cluster, 31)
        law()


def rounded(limit: Limit, default: str, count: int, *, up: bool) -> int:
    """Round a limit as its documentation defines it."""
    given = default if limit is None else limit
    if isinstance(given, int):
        return given
    exact = int(given[:-1]) * count / 100
    return int(exact) + (up and exact > int(exact))


def rolling(surge: Limit, unavailable: Limit) -> DeploymentStrategy:
    limits = RollingUpdateDeployment(max_surge=surge, max_unavailable=unavailable)
    return DeploymentStrategy(type="RollingUpdate", rolling_update=limits)


def deployed(count: int, strategy: DeploymentStrategy) -> InMemoryCluster:
    """Return a Deployment whose pods all run."""
    workload = make_deployment(count)
    spec = replace(workload.spec, strategy=strategy)
    cluster = make_cluster(replace(workload, spec=spec), nodes=1)
    schedule(cluster)
    return cluster


def is_nothing(limit: Limit) -> bool:
    return limit in (0, "0%")


@given(COUNTS, LIMITS, LIMITS, st.data())
def test_a_deployment_never_has_too_many_pods_or_too_few(
    count: int, surge: Limit, unavailable: Limit, moves: st.DataObject
) -> None:
    if is_nothing(surge) and is_nothing(unavailable):
        surge = 1
    most = rounded(surge, "25%", count, up=True)
    fewest = rounded(unavailable, "25%", count, up=False)
    if most == fewest == 0:
        fewest = 1
    cluster = deployed(count, rolling(surge, unavailable))

    def law() -> None:
        assert len(active(cluster)) <= count + most
        assert len(ready(cluster)) >= count - fewest

    roll_out(cluster, Deployment)
    play(cluster, moves, law)
    assert not old(cluster)
    assert len(ready(cluster)) == count


@pytest.mark.parametrize(
    ("count", "surge", "unavailable", "left", "new"),
    [
        pytest.param(10, None, None, 8, 5, id="a quarter by default"),
        pytest.param(4, 0, 1, 3, 1, id="no surge"),
        pytest.param(4, 1, 0, 4, 1, id="nothing may be missing"),
        pytest.param(3, "0%", "30%", 2, 1, id="both rounded to nothing is one missing"),
        pytest.param(3, "10%", "40%", 2, 2, id="surge up, unavailable down"),
        pytest.param(2, 5, "100%", 0, 2, id="everything may be missing"),
    ],
)
def test_an_update_whose_pods_find_no_node_stalls(
    count: int, surge: Limit, unavailable: Limit, left: int, new: int
) -> None:
    cluster = deployed(count, rolling(surge, unavailable))
    roll_out(cluster, Deployment)
    pass_time(cluster, 3600)
    assert (len(old(cluster)), len(waiting(cluster))) == (left, new)


def test_recreate_makes_new_pods_once_all_old_ones_are_gone() -> None:
    cluster = deployed(3, DeploymentStrategy(type="Recreate"))
    roll_out(cluster, Deployment)
    assert active(cluster) == []
    pass_time(cluster, 29)
    assert [is_new(pod) for pod in pods_of(cluster)] == [False] * 3
    pass_time(cluster, 1)
    assert [is_new(pod) for pod in pods_of(cluster)] == [True] * 3


def test_recreate_waits_for_pods_whose_end_is_not_confirmed() -> None:
    cluster = deployed(2, DeploymentStrategy(type="Recreate"))
    cluster.stop_kubelets(["n0"])
    roll_out(cluster, Deployment)
    pass_time(cluster, 3600)
    assert active(cluster) == []
    cluster.start_kubelets(["n0"])
    react(cluster)
    assert [is_new(pod) for pod in pods_of(cluster)] == [True] * 2


def numbered(
    count: int, strategy: StatefulSetUpdateStrategy, policy: str = ""
) -> InMemoryCluster:
    """Return a StatefulSet whose pods all run."""
    workload = make_stateful_set(count, policy=policy)
    spec = replace(workload.spec, update_strategy=strategy)
    cluster = make_cluster(replace(workload, spec=spec), nodes=1)
    schedule(cluster)
    return cluster


def new_names(cluster: InMemoryCluster) -> list[str]:
    return sorted(pod.name for pod in active(cluster) if is_new(pod))


@given(COUNTS, st.integers(0, 9), st.sampled_from(["", "Parallel"]), st.data())
def test_a_stateful_set_lacks_one_pod_at_a_time_from_the_highest_down(
    count: int, partition: int, policy: str, moves: st.DataObject
) -> None:
    limits = RollingUpdateStatefulSetStrategy(partition=partition)
    cluster = numbered(count, StatefulSetUpdateStrategy(rolling_update=limits), policy)
    names = [f"web-{index}" for index in range(count)]

    def law() -> None:
        assert len(ready(cluster)) >= count - 1
        found = new_names(cluster)
        assert found == names[count - len(found) :]
        assert len(found) <= max(0, count - partition)

    roll_out(cluster, StatefulSet)
    play(cluster, moves, law)
    assert new_names(cluster) == names[partition:]
    assert len(ready(cluster)) == count


def test_a_pod_below_the_partition_is_recreated_from_the_old_template() -> None:
    limits = RollingUpdateStatefulSetStrategy(partition=1)
    cluster = numbered(2, StatefulSetUpdateStrategy(rolling_update=limits), "Parallel")
    roll_out(cluster, StatefulSet)
    for name in ("web-0", "web-1"):
        cluster.delete(Pod, f"default/{name}", grace_period_seconds=0.0)
    react(cluster)
    assert new_names(cluster) == ["web-1"]


@pytest.mark.parametrize("policy", ["", "Parallel"])
def test_an_update_of_a_stateful_set_stalls_at_the_first_pod_without_a_node(
    policy: str,
) -> None:
    cluster = numbered(3, StatefulSetUpdateStrategy(), policy)
    roll_out(cluster, StatefulSet)
    pass_time(cluster, 3600)
    assert [pod.name for pod in waiting(cluster)] == ["web-2"]
    assert len(ready(cluster)) == 2


def test_a_stateful_set_on_delete_replaces_deleted_pods() -> None:
    cluster = numbered(2, StatefulSetUpdateStrategy(type="OnDelete"))
    roll_out(cluster, StatefulSet)
    pass_time(cluster, 3600)
    assert new_names(cluster) == []
    cluster.delete(Pod, "default/web-0")
    pass_time(cluster, 31)
    assert new_names(cluster) == ["web-0"]


def test_loaded_pods_with_another_hash_count_as_pods_of_their_set() -> None:
    first = numbered(2, StatefulSetUpdateStrategy(), "Parallel")
    [workload] = first.list(StatefulSet).items
    pods = [
        replace(pod, metadata=replace(pod.metadata, labels=pod.labels | {KEY: "db-6f"}))
        for pod in pods_of(first)
    ]
    cluster = make_cluster(workload, *pods, nodes=1)
    pass_time(cluster, 3600)
    assert len(ready(cluster)) == 2
    roll_out(cluster, StatefulSet)
    assert len(ready(cluster)) == 1


KEY: Final = "controller-revision-hash"


def spread(nodes: int, strategy: DaemonSetUpdateStrategy) -> InMemoryCluster:
    """Return a DaemonSet that runs on all nodes."""
    workload = make_daemon_set()
    spec = replace(workload.spec, update_strategy=strategy)
    cluster = make_cluster(replace(workload, spec=spec), nodes=nodes)
    schedule(cluster)
    return cluster


def daemon_strategy(surge: Limit, unavailable: Limit) -> DaemonSetUpdateStrategy:
    limits = RollingUpdateDaemonSet(max_surge=surge, max_unavailable=unavailable)
    return DaemonSetUpdateStrategy(rolling_update=limits)


@given(COUNTS, LIMITS, st.data())
def test_a_daemon_set_lacks_as_many_pods_as_it_may(
    nodes: int, unavailable: Limit, moves: st.DataObject
) -> None:
    if is_nothing(unavailable):
        unavailable = None
    limit = 1 if unavailable is None else unavailable
    fewest = max(1, rounded(limit, "", nodes, up=True))
    cluster = spread(nodes, daemon_strategy(None, unavailable))

    def law() -> None:
        assert len(active(cluster)) <= nodes
        assert len(ready(cluster)) >= nodes - fewest

    roll_out(cluster, DaemonSet)
    play(cluster, moves, law)
    assert not old(cluster)
    assert len(ready(cluster)) == nodes


@given(COUNTS, st.integers(1, 100).map("{}%".format), st.data())
def test_a_daemon_set_that_surges_always_has_a_pod_on_every_node(
    nodes: int, surge: str, moves: st.DataObject
) -> None:
    most = rounded(surge, "", nodes, up=True)
    cluster = spread(nodes, daemon_strategy(surge, 0))

    def law() -> None:
        assert len({pod.node_name for pod in ready(cluster)}) == nodes
        assert len(active(cluster)) <= nodes + most

    roll_out(cluster, DaemonSet)
    play(cluster, moves, law)
    assert not old(cluster)
    assert len(ready(cluster)) == nodes


def test_pods_of_a_daemon_set_that_are_not_ready_go_beside_the_limit() -> None:
    cluster = spread(3, DaemonSetUpdateStrategy())
    sick = pods_of(cluster)[2]
    condition = PodCondition(type="Ready", status="False")
    status = replace(sick.status, conditions=(condition,))
    cluster.patch_status(sick, {"conditions": status.conditions})
    roll_out(cluster, DaemonSet)
    assert [pod.uid for pod in pods_of(cluster) if pod.is_terminating] == [sick.uid]


def test_a_daemon_set_on_delete_replaces_deleted_pods() -> None:
    cluster = spread(2, DaemonSetUpdateStrategy(type="OnDelete"))
    roll_out(cluster, DaemonSet)
    pass_time(cluster, 3600)
    assert len(old(cluster)) == 2
    cluster.delete(Pod, pods_of(cluster)[0].key)
    pass_time(cluster, 31)
    assert len(old(cluster)) == 1


@pytest.mark.parametrize(
    ("strategy", "message"),
    [
        (rolling(0, "0%"), "maxUnavailable: expected more than 0, since maxSurge is 0"),
        (rolling("x", 1), "maxSurge: expected a number or a percentage"),
        (rolling(0, "101%"), "maxUnavailable: expected a number or a percentage"),
        (rolling(-1, 1), "maxSurge: expected a number of at least 0, got -1"),
        (DeploymentStrategy(type="Fast"), "strategy: expected RollingUpdate or Recre"),
        (replace(rolling(1, 1), type="Recreate"), "expected none, since the strategy"),
    ],
)
def test_a_strategy_that_cannot_make_progress_is_rejected(
    strategy: DeploymentStrategy, message: str
) -> None:
    with pytest.raises(AdmissionError, match=message):
        deployed(1, strategy)


@pytest.mark.parametrize(
    ("surge", "unavailable", "message"),
    [
        (1, None, "maxSurge: expected 0, since maxUnavailable is not"),
        (0, 0, "maxUnavailable: expected more than 0"),
        ("200%", 0, "maxSurge: expected a number or a percentage"),
    ],
)
def test_limits_of_a_daemon_set_exclude_each_other(
    surge: Limit, unavailable: Limit, message: str
) -> None:
    with pytest.raises(AdmissionError, match=message):
        spread(1, daemon_strategy(surge, unavailable))


@pytest.mark.parametrize(
    ("limits", "kind", "message"),
    [
        ({"partition": -1}, "", "partition: expected a number of at least 0"),
        ({"max_unavailable": 0}, "", "maxUnavailable: expected more than 0"),
        ({}, "OnDelete", "expected none, since the strategy is OnDelete"),
    ],
)
def test_strategies_of_stateful_sets_are_checked(
    limits: dict[str, int], kind: str, message: str
) -> None:
    rolling_update = RollingUpdateStatefulSetStrategy(**limits)
    strategy = StatefulSetUpdateStrategy(type=kind, rolling_update=rolling_update)
    with pytest.raises(AdmissionError, match=message):
        numbered(1, strategy)
