"""Pods of the in-memory cluster take time to start and to end."""

import math
from typing import Final

import pytest
from msgspec.structs import replace

from quaymaster import Pod
from quaymaster.inmemory import (
    DEFAULT_POD_TIMES,
    RUN_SECONDS_ANNOTATION,
    STARTUP_SECONDS_ANNOTATION,
    TERMINATION_SECONDS_ANNOTATION,
    AdmissionError,
    InMemoryCluster,
    PodTimes,
)
from quaymaster.objects import (
    Container,
    Lifecycle,
    LifecycleHandler,
    Probe,
    SleepAction,
)
from quaymaster.scheduler import VirtualClock
from quaymaster.testing import make_node, make_pod, make_replica_set

INSTANT: Final = PodTimes()


def cluster_of(
    pod: Pod, times: PodTimes = INSTANT
) -> tuple[InMemoryCluster, VirtualClock]:
    clock = VirtualClock(start=0.0)
    cluster = InMemoryCluster(clock, controllers=False, times=times)
    cluster.load([make_node(name="n"), pod])
    return cluster, clock


def ready_at(pod: Pod, times: PodTimes = INSTANT) -> float:
    """Return when a pod is ready that is bound at 0; infinity for never."""
    cluster, clock = cluster_of(pod, times)
    cluster.bind(pod, "n")
    while not is_ready(cluster):
        due = clock.next_due()
        if due is None:
            return math.inf
        clock.advance(due - clock.now())
    return clock.now()


def is_ready(cluster: InMemoryCluster) -> bool:
    status = cluster.get(Pod, "default/pod").status
    return any(c.type == "Ready" and c.status == "True" for c in status.conditions)


def probed_container(
    readiness: Probe | None = None, startup: Probe | None = None, *, name: str = "c"
) -> Container:
    return Container(
        name=name, image="i", readiness_probe=readiness, startup_probe=startup
    )


def owned_pod() -> Pod:
    return make_pod(owner=make_replica_set(name="web"))


def test_pod_without_owner_and_probes_runs_from_its_binding_on() -> None:
    cluster, clock = cluster_of(make_pod(), DEFAULT_POD_TIMES)
    cluster.bind(make_pod(), "n")
    assert is_ready(cluster)
    assert clock.next_due() is None


def test_pod_of_a_workload_is_pending_until_its_start_up_time_is_over() -> None:
    cluster, clock = cluster_of(owned_pod(), PodTimes(workload_startup_seconds=20))
    cluster.bind(owned_pod(), "n")
    clock.advance(19)
    pod = cluster.get(Pod, "default/pod")
    assert (pod.node_name, pod.status.phase, is_ready(cluster)) == (
        "n",
        "Pending",
        False,
    )
    clock.advance(1)
    assert cluster.get(Pod, "default/pod").status.phase == "Running"
    assert is_ready(cluster)


def test_pod_with_a_run_time_has_the_start_up_time_of_plain_pods() -> None:
    pod = owned_pod()
    annotations = {RUN_SECONDS_ANNOTATION: "10"}
    pod = replace(pod, metadata=replace(pod.metadata, annotations=annotations))
    times = PodTimes(startup_seconds=2, workload_startup_seconds=20)
    assert ready_at(pod, times) == 2.0


@pytest.mark.parametrize(
    ("text", "seconds"), [("7", 7.0), ("1m", 60.0), ("0", 0.0), ("never", math.inf)]
)
def test_annotation_overrides_the_start_up_time(text: str, seconds: float) -> None:
    pod = make_pod(annotations={STARTUP_SECONDS_ANNOTATION: text})
    assert ready_at(pod, PodTimes(startup_seconds=3)) == seconds


def test_pod_that_never_is_ready_runs() -> None:
    pod = make_pod(annotations={STARTUP_SECONDS_ANNOTATION: "never"})
    cluster, _ = cluster_of(pod)
    cluster.bind(pod, "n")
    assert cluster.get(Pod, "default/pod").status.phase == "Running"
    assert not is_ready(cluster)


def test_start_up_time_that_is_not_a_duration_is_rejected() -> None:
    pod = make_pod(annotations={STARTUP_SECONDS_ANNOTATION: "soon"})
    with pytest.raises(AdmissionError, match=r"startup-seconds\]: expected seconds"):
        cluster_of(pod)


