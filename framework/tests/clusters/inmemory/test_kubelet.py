"""Pods of the in-memory cluster run and end."""

import pytest

from quaymaster import Pod
from quaymaster.inmemory import RUN_SECONDS_ANNOTATION, AdmissionError, InMemoryCluster
from quaymaster.objects import PodCondition
from quaymaster.scheduler import VirtualClock
from quaymaster.testing import make_pod
from tests.kit.clusters import make_cluster


def run_for(text: str) -> dict[str, str]:
    return {RUN_SECONDS_ANNOTATION: text}


def phase(cluster: InMemoryCluster, name: str = "pod") -> str:
    return cluster.get(Pod, f"default/{name}").status.phase


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("90", 90.0),
        ("0.5", 0.5),
        (" 90 ", 90.0),
        ("90s", 90.0),
        ("5m", 300.0),
        ("1h30m", 5400.0),
        ("1.5h", 5400.0),
        ("250ms", 0.25),
        ("0", 0.0),
    ],
)
def test_pod_succeeds_after_its_run_time(text: str, seconds: float) -> None:
    clock = VirtualClock(start=1000.0)
    pod = make_pod(annotations=run_for(text))
    cluster = make_cluster(pod, nodes=1, clock=clock)
    clock.advance(5.0)
    cluster.bind(pod, "n0")
    assert phase(cluster) == "Running"
    assert clock.next_due() == 1005.0 + seconds
    clock.advance(seconds)
    assert phase(cluster) == "Succeeded"


@pytest.mark.parametrize(
    "text", ["", "soon", "-1", "5 m", "m", "1h30", "1d", "inf", "nan", "٣"]
)
def test_invalid_run_time_is_rejected(text: str) -> None:
    with pytest.raises(AdmissionError, match="expected seconds or a duration"):
        make_cluster(make_pod(annotations=run_for(text)), nodes=1)


def test_pod_without_the_annotation_runs_for_ever() -> None:
    clock = VirtualClock()
    cluster = make_cluster(make_pod(), nodes=1, clock=clock)
    cluster.bind(make_pod(), "n0")
    clock.advance(1e9)
    assert phase(cluster) == "Running"
    assert clock.next_due() is None


def test_pod_that_came_running_ends_when_its_time_since_the_start_is_over() -> None:
    clock = VirtualClock(start=1000.0)
    cluster = make_cluster(
        make_pod(node="n0", annotations=run_for("60"), start_time=970.0),
        make_pod(name="late", node="n0", annotations=run_for("60"), start_time=1.0),
        make_pod(name="early", node="n0", annotations=run_for("60"), start_time=9e9),
        nodes=1,
        clock=clock,
    )
    clock.advance(0.0)
    assert phase(cluster, "late") == "Succeeded"
    clock.advance(30.0)
    assert phase(cluster) == "Succeeded"
    assert phase(cluster, "early") == "Running"
    clock.advance(30.0)
    assert phase(cluster, "early") == "Succeeded"


def test_pending_pod_that_came_on_a_node_starts() -> None:
    clock = VirtualClock(start=1000.0)
    cluster = make_cluster(make_pod(node="n0", phase="Pending"), nodes=1, clock=clock)
    pod = cluster.get(Pod, "default/pod")
    assert pod.status.phase == "Running"
    assert pod.status.start_time == 1000.0


def test_pod_that_came_running_keeps_its_conditions() -> None:
    conditions = (PodCondition(type="Ready", status="False", reason="Starting"),)
    cluster = make_cluster(make_pod(node="n0", conditions=conditions), nodes=1)
    assert cluster.get(Pod, "default/pod").status.conditions == conditions


def test_succeeded_pod_is_no_longer_ready() -> None:
    clock = VirtualClock()
    cluster = make_cluster(
        make_pod(node="n0", annotations=run_for("1")), nodes=1, clock=clock
    )
    clock.advance(1.0)
    conditions = cluster.get(Pod, "default/pod").status.conditions
    ready = next(c for c in conditions if c.type == "Ready")
    assert (ready.status, ready.reason) == ("False", "PodCompleted")


def test_terminating_pod_that_ends_is_gone_before_its_grace_period() -> None:
    clock = VirtualClock()
    cluster = make_cluster(
        make_pod(node="n0", annotations=run_for("10")), nodes=1, clock=clock
    )
    cluster.delete(Pod, "default/pod")
    clock.advance(10.0)
    assert not cluster.list(Pod).items


def test_end_of_a_deleted_pod_spares_its_successor() -> None:
    clock = VirtualClock()
    cluster = make_cluster(
        make_pod(node="n0", annotations=run_for("10")), nodes=1, clock=clock
    )
    cluster.delete(Pod, "default/pod", grace_period_seconds=0)
    cluster.create(make_pod(node="n0"))
    clock.advance(10.0)
    assert phase(cluster) == "Running"


def test_pods_bound_at_one_moment_share_their_status() -> None:
    pods = [make_pod(name=name) for name in "ab"]
    cluster = make_cluster(*pods, nodes=1)
    for pod in pods:
        cluster.bind(pod, "n0")
    first, second = cluster.list(Pod).items
    assert first.status is second.status
