"""StatefulSets with another template replace a limited number of pods at a time.

Cases follow upstream's ``pkg/controller/statefulset/stateful_set_control_test.go``
(Kubernetes v1.37). Pods are ready as soon as they are bound.
"""

from typing import Final

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from quaymaster import Pod
from quaymaster.config import Kubernetes
from quaymaster.inmemory import InMemoryCluster
from quaymaster.objects import (
    PodCondition,
    RollingUpdateStatefulSetStrategy,
    StatefulSet,
    StatefulSetUpdateStrategy,
)
from tests.kit.clusters import make_cluster, pass_time, pods_of, react, schedule
from tests.kit.workloads import make_stateful_set, make_template

OLD: Final = Kubernetes("1.36")
NEW: Final = Kubernetes("1.37")
OFF: Final = Kubernetes("1.37", {"MaxUnavailableStatefulSet": False})
POLICIES: Final = ["OrderedReady", "Parallel"]


def running(
    count: int,
    limit: int | str | None = None,
    *,
    policy: str = "Parallel",
    partition: int | None = None,
    start: int | None = None,
    kubernetes: Kubernetes = NEW,
) -> InMemoryCluster:
    """Return a StatefulSet whose pods all run, in its own cluster."""
    workload = make_stateful_set(count, policy=policy, start=start)
    rolling = RollingUpdateStatefulSetStrategy(
        partition=partition, max_unavailable=limit
    )
    strategy = StatefulSetUpdateStrategy(rolling_update=rolling)
    spec = replace(workload.spec, update_strategy=strategy)
    cluster = make_cluster(replace(workload, spec=spec), nodes=1, kubernetes=kubernetes)
    schedule(cluster)
    return cluster


def roll_out(cluster: InMemoryCluster, cpu: str = "200m") -> None:
    [workload] = cluster.list(StatefulSet).items
    spec = replace(workload.spec, template=make_template(cpu=cpu))
    cluster.update(replace(workload, spec=spec))
    react(cluster)


def be_unready(cluster: InMemoryCluster, *names: str) -> None:
    for name in names:
        pod = cluster.get(Pod, f"default/{name}")
        condition = PodCondition(type="Ready", status="False")
        status = replace(pod.status, conditions=(condition,))
        cluster.update(replace(pod, status=status))
    react(cluster)


def is_new(pod: Pod) -> bool:
    return str(pod.spec.containers[0].resources.requests["cpu"]) == "200m"


def terminating(cluster: InMemoryCluster) -> list[str]:
    return sorted(pod.name for pod in pods_of(cluster) if pod.is_terminating)


def pending(cluster: InMemoryCluster) -> list[str]:
    return sorted(pod.name for pod in pods_of(cluster) if not pod.node_name)


def names(*ordinals: int) -> list[str]:
    return [f"web-{ordinal}" for ordinal in ordinals]


@pytest.mark.parametrize(
    ("kubernetes", "waiting"),
    [(NEW, names(3, 4, 5)), (OFF, names(5)), (OLD, names(5))],
    ids=str,
)
def test_template_that_fits_nowhere_leaves_max_unavailable_pods_pending(
    kubernetes: Kubernetes, waiting: list[str]
) -> None:
    cluster = running(6, 3, kubernetes=kubernetes)
    roll_out(cluster)
    pass_time(cluster, 3600)
    assert pending(cluster) == waiting


@pytest.mark.parametrize("policy", POLICIES)
@pytest.mark.parametrize(
    ("limit", "gone"),
    [
        pytest.param(None, names(6), id="one by default"),
        pytest.param(2, names(5, 6), id="a number"),
        pytest.param("49%", names(4, 5, 6), id="rounded down"),
        pytest.param("14%", names(6), id="at least one"),
        pytest.param("100%", names(0, 1, 2, 3, 4, 5, 6), id="all"),
        pytest.param(99, names(0, 1, 2, 3, 4, 5, 6), id="more than there are"),
    ],
)
def test_highest_ordinals_go_first_up_to_the_limit(
    policy: str, limit: int | str | None, gone: list[str]
) -> None:
    cluster = running(7, limit, policy=policy)
    roll_out(cluster)
    assert terminating(cluster) == gone


@pytest.mark.parametrize("policy", POLICIES)
def test_pods_below_the_partition_stay(policy: str) -> None:
    cluster = running(4, 10, policy=policy, partition=1)
    roll_out(cluster)
    assert terminating(cluster) == names(1, 2, 3)


def test_partition_counts_from_the_first_ordinal() -> None:
    cluster = running(4, 10, partition=3, start=5)
    roll_out(cluster)
    assert terminating(cluster) == names(8)


def test_new_pods_of_an_ordered_set_come_one_after_the_other() -> None:
    cluster = running(4, 3, policy="OrderedReady")
    roll_out(cluster)
    pass_time(cluster, 31)
    assert pending(cluster) == names(1)
    schedule(cluster)
    assert terminating(cluster) == names(0)