@pytest.mark.parametrize(
    ("container", "startup", "seconds"),
    [
        (probed_container(Probe(initial_delay_seconds=15)), 0, 15.0),
        (probed_container(Probe(period_seconds=5)), 0, 0.0),
        (probed_container(Probe()), 1, 10.0),
        (probed_container(Probe(period_seconds=5, success_threshold=3)), 4, 15.0),
        (probed_container(Probe(initial_delay_seconds=3, period_seconds=4)), 8, 11.0),
        (probed_container(startup=Probe(period_seconds=5)), 7, 10.0),
        (probed_container(startup=Probe(period_seconds=5)), 11, math.inf),
        (
            probed_container(startup=Probe(period_seconds=5, failure_threshold=9)),
            11,
            15.0,
        ),
        (
            probed_container(Probe(success_threshold=2), Probe(period_seconds=2)),
            3,
            14.0,
        ),
        (
            probed_container(Probe(initial_delay_seconds=30), Probe(period_seconds=2)),
            3,
            30.0,
        ),
    ],
    ids=[
        "the initial delay",
        "the first check succeeds",
        "the first check fails",
        "three checks succeed",
        "checks begin after the delay",
        "a startup probe",
        "a startup probe gives up",
        "a patient startup probe",
        "readiness is checked after the start",
        "a delay longer than the start",
    ],
)
def test_pod_is_ready_when_its_probes_have_succeeded(
    container: Container, startup: float, seconds: float
) -> None:
    pod = make_pod(containers=[container])
    assert ready_at(pod, PodTimes(startup_seconds=startup)) == seconds


def test_containers_start_after_the_sidecar_before_them() -> None:
    sidecar = replace(
        probed_container(startup=Probe(period_seconds=4)), restart_policy="Always"
    )
    main = probed_container(Probe(period_seconds=5), name="main")
    pod = make_pod(containers=[main], init_containers=[sidecar])
    assert ready_at(pod, PodTimes(startup_seconds=3)) == 4.0 + 5.0


def test_probes_of_an_init_container_that_ends_do_not_count() -> None:
    init = probed_container(Probe(initial_delay_seconds=60), name="init")
    assert ready_at(make_pod(init_containers=[init])) == 0.0


def test_pod_that_is_deleted_while_it_starts_never_runs() -> None:
    cluster, clock = cluster_of(make_pod(), PodTimes(startup_seconds=10))
    cluster.bind(make_pod(), "n")
    cluster.delete(Pod, "default/pod")
    clock.advance(10)
    assert cluster.get(Pod, "default/pod").status.phase == "Pending"


def test_pod_on_a_node_without_kubelet_starts_when_it_answers_again() -> None:
    cluster, clock = cluster_of(make_pod(), PodTimes(startup_seconds=10))
    cluster.bind(make_pod(), "n")
    cluster.stop_kubelets(["n"])
    clock.advance(20)
    assert not is_ready(cluster)
    cluster.start_kubelets(["n"])
    clock.advance(10)
    assert is_ready(cluster)


def gone_after(pod: Pod, times: PodTimes = INSTANT) -> float:
    cluster, clock = cluster_of(pod, times)
    cluster.bind(pod, "n")
    cluster.delete(Pod, "default/pod")
    begin = clock.now()
    while cluster.list(Pod).items:
        due = clock.next_due()
        assert due is not None
        clock.advance(due - clock.now())
    return clock.now() - begin


def sleeping(seconds: int) -> Container:
    hook = LifecycleHandler(sleep=SleepAction(seconds=seconds))
    return Container(name="c", image="i", lifecycle=Lifecycle(pre_stop=hook))


@pytest.mark.parametrize(
    ("pod", "times", "seconds"),
    [
        (make_pod(), PodTimes(), 30.0),
        (make_pod(), PodTimes(termination_seconds=4), 4.0),
        (make_pod(), PodTimes(termination_seconds=90), 30.0),
        (make_pod(containers=[sleeping(5)]), PodTimes(termination_seconds=4), 9.0),
        (make_pod(annotations={TERMINATION_SECONDS_ANNOTATION: "2"}), PodTimes(), 2.0),
    ],
    ids=["grace period", "sooner", "never later", "after its hook", "annotation"],
)
def test_deleted_pod_ends_within_its_grace_period(
    pod: Pod, times: PodTimes, seconds: float
) -> None:
    assert gone_after(pod, times) == seconds


def test_pod_that_ends_soon_is_marked_with_its_whole_grace_period() -> None:
    cluster, _ = cluster_of(make_pod(), PodTimes(termination_seconds=4))
    cluster.bind(make_pod(), "n")
    cluster.delete(Pod, "default/pod")
    assert cluster.get(Pod, "default/pod").metadata.deletion_timestamp == 30.0
