"""Pods of the in-memory cluster: how they are bound, marked and deleted."""

import pytest
from msgspec.structs import replace

from quaymaster import Node, Pod
from quaymaster.cluster import (
    ConflictError,
    NotFoundError,
    PodStatusPatch,
    WatchEventType,
)
from quaymaster.objects import PodCondition, Time
from quaymaster.scheduler import VirtualClock
from quaymaster.testing import make_node, make_pod
from tests.kit.clusters import make_cluster, object_names


def condition_of(pod: Pod, name: str) -> PodCondition:
    return next(c for c in pod.status.conditions if c.type == name)


# Binding


def test_bound_pod_runs_on_its_node_after_one_write() -> None:
    clock = VirtualClock(start=100.0)
    cluster = make_cluster(make_node(name="n"), make_pod(name="a"), clock=clock)
    watch = cluster.watch(Pod, cluster.resource_version, lambda: None)
    cluster.bind(cluster.get(Pod, "default/a"), "n")
    (event,) = watch.take()
    pod = event.object
    assert event.type is WatchEventType.MODIFIED
    assert (pod.node_name, pod.status.phase) == ("n", "Running")
    assert pod.status.start_time == 100.0
    for name in ("PodScheduled", "Ready"):
        assert condition_of(pod, name).status == "True"
        assert condition_of(pod, name).last_transition_time == 100.0


def test_binding_clears_the_nomination() -> None:
    pod = make_pod(name="a", nominated_node="n")
    cluster = make_cluster(make_node(name="n"), pod)
    cluster.bind(pod, "n")
    assert cluster.get(Pod, "default/a").status.nominated_node_name == ""


def test_without_kubelets_a_bound_pod_stays_pending() -> None:
    cluster = make_cluster(make_node(name="n"), make_pod(name="a"), kubelet=False)
    cluster.bind(cluster.get(Pod, "default/a"), "n")
    pod = cluster.get(Pod, "default/a")
    assert (pod.node_name, pod.status.phase) == ("n", "Pending")
    assert condition_of(pod, "PodScheduled").status == "True"


@pytest.mark.parametrize(
    ("stored", "message"),
    [
        pytest.param(make_pod(name="a", node="n"), "already on node n", id="bound"),
        pytest.param(
            make_pod(name="a", scheduling_gates=["wait"]), "gates", id="gated"
        ),
        pytest.param(make_pod(name="a", uid="other"), "uid", id="another pod"),
    ],
)
def test_pod_that_cannot_be_bound_conflicts(stored: Pod, message: str) -> None:
    cluster = make_cluster(make_node(name="n"), make_node(name="m"), stored)
    with pytest.raises(ConflictError, match=message):
        cluster.bind(make_pod(name="a"), "m")


def test_terminating_pod_cannot_be_bound() -> None:
    pod = make_pod(name="a")
    pod = replace(pod, metadata=replace(pod.metadata, finalizers=("keep/it",)))
    cluster = make_cluster(make_node(name="n"), pod)
    cluster.delete(Pod, "default/a")
    with pytest.raises(ConflictError, match="being deleted"):
        cluster.bind(pod, "n")


def test_bind_needs_the_pod_and_the_node() -> None:
    cluster = make_cluster(make_node(name="n"), make_pod(name="a"))
    with pytest.raises(NotFoundError, match="Node gone"):
        cluster.bind(make_pod(name="a"), "gone")
    with pytest.raises(NotFoundError, match="Pod default/gone"):
        cluster.bind(make_pod(name="gone"), "n")


# Status


def test_patch_sets_a_condition_and_the_nomination() -> None:
    clock = VirtualClock(start=10.0)
    cluster = make_cluster(make_pod(name="a"), clock=clock)
    failed = PodCondition(type="PodScheduled", status="False", reason="Unschedulable")
    pod = cluster.get(Pod, "default/a")
    patch = PodStatusPatch(condition=failed, nominated_node_name="n")
    cluster.patch_pod_status(pod, patch)
    status = cluster.get(Pod, "default/a").status
    assert status.nominated_node_name == "n"
    assert status.conditions == (replace(failed, last_transition_time=Time(10.0)),)


def test_patch_leaves_what_it_does_not_name() -> None:
    pod = make_pod(name="a", nominated_node="n")
    cluster = make_cluster(pod)
    version = cluster.resource_version
    cluster.patch_pod_status(pod, PodStatusPatch())
    assert cluster.resource_version == version
    cluster.patch_pod_status(pod, PodStatusPatch(nominated_node_name=""))
    assert cluster.get(Pod, "default/a").status.nominated_node_name == ""


def test_transition_time_moves_only_with_the_status() -> None:
    clock = VirtualClock(start=10.0)
    cluster = make_cluster(make_pod(name="a"), clock=clock)
    pod = cluster.get(Pod, "default/a")
    for message in ("first", "second"):
        condition = PodCondition(type="PodScheduled", status="False", message=message)
        cluster.patch_pod_status(pod, PodStatusPatch(condition=condition))
        clock.advance(5.0)
    written = condition_of(cluster.get(Pod, "default/a"), "PodScheduled")
    assert (written.message, written.last_transition_time) == ("second", 10.0)


def test_same_condition_again_is_not_an_event() -> None:
    cluster = make_cluster(make_pod(name="a"))
    pod = cluster.get(Pod, "default/a")
    patch = PodStatusPatch(condition=PodCondition(type="X", status="False"))
    cluster.patch_pod_status(pod, patch)
    version = cluster.resource_version
    cluster.patch_pod_status(pod, patch)
    assert cluster.resource_version == version


def test_patch_needs_the_very_pod() -> None:
    cluster = make_cluster(make_pod(name="a", uid="other"))
    with pytest.raises(NotFoundError):
        cluster.patch_pod_status(make_pod(name="a"), PodStatusPatch())


