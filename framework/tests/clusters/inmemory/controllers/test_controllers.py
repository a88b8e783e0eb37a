"""Controllers of the in-memory cluster: Deployments, and rules of all controllers."""

from msgspec.structs import replace

from quaymaster import ApiObject, Pod
from quaymaster.inmemory import InMemoryCluster
from quaymaster.objects import Deployment, OwnerReference, PodTemplateSpec, ReplicaSet
from quaymaster.scheduler import VirtualClock
from quaymaster.testing import make_node
from tests.kit.clusters import make_cluster, pods_of, react, schedule
from tests.kit.workloads import (
    LABELS,
    make_deployment,
    make_job,
    make_template,
    scale,
)


def test_deployment_gets_a_replica_set_with_its_pods() -> None:
    cluster = make_cluster(make_deployment(3), nodes=1)
    (replica_set,) = cluster.list(ReplicaSet).items
    name_hash = replica_set.name.removeprefix("web-")
    assert replica_set.labels == {**LABELS, "pod-template-hash": name_hash}
    owner = replica_set.metadata.controller
    assert owner is not None
    assert (owner.kind, owner.name) == ("Deployment", "web")
    pods = pods_of(cluster)
    assert len(pods) == 3
    for pod in pods:
        assert pod.name.startswith(f"{replica_set.name}-")
        assert len(pod.name) == len(replica_set.name) + 6
        assert pod.labels == replica_set.labels
        assert pod.metadata.controller == OwnerReference(
            api_version="apps/v1",
            kind="ReplicaSet",
            name=replica_set.name,
            uid=replica_set.uid,
            controller=True,
            block_owner_deletion=True,
        )


def test_pods_of_a_deployment_share_spec_labels_and_owners() -> None:
    first, second = pods_of(make_cluster(make_deployment(2), nodes=1))
    assert first.spec is second.spec
    assert first.labels is second.labels
    assert first.metadata.owner_references is second.metadata.owner_references


def test_hash_depends_on_the_template_alone() -> None:
    def set_name(template: PodTemplateSpec) -> str:
        cluster = make_cluster(make_deployment(1, template), nodes=1)
        return cluster.list(ReplicaSet).items[0].name

    assert set_name(make_template()) == set_name(make_template())
    assert set_name(make_template()) != set_name(make_template(cpu="2"))


def test_deployment_is_scaled_up_and_down() -> None:
    cluster = make_cluster(make_deployment(1), nodes=1)
    scale(cluster, Deployment, 4)
    assert len(pods_of(cluster)) == 4
    scale(cluster, Deployment, 2)
    assert len(pods_of(cluster)) == 2
    scale(cluster, Deployment, 0)
    assert pods_of(cluster) == []


def test_controllers_react_when_the_clock_runs_its_timers() -> None:
    clock = VirtualClock()
    cluster = make_cluster(clock=clock, nodes=1)
    cluster.create(make_deployment(1))
    assert pods_of(cluster) == []
    assert clock.next_due() == clock.now()
    clock.advance(0.0)
    assert len(pods_of(cluster)) == 1


def test_changed_template_is_rolled_out_in_steps() -> None:
    clock = VirtualClock()
    cluster = make_cluster(make_deployment(8), clock=clock, nodes=1)
    schedule(cluster)
    (old,) = cluster.list(ReplicaSet).items
    (deployment,) = cluster.list(Deployment).items
    spec = replace(deployment.spec, template=make_template(cpu="200m"))
    cluster.update(replace(deployment, spec=spec))
    react(cluster)
    sets = cluster.list(ReplicaSet).items
    # A quarter more, a quarter fewer, while none of the new pods is ready.
    assert [each.spec.replicas for each in sets] == [6, 4]
    least = 8
    while waiting := [pod for pod in pods_of(cluster) if not pod.node_name]:
        cluster.bind(waiting[0], "n0")
        react(cluster)
        running = [pod for pod in pods_of(cluster) if pod.status.phase == "Running"]
        least = min(least, sum(not pod.is_terminating for pod in running))
    assert least == 6
    clock.advance(30.0)
    assert cluster.get(ReplicaSet, old.key).spec.replicas == 0
    owners = {pod.metadata.owner_references[0].uid for pod in pods_of(cluster)}
    assert len(pods_of(cluster)) == 8
    assert owners == {sets[1].uid}


def test_rolling_back_takes_the_old_replica_set_again() -> None:
    cluster = make_cluster(make_deployment(1), nodes=1)
    schedule(cluster)
    (deployment,) = cluster.list(Deployment).items
    for cpu in ("2", "100m"):
        (deployment,) = cluster.list(Deployment).items
        spec = replace(deployment.spec, template=make_template(cpu=cpu))
        cluster.update(replace(deployment, spec=spec))
        react(cluster)
        schedule(cluster)
    assert [s.spec.replicas for s in cluster.list(ReplicaSet).items] == [1, 0]


def test_paused_deployment_scales_but_does_not_roll_out() -> None:
    cluster = make_cluster(make_deployment(1), nodes=1)
    (deployment,) = cluster.list(Deployment).items
    spec = replace(
        deployment.spec, paused=True, replicas=2, template=make_template(cpu="2")
    )
    cluster.update(replace(deployment, spec=spec))
    react(cluster)
    assert [s.spec.replicas for s in cluster.list(ReplicaSet).items] == [2]


def test_dependents_go_with_their_owner() -> None:
    clock = VirtualClock()
    cluster = make_cluster(make_deployment(3), clock=clock, nodes=1)
    schedule(cluster)
    cluster.delete(Deployment, "default/web")
    clock.advance(30.0)
    assert pods_of(cluster) == []
    assert not cluster.list(ReplicaSet).items


def test_same_input_gives_the_same_cluster() -> None:
    def run() -> list[ApiObject]:
        clock = VirtualClock()
        cluster = make_cluster(make_deployment(3), make_job(), clock=clock, nodes=1)
        schedule(cluster)
        cluster.delete(Pod, pods_of(cluster)[0].key)
        clock.advance(60.0)
        return [*cluster.list(Pod).items, *cluster.list(ReplicaSet).items]

    assert run() == run()


def test_without_controllers_nothing_happens() -> None:
    clock = VirtualClock()
    cluster = InMemoryCluster(clock, controllers=False)
    cluster.load([make_deployment(3), make_node(name="n")])
    clock.advance(60.0)
    assert pods_of(cluster) == []