def test_unavailable_pods_of_the_old_template_go_at_once_in_parallel() -> None:
    cluster = running(5, 1)
    be_unready(cluster, "web-0", "web-1")
    roll_out(cluster)
    assert terminating(cluster) == names(0, 1)


def test_unavailable_old_pods_count_towards_the_limit() -> None:
    cluster = running(5, 3)
    be_unready(cluster, "web-0", "web-1")
    roll_out(cluster)
    assert terminating(cluster) == names(0, 1, 4)


def test_pod_that_becomes_unready_during_an_update_goes_at_once_in_parallel() -> None:
    cluster = running(4, 1)
    roll_out(cluster)
    be_unready(cluster, "web-1")
    assert terminating(cluster) == names(1, 3)


def test_unavailable_pod_below_the_partition_uses_up_the_limit() -> None:
    cluster = running(4, 1, partition=2)
    be_unready(cluster, "web-0")
    roll_out(cluster)
    assert terminating(cluster) == []


def test_ordered_set_waits_for_an_unavailable_pod() -> None:
    cluster = running(4, 3, policy="OrderedReady")
    be_unready(cluster, "web-2")
    roll_out(cluster)
    assert terminating(cluster) == []


def test_pending_pods_of_a_template_that_fits_nowhere_make_room_for_the_next() -> None:
    cluster = running(4, 2)
    roll_out(cluster, cpu="999")
    pass_time(cluster, 31)
    assert pending(cluster) == names(2, 3)
    roll_out(cluster)
    pods = {pod.name: pod for pod in pods_of(cluster)}
    assert [is_new(pods[name]) for name in names(0, 1, 2, 3)] == [0, 0, 1, 1]


def test_failed_pod_of_the_old_template_is_replaced_once_by_the_new_one() -> None:
    cluster = running(3, 1)
    pod = cluster.get(Pod, "default/web-2")
    roll_out(cluster, cpu="100m")
    cluster.update(replace(pod, status=replace(pod.status, phase="Failed")))
    roll_out(cluster)
    pass_time(cluster, 31)
    assert is_new(cluster.get(Pod, "default/web-2"))


@given(
    st.integers(1, 9),
    st.one_of(st.none(), st.integers(1, 9), st.integers(1, 100).map("{}%".format)),
    st.integers(0, 9),
    st.sampled_from(POLICIES),
    st.lists(st.integers(0, 12), max_size=20),
)
def test_no_more_pods_are_unavailable_than_may_be(
    count: int,
    limit: int | str | None,
    partition: int,
    policy: str,
    moves: list[int],
) -> None:
    share = int(limit[:-1]) * count // 100 if isinstance(limit, str) else limit or 1
    cluster = running(count, limit, policy=policy, partition=partition)
    roll_out(cluster)
    for move in [*moves, *[0, 12] * 40]:
        waiting = [pod for pod in pods_of(cluster) if not pod.node_name]
        if move < 9 and waiting:
            cluster.bind(waiting[move % len(waiting)], "n0")
            react(cluster)
        elif move >= 9:
            pass_time(cluster, 31)
        up = sum(
            bool(pod.node_name) and not pod.is_terminating for pod in pods_of(cluster)
        )
        assert up >= count - max(1, share)
    new = sorted(pod.name for pod in pods_of(cluster) if is_new(pod))
    assert new == names(*range(partition, count))


@pytest.mark.parametrize(("kubernetes", "is_done"), [(NEW, True), (OLD, False)])
def test_update_on_delete_is_complete_when_all_pods_are_new_since_1_37(
    kubernetes: Kubernetes, is_done: bool
) -> None:
    """Pods below a partition use the template that was last rolled out completely."""
    workload = make_stateful_set(2, policy="Parallel")
    on_delete = StatefulSetUpdateStrategy(type="OnDelete")
    spec = replace(workload.spec, update_strategy=on_delete)
    cluster = make_cluster(replace(workload, spec=spec), nodes=1, kubernetes=kubernetes)
    schedule(cluster)
    roll_out(cluster)
    for pod in pods_of(cluster):
        cluster.delete(Pod, pod.key, grace_period_seconds=0.0)
    react(cluster)
    schedule(cluster)
    [workload] = cluster.list(StatefulSet).items
    rolling = RollingUpdateStatefulSetStrategy(partition=2)
    spec = replace(
        workload.spec,
        update_strategy=StatefulSetUpdateStrategy(rolling_update=rolling),
        template=make_template(cpu="300m"),
    )
    cluster.update(replace(workload, spec=spec))
    react(cluster)
    cluster.delete(Pod, "default/web-0", grace_period_seconds=0.0)
    react(cluster)
    assert is_new(cluster.get(Pod, "default/web-0")) is is_done
