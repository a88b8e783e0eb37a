"""Jobs of the in-memory cluster."""

from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from quaymaster import Pod
from quaymaster.inmemory import InMemoryCluster
from quaymaster.objects import Job
from quaymaster.scheduler import VirtualClock
from tests.kit.clusters import make_cluster, names_of, pods_of, react, schedule
from tests.kit.workloads import LABELS, make_job


def run_jobs(cluster: InMemoryCluster, seconds: float) -> list[int]:
    """Let time pass while pods are bound; return the running pods per second."""
    running = []
    assert isinstance(cluster.clock, VirtualClock)
    for _ in range(int(seconds)):
        schedule(cluster)
        running.append(sum(p.status.phase == "Running" for p in pods_of(cluster)))
        cluster.clock.advance(1.0)
    return running


def advance(cluster: InMemoryCluster, seconds: float) -> None:
    assert isinstance(cluster.clock, VirtualClock)
    cluster.clock.advance(seconds)


def test_job_runs_parallelism_pods_at_once_until_its_completions() -> None:
    cluster = make_cluster(make_job(parallelism=2, completions=5, run_for="2"), nodes=1)
    assert run_jobs(cluster, 8) == [2, 2, 2, 2, 1, 1, 0, 0]
    assert [pod.status.phase for pod in pods_of(cluster)] == ["Succeeded"] * 5
    (event,) = [e for e in cluster.events() if e.regarding.kind == "Job"]
    assert event.reason == "Completed"


def test_pods_of_a_job_carry_its_labels() -> None:
    cluster = make_cluster(make_job(), nodes=1)
    (job,), (pod,) = cluster.list(Job).items, pods_of(cluster)
    assert pod.name.startswith("sum-")
    assert pod.labels == {
        **LABELS,
        "controller-uid": job.uid,
        "batch.kubernetes.io/controller-uid": job.uid,
        "job-name": "sum",
        "batch.kubernetes.io/job-name": "sum",
    }


def test_indexed_job_counts_its_pods() -> None:
    key = "batch.kubernetes.io/job-completion-index"
    cluster = make_cluster(
        make_job(parallelism=2, completions=3, indexed=True), nodes=1
    )
    schedule(cluster)
    for pod, index in zip(pods_of(cluster), "01", strict=True):
        assert pod.name.startswith(f"sum-{index}-")
        assert pod.labels[key] == pod.annotations[key] == index


def test_index_of_a_deleted_pod_is_taken_again_before_others() -> None:
    cluster = make_cluster(
        make_job(parallelism=2, completions=5, indexed=True), nodes=1
    )
    schedule(cluster)
    cluster.delete(Pod, pods_of(cluster)[0].key, grace_period_seconds=0)
    react(cluster)
    assert [name[: len("sum-0")] for name in names_of(cluster)] == ["sum-1"]
    advance(cluster, 10.0)
    created = [name[: len("sum-0")] for name in names_of(cluster)]
    assert created == ["sum-1", "sum-0", "sum-2"]


@given(
    parallelism=st.integers(1, 4),
    completions=st.integers(1, 8),
    losses=st.lists(st.integers(0, 7), max_size=6),
)
def test_every_index_succeeds_exactly_once_whatever_is_lost(
    parallelism: int, completions: int, losses: list[int]
) -> None:
    job = make_job(
        parallelism=parallelism, completions=completions, indexed=True, run_for="2"
    )
    clock = VirtualClock()
    cluster = make_cluster(job, clock=clock, nodes=1)
    for number in losses:
        schedule(cluster)
        clock.advance(1.0)
        running = [p for p in pods_of(cluster) if p.status.phase == "Running"]
        if running:
            cluster.delete(Pod, running[number % len(running)].key)
    run_jobs(cluster, 60)
    key = "batch.kubernetes.io/job-completion-index"
    ended = [p for p in pods_of(cluster) if p.status.phase == "Succeeded"]
    assert sorted(int(p.labels[key]) for p in ended) == list(range(completions))


def test_job_without_completions_is_done_when_its_first_pods_are() -> None:
    clock = VirtualClock()
    cluster = make_cluster(make_job(parallelism=3, run_for="5"), clock=clock, nodes=1)
    first, *_ = pods_of(cluster)
    cluster.bind(first, "n0")
    clock.advance(5.0)
    assert len(pods_of(cluster)) == 3
    schedule(cluster)
    clock.advance(60.0)
    assert [pod.status.phase for pod in pods_of(cluster)] == ["Succeeded"] * 3


def test_suspended_job_has_no_pods_until_it_is_resumed() -> None:
    clock = VirtualClock()
    cluster = make_cluster(make_job(suspend=True), clock=clock, nodes=1)
    assert pods_of(cluster) == []
    for suspend, left in ((False, 1), (True, 0)):
        (job,) = cluster.list(Job).items
        cluster.update(replace(job, spec=replace(job.spec, suspend=suspend)))
        clock.advance(0.0)
        assert len(pods_of(cluster)) == left


def test_job_fails_after_too_many_failures() -> None:
    cluster = make_cluster(make_job(backoff_limit=1), nodes=1)
    for _ in range(4):
        for pod in pods_of(cluster):
            if not pod.is_finished:
                failed = replace(pod.status, phase="Failed")
                cluster.update(replace(pod, status=failed))
        advance(cluster, 10.0)
    assert [pod.status.phase for pod in pods_of(cluster)] == ["Failed"] * 2