# Deleting


def test_pod_without_a_node_vanishes_at_once() -> None:
    cluster = make_cluster(make_pod(name="a"))
    watch = cluster.watch(Pod, cluster.resource_version, lambda: None)
    cluster.delete(Pod, "default/a")
    assert [event.type for event in watch.take()] == [WatchEventType.DELETED]


def test_running_pod_terminates_and_vanishes_after_its_grace_period() -> None:
    clock = VirtualClock(start=100.0)
    pod = make_pod(name="a", node="n", termination_grace_period_seconds=20)
    cluster = make_cluster(make_node(name="n"), pod, clock=clock)
    cluster.delete(Pod, "default/a")
    leaving = cluster.get(Pod, "default/a").metadata
    assert leaving.deletion_timestamp == 120.0
    assert leaving.deletion_grace_period_seconds == 20
    clock.advance(19.0)
    assert cluster.get(Pod, "default/a").is_terminating
    clock.advance(1.0)
    assert not cluster.list(Pod).items


def test_grace_period_of_the_call_overrides_the_pods_own() -> None:
    clock = VirtualClock()
    cluster = make_cluster(
        make_node(name="n"),
        make_pod(name="a", node="n"),
        make_pod(name="b", node="n"),
        clock=clock,
    )
    cluster.delete(Pod, "default/a", grace_period_seconds=0)
    cluster.delete(Pod, "default/b", grace_period_seconds=5)
    assert object_names(cluster.list(Pod).items) == ["b"]
    clock.advance(5.0)
    assert not cluster.list(Pod).items


def test_second_delete_can_only_shorten_the_grace_period() -> None:
    clock = VirtualClock(start=0.0)
    pod = make_pod(name="a", node="n")
    cluster = make_cluster(make_node(name="n"), pod, clock=clock)
    for grace, deadline in ((30, 30.0), (60, 30.0), (10, 10.0)):
        cluster.delete(Pod, "default/a", grace_period_seconds=grace)
        metadata = cluster.get(Pod, "default/a").metadata
        assert metadata.deletion_timestamp == deadline
    clock.advance(10.0)
    assert not cluster.list(Pod).items


def test_finished_pod_vanishes_at_once() -> None:
    pod = make_pod(name="a", node="n", phase="Succeeded")
    cluster = make_cluster(make_node(name="n"), pod)
    cluster.delete(Pod, "default/a")
    assert not cluster.list(Pod).items


def test_late_grace_timer_spares_the_pods_successor() -> None:
    clock = VirtualClock()
    cluster = make_cluster(
        make_node(name="n"), make_pod(name="a", node="n"), clock=clock
    )
    cluster.delete(Pod, "default/a")
    cluster.delete(Pod, "default/a", grace_period_seconds=0)
    cluster.create(make_pod(name="a", node="n"))
    clock.advance(100.0)
    assert not cluster.get(Pod, "default/a").is_terminating


def test_delete_of_a_uid_spares_other_pods() -> None:
    cluster = make_cluster(make_pod(name="a"))
    with pytest.raises(ConflictError, match="uid"):
        cluster.delete(Pod, "default/a", uid="another")
    cluster.delete(Pod, "default/a", uid=make_pod(name="a").uid)
    with pytest.raises(NotFoundError):
        cluster.delete(Pod, "default/a")


def test_finalizer_keeps_a_deleted_pod_until_it_is_removed() -> None:
    pod = make_pod(name="a")
    pod = replace(pod, metadata=replace(pod.metadata, finalizers=("keep/it",)))
    cluster = make_cluster(pod)
    cluster.delete(Pod, "default/a")
    leaving = cluster.get(Pod, "default/a")
    assert leaving.is_terminating
    cluster.update(replace(leaving, metadata=replace(leaving.metadata, finalizers=())))
    assert not cluster.list(Pod).items


def test_finalizer_holds_a_running_pod_only_after_it_has_ended() -> None:
    clock = VirtualClock()
    pod = make_pod(name="a", node="n")
    pod = replace(pod, metadata=replace(pod.metadata, finalizers=("keep/it",)))
    cluster = make_cluster(make_node(name="n"), pod, clock=clock)
    cluster.delete(Pod, "default/a")
    assert cluster.get(Pod, "default/a").status.phase == "Running"
    clock.advance(30.0)
    assert cluster.get(Pod, "default/a").status.phase == "Failed"


def test_pods_of_a_lost_node_are_removed_unless_it_comes_back() -> None:
    clock = VirtualClock()
    cluster = make_cluster(
        *(make_node(name=name) for name in ("gone", "back")),
        make_pod(name="a", node="gone"),
        make_pod(name="b", node="back"),
        clock=clock,
    )
    cluster.delete(Node, "gone")
    cluster.delete(Node, "back")
    clock.advance(39.0)
    cluster.create(make_node(name="back"))
    clock.advance(1.0)
    assert object_names(cluster.list(Pod).items) == ["b"]


def test_pods_of_a_lost_node_are_removed_in_the_order_of_their_creation() -> None:
    clock = VirtualClock()
    pods = [make_pod(name=name) for name in ("c", "a", "b")]
    cluster = make_cluster(make_node(name="gone"), *pods, clock=clock)
    for name in ("b", "c", "a"):
        cluster.bind(cluster.get(Pod, f"default/{name}"), "gone")
    cluster.delete(Node, "gone")
    watch = cluster.watch(Pod, cluster.resource_version, lambda: None)
    clock.advance(40.0)
    deleted = [e.object for e in watch.take() if e.type is WatchEventType.DELETED]
    assert object_names(deleted) == ["c", "a", "b"]
