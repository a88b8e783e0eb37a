"""StatefulSets of the in-memory cluster."""

from msgspec.structs import replace

from quaymaster import Pod
from quaymaster.objects import PersistentVolumeClaim, StatefulSet
from quaymaster.scheduler import VirtualClock
from quaymaster.testing import make_pod
from tests.kit.clusters import make_cluster, names_of, pods_of, react, schedule
from tests.kit.volumes import make_default_class
from tests.kit.workloads import LABELS, make_stateful_set, scale


def test_stateful_set_makes_the_next_pod_when_the_last_one_runs() -> None:
    cluster = make_cluster(make_stateful_set(3), nodes=1)
    for count in (1, 2, 3):
        assert names_of(cluster) == [f"web-{index}" for index in range(count)]
        cluster.bind(pods_of(cluster)[-1], "n0")
        react(cluster)
    assert len(pods_of(cluster)) == 3


def test_parallel_stateful_set_makes_all_pods_at_once() -> None:
    cluster = make_cluster(make_stateful_set(3, policy="Parallel", start=5), nodes=1)
    assert names_of(cluster) == ["web-5", "web-6", "web-7"]


def test_pods_of_a_stateful_set_have_their_ordinal_and_claims() -> None:
    cluster = make_cluster(
        make_stateful_set(2, policy="Parallel", claims=["data"]), nodes=1
    )
    pod = cluster.get(Pod, "default/web-1")
    assert pod.labels["statefulset.kubernetes.io/pod-name"] == "web-1"
    assert pod.labels["apps.kubernetes.io/pod-index"] == "1"
    assert pod.labels["controller-revision-hash"].startswith("web-")
    (volume,) = pod.spec.volumes
    assert volume.persistent_volume_claim is not None
    assert volume.persistent_volume_claim.claim_name == "data-web-1"
    claims = cluster.list(PersistentVolumeClaim).items
    assert [claim.name for claim in claims] == ["data-web-0", "data-web-1"]
    assert claims[0].labels == LABELS


def test_pod_of_a_stateful_set_returns_under_its_name_when_it_is_gone() -> None:
    clock = VirtualClock()
    cluster = make_cluster(
        make_default_class("Immediate"),
        make_stateful_set(2, claims=["data"]),
        clock=clock,
        nodes=1,
    )
    schedule(cluster)
    first = cluster.get(Pod, "default/web-0")
    cluster.delete(Pod, "default/web-0")
    clock.advance(29.0)
    assert cluster.get(Pod, "default/web-0").uid == first.uid
    clock.advance(1.0)
    second = cluster.get(Pod, "default/web-0")
    assert second.uid != first.uid
    assert len(cluster.list(PersistentVolumeClaim).items) == 2


def test_failed_pod_is_recreated_under_its_name() -> None:
    cluster = make_cluster(make_stateful_set(1), nodes=1)
    schedule(cluster)
    pod = cluster.get(Pod, "default/web-0")
    cluster.update(replace(pod, status=replace(pod.status, phase="Failed")))
    react(cluster)
    assert cluster.get(Pod, "default/web-0").uid != pod.uid


def test_pod_that_fails_while_it_terminates_is_replaced_when_it_is_gone() -> None:
    clock = VirtualClock()
    cluster = make_cluster(make_stateful_set(1), clock=clock, nodes=1)
    schedule(cluster)
    cluster.delete(Pod, "default/web-0")
    pod = cluster.get(Pod, "default/web-0")
    cluster.update(replace(pod, status=replace(pod.status, phase="Failed")))
    react(cluster)
    assert cluster.get(Pod, "default/web-0").uid == pod.uid
    clock.advance(30.0)
    assert cluster.get(Pod, "default/web-0").uid != pod.uid


def test_name_that_another_pod_has_leaves_an_event() -> None:
    cluster = make_cluster(make_pod(name="web-0"), make_stateful_set(1), nodes=1)
    (event,) = cluster.events()
    assert (event.reason, event.regarding.kind) == ("FailedCreate", "StatefulSet")


def test_ordered_stateful_set_shrinks_from_the_end_one_by_one() -> None:
    clock = VirtualClock()
    cluster = make_cluster(make_stateful_set(3), clock=clock, nodes=1)
    schedule(cluster)
    scale(cluster, StatefulSet, 1)
    assert [pod.is_terminating for pod in pods_of(cluster)] == [False, False, True]
    clock.advance(30.0)
    assert [pod.is_terminating for pod in pods_of(cluster)] == [False, True]
    clock.advance(30.0)
    assert names_of(cluster) == ["web-0"]


def test_parallel_stateful_set_shrinks_at_once() -> None:
    clock = VirtualClock()
    cluster = make_cluster(
        make_stateful_set(3, policy="Parallel"), clock=clock, nodes=1
    )
    schedule(cluster)
    scale(cluster, StatefulSet, 1)
    clock.advance(30.0)
    assert names_of(cluster) == ["web-0"]
