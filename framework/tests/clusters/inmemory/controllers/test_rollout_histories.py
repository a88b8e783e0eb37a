"""Updates whose pods take time to start: at no moment do they exceed their limits."""

from collections.abc import Callable
from typing import Final

from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from quaymaster import Pod
from quaymaster.inmemory import InMemoryCluster, PodTimes
from quaymaster.objects import (
    DaemonSet,
    DaemonSetUpdateStrategy,
    Deployment,
    DeploymentStrategy,
    RollingUpdateDaemonSet,
    RollingUpdateDeployment,
    RollingUpdateStatefulSetStrategy,
    StatefulSet,
    StatefulSetUpdateStrategy,
)
from quaymaster.scheduler import VirtualClock
from tests.kit.clusters import make_cluster, pods_of, react, schedule
from tests.kit.workloads import (
    make_daemon_set,
    make_deployment,
    make_stateful_set,
    make_template,
)

TIMES: Final = st.builds(
    PodTimes,
    workload_startup_seconds=st.integers(0, 20).map(float),
    termination_seconds=st.sampled_from([None, 0.0, 7.0]),
)
MINIMA: Final = st.sampled_from([0, 0, 4, 25])
COUNTS: Final = st.integers(1, 7)
UPDATES: Final = st.lists(st.integers(1, 60), min_size=1, max_size=2)
"""The seconds from each change of the template to the next."""


def active(cluster: InMemoryCluster) -> list[Pod]:
    return [pod for pod in pods_of(cluster) if not pod.is_terminating]


def available(cluster: InMemoryCluster, min_ready_seconds: int) -> list[Pod]:
    now = cluster.clock.now()
    return [
        pod
        for pod in active(cluster)
        for condition in pod.status.conditions
        if (condition.type, condition.status) == ("Ready", "True")
        and (condition.last_transition_time or 0.0) + min_ready_seconds <= now
    ]


def play(cluster: InMemoryCluster, end: float, check: Callable[[], None]) -> None:
    """Let time pass until an end, and check the cluster after each change."""
    clock = cluster.clock
    assert isinstance(clock, VirtualClock)
    schedule(cluster)
    check()
    while (due := clock.next_due()) is not None and due <= end:
        clock.advance(max(0.0, due - clock.now()))
        react(cluster)
        schedule(cluster)
        check()
    clock.advance(max(0.0, end - clock.now()))


def update(
    cluster: InMemoryCluster, kind: type[Deployment | StatefulSet | DaemonSet], cpu: int
) -> None:
    [workload] = cluster.list(kind).items
    template = make_template(cpu=f"{cpu}m")
    cluster.update(replace(workload, spec=replace(workload.spec, template=template)))
    react(cluster)


def roll_through(
    cluster: InMemoryCluster,
    kind: type[Deployment | StatefulSet | DaemonSet],
    updates: list[int],
    check: Callable[[], None],
) -> None:
    """Change the template some times, and let the last update end."""
    clock = cluster.clock
    play(cluster, clock.now() + 10_000, lambda: None)
    for number, seconds in enumerate(updates):
        update(cluster, kind, 200 + number)
        play(cluster, clock.now() + seconds, check)
    play(cluster, clock.now() + 10_000, check)
    newest = f"{199 + len(updates)}m"
    requests = [pod.spec.containers[0].resources.requests for pod in active(cluster)]
    assert {str(request["cpu"]) for request in requests} == {newest}


@given(COUNTS, st.integers(0, 3), st.integers(0, 3), MINIMA, TIMES, UPDATES)
def test_deployment_never_exceeds_its_limits(
    replicas: int,
    surge: int,
    unavailable: int,
    minimum: int,
    times: PodTimes,
    updates: list[int],
) -> None:
    unavailable = unavailable if surge or unavailable else 1
    rolling = RollingUpdateDeployment(max_surge=surge, max_unavailable=unavailable)
    strategy = DeploymentStrategy(rolling_update=rolling)
    deployment = make_deployment(replicas)
    spec = replace(deployment.spec, strategy=strategy, min_ready_seconds=minimum)
    cluster = make_cluster(replace(deployment, spec=spec), nodes=1, times=times)

    def check() -> None:
        assert len(active(cluster)) <= replicas + surge
        assert len(available(cluster, minimum)) >= replicas - unavailable

    roll_through(cluster, Deployment, updates, check)


@given(
    COUNTS,
    st.integers(1, 3),
    st.sampled_from(["OrderedReady", "Parallel"]),
    MINIMA,
    TIMES,
    UPDATES,
)
def test_stateful_set_never_exceeds_its_limit(
    replicas: int,
    limit: int,
    policy: str,
    minimum: int,
    times: PodTimes,
    updates: list[int],
) -> None:
    rolling = RollingUpdateStatefulSetStrategy(max_unavailable=limit)
    strategy = StatefulSetUpdateStrategy(rolling_update=rolling)
    owner = make_stateful_set(replicas, policy=policy)
    spec = replace(owner.spec, update_strategy=strategy, min_ready_seconds=minimum)
    cluster = make_cluster(replace(owner, spec=spec), nodes=1, times=times)

    def check() -> None:
        assert len(available(cluster, minimum)) >= replicas - limit

    roll_through(cluster, StatefulSet, updates, check)


@given(COUNTS, st.integers(0, 2), st.integers(0, 2), MINIMA, TIMES, UPDATES)
def test_daemon_set_never_exceeds_its_limits(
    nodes: int,
    surge: int,
    unavailable: int,
    minimum: int,
    times: PodTimes,
    updates: list[int],
) -> None:
    # Only one of the two may be set.
    unavailable = 0 if surge else max(unavailable, 1)
    rolling = RollingUpdateDaemonSet(max_surge=surge, max_unavailable=unavailable)
    strategy = DaemonSetUpdateStrategy(rolling_update=rolling)
    owner = make_daemon_set()
    spec = replace(owner.spec, update_strategy=strategy, min_ready_seconds=minimum)
    cluster = make_cluster(replace(owner, spec=spec), nodes=nodes, times=times)

    def check() -> None:
        served = {pod.node_name for pod in available(cluster, minimum)}
        assert len(served) >= nodes - unavailable
        assert len(active(cluster)) <= nodes + surge

    roll_through(cluster, DaemonSet, updates, check)
