"""Workloads that wait until their pods have been ready for some time."""

from msgspec.structs import replace

from quaymaster import Pod
from quaymaster.inmemory import InMemoryCluster, PodTimes
from quaymaster.objects import (
    DaemonSet,
    DaemonSetUpdateStrategy,
    Deployment,
    DeploymentStrategy,
    ReplicaSet,
    RollingUpdateDaemonSet,
    RollingUpdateDeployment,
    StatefulSet,
)
from tests.kit.clusters import make_cluster, names_of, pass_time, pods_of, schedule
from tests.kit.workloads import (
    make_daemon_set,
    make_deployment,
    make_stateful_set,
    make_template,
    scale,
)

INSTANT_END = PodTimes(termination_seconds=0.0)


def counts(cluster: InMemoryCluster) -> dict[str, int]:
    """Return the wanted pods of each ReplicaSet by the CPU of its template."""
    return {
        str(each.spec.template.spec.containers[0].resources.requests["cpu"]): (
            each.spec.replicas or 0
        )
        for each in cluster.list(ReplicaSet).items
    }


def rolling_deployment(replicas: int, surge: int, unavailable: int) -> Deployment:
    rolling = RollingUpdateDeployment(max_surge=surge, max_unavailable=unavailable)
    deployment = make_deployment(replicas)
    strategy = DeploymentStrategy(rolling_update=rolling)
    return replace(deployment, spec=replace(deployment.spec, strategy=strategy))


def change(cluster: InMemoryCluster, **fields: object) -> None:
    [deployment] = cluster.list(Deployment).items
    cluster.update(replace(deployment, spec=replace(deployment.spec, **fields)))
    cluster.clock.run_due()


def test_deployment_waits_until_a_new_pod_has_been_ready_for_long_enough() -> None:
    deployment = rolling_deployment(2, surge=1, unavailable=0)
    spec = replace(deployment.spec, min_ready_seconds=9)
    cluster = make_cluster(replace(deployment, spec=spec), nodes=1)
    schedule(cluster)
    pass_time(cluster, 60)
    change(cluster, template=make_template(cpu="200m"))
    schedule(cluster)
    pass_time(cluster, 8)
    assert counts(cluster) == {"100m": 2, "200m": 1}
    pass_time(cluster, 1)
    assert counts(cluster) == {"100m": 1, "200m": 2}


def test_paused_deployment_scales_its_replica_sets_in_proportion() -> None:
    cluster = make_cluster(rolling_deployment(6, surge=2, unavailable=0), nodes=1)
    schedule(cluster)
    change(cluster, template=make_template(cpu="200m"))
    assert counts(cluster) == {"100m": 6, "200m": 2}
    change(cluster, paused=True, replicas=12)
    # Fourteen pods may exist: 6 * 14 / 8 is 10.5, rounded up.
    assert counts(cluster) == {"100m": 11, "200m": 3}
    change(cluster, replicas=0)
    assert counts(cluster) == {"100m": 0, "200m": 0}


def test_next_pod_of_a_stateful_set_waits_for_an_available_one() -> None:
    owner = make_stateful_set(2)
    spec = replace(owner.spec, min_ready_seconds=5)
    cluster = make_cluster(replace(owner, spec=spec), nodes=1)
    schedule(cluster)
    pass_time(cluster, 4)
    assert names_of(cluster) == ["web-0"]
    pass_time(cluster, 1)
    assert names_of(cluster) == ["web-0", "web-1"]


def test_last_pod_of_a_stateful_set_waits_for_a_lower_one_that_is_down() -> None:
    times = PodTimes(workload_startup_seconds=10, termination_seconds=0.0)
    cluster = make_cluster(
        make_stateful_set(3, policy="Parallel"), times=times, nodes=1
    )
    [owner] = cluster.list(StatefulSet).items
    spec = replace(owner.spec, pod_management_policy="OrderedReady")
    schedule(cluster)
    pass_time(cluster, 10)
    cluster.delete(Pod, "default/web-0")
    pass_time(cluster, 0)
    schedule(cluster)
    cluster.update(replace(owner, spec=replace(spec, replicas=2)))
    pass_time(cluster, 9)
    assert "web-2" in names_of(cluster)
    pass_time(cluster, 1)
    assert names_of(cluster) == ["web-1", "web-0"]


def test_daemon_set_updates_the_next_node_when_the_last_one_is_served() -> None:
    owner = make_daemon_set()
    spec = replace(owner.spec, min_ready_seconds=7)
    cluster = make_cluster(replace(owner, spec=spec), nodes=2, times=INSTANT_END)
    schedule(cluster)
    pass_time(cluster, 7)
    [stored] = cluster.list(DaemonSet).items
    new = replace(stored.spec, template=make_template(cpu="200m"))
    cluster.update(replace(stored, spec=new))
    pass_time(cluster, 0)
    schedule(cluster)

    def updated() -> int:
        requests = [p.spec.containers[0].resources.requests for p in pods_of(cluster)]
        return sum(str(request["cpu"]) == "200m" for request in requests)

    pass_time(cluster, 6)
    assert updated() == 1
    pass_time(cluster, 1)
    assert updated() == 2


def test_scaling_a_settled_deployment_touches_one_replica_set() -> None:
    cluster = make_cluster(rolling_deployment(2, surge=1, unavailable=0), nodes=1)
    schedule(cluster)
    scale(cluster, Deployment, 5)
    assert counts(cluster) == {"100m": 5}


def test_old_pod_of_a_daemon_set_goes_a_second_after_the_new_one_is_available() -> None:
    # As upstream, which counts only the oldest pod of a node as ready.
    owner = make_daemon_set()
    rolling = RollingUpdateDaemonSet(max_surge=1, max_unavailable=0)
    strategy = DaemonSetUpdateStrategy(type="RollingUpdate", rolling_update=rolling)
    spec = replace(owner.spec, min_ready_seconds=7, update_strategy=strategy)
    cluster = make_cluster(replace(owner, spec=spec), nodes=1, times=INSTANT_END)
    schedule(cluster)
    pass_time(cluster, 20)
    [owner] = cluster.list(DaemonSet).items
    template = make_template(cpu="200m")
    cluster.update(replace(owner, spec=replace(owner.spec, template=template)))
    cluster.clock.run_due()
    schedule(cluster)
    pass_time(cluster, 7)
    assert len(pods_of(cluster)) == 2
    pass_time(cluster, 1)
    assert len(pods_of(cluster)) == 1
