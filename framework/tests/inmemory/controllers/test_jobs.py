"""Jobs of the in-memory cluster."""

from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from quaymaster.clock import VirtualClock
from quaymaster.memory import RUN_SECONDS_ANNOTATION, MemoryCluster
from quaymaster.objects import (
    ApiObject,
    Job,
    JobSpec,
    LabelSelector,
    ObjectMeta,
    Pod,
    PodSpec,
    PodTemplateSpec,
)
from quaymaster.testing import make_container, make_node

LABELS = {"app": "web"}
SELECTOR = LabelSelector(match_labels=LABELS)


def make_template(run_for: str) -> PodTemplateSpec:
    annotations = {RUN_SECONDS_ANNOTATION: run_for}
    return PodTemplateSpec(
        metadata=ObjectMeta(labels=LABELS, annotations=annotations),
        spec=PodSpec(containers=(make_container(),), restart_policy="Never"),
    )


def make_job(
    *,
    run_for: str = "10",
    indexed: bool = False,
    parallelism: int | None = None,
    completions: int | None = None,
    backoff_limit: int | None = None,
    suspend: bool = False,
) -> Job:
    return Job(
        metadata=ObjectMeta(name="sum"),
        spec=JobSpec(
            template=make_template(run_for),
            completion_mode="Indexed" if indexed else None,
            parallelism=parallelism,
            completions=completions,
            backoff_limit=backoff_limit,
            suspend=suspend,
        ),
    )


def make_cluster(
    *objects: ApiObject, clock: VirtualClock | None = None
) -> MemoryCluster:
    cluster = MemoryCluster(clock or VirtualClock())
    cluster.load([make_node(name="n0"), *objects])
    return cluster


def pods_of(cluster: MemoryCluster) -> list[Pod]:
    return list(cluster.list(Pod).items)


def names_of(cluster: MemoryCluster) -> list[str]:
    return [pod.name for pod in pods_of(cluster)]


def react(cluster: MemoryCluster) -> None:
    """Let the controllers do what is due now."""
    cluster.clock.run_due()


def schedule(cluster: MemoryCluster) -> None:
    """Bind every pod that waits, until no more come."""
    while waiting := [pod for pod in pods_of(cluster) if not pod.node_name]:
        for pod in waiting:
            cluster.bind(pod, "n0")
        react(cluster)


def run_jobs(cluster: MemoryCluster, seconds: float) -> list[int]:
    """Let time pass, binding what waits; how many pods ran in each second."""
    running = []
    assert isinstance(cluster.clock, VirtualClock)
    for _ in range(int(seconds)):
        schedule(cluster)
        running.append(sum(p.status.phase == "Running" for p in pods_of(cluster)))
        cluster.clock.advance(1.0)
    return running


def test_job_runs_so_many_pods_at_once_until_so_many_have_succeeded() -> None:
    cluster = make_cluster(make_job(parallelism=2, completions=5, run_for="2"))
    assert run_jobs(cluster, 8) == [2, 2, 2, 2, 1, 1, 0, 0]
    assert [pod.status.phase for pod in pods_of(cluster)] == ["Succeeded"] * 5
    (event,) = [e for e in cluster.events() if e.regarding.kind == "Job"]
    assert event.reason == "Completed"


def test_pods_of_a_job_carry_its_labels() -> None:
    cluster = make_cluster(make_job())
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
    cluster = make_cluster(make_job(parallelism=2, completions=3, indexed=True))
    schedule(cluster)
    for pod, index in zip(pods_of(cluster), "01", strict=True):
        assert pod.name.startswith(f"sum-{index}-")
        assert pod.labels[key] == pod.annotations[key] == index


def test_index_of_a_deleted_pod_is_taken_again_before_others() -> None:
    cluster = make_cluster(make_job(parallelism=2, completions=5, indexed=True))
    schedule(cluster)
    cluster.delete(Pod, pods_of(cluster)[0].key, grace_period_seconds=0)
    react(cluster)
    assert sorted(name[: len("sum-0")] for name in names_of(cluster)) == [
        "sum-0",
        "sum-1",
    ]


@given(
    parallelism=st.integers(1, 4),
    completions=st.integers(1, 8),
    losses=st.lists(st.integers(0, 7), max_size=6),
)
@settings(max_examples=40, deadline=None)
def test_every_index_succeeds_exactly_once_whatever_is_lost(
    parallelism: int, completions: int, losses: list[int]
) -> None:
    job = make_job(
        parallelism=parallelism, completions=completions, indexed=True, run_for="2"
    )
    clock = VirtualClock()
    cluster = make_cluster(job, clock=clock)
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
    cluster = make_cluster(make_job(parallelism=3, run_for="5"), clock=clock)
    first, *_ = pods_of(cluster)
    cluster.bind(first, "n0")
    clock.advance(5.0)
    assert len(pods_of(cluster)) == 3
    schedule(cluster)
    clock.advance(60.0)
    assert [pod.status.phase for pod in pods_of(cluster)] == ["Succeeded"] * 3


def test_suspended_job_has_no_pods_until_it_is_resumed() -> None:
    clock = VirtualClock()
    cluster = make_cluster(make_job(suspend=True), clock=clock)
    assert pods_of(cluster) == []
    for suspend, left in ((False, 1), (True, 0)):
        (job,) = cluster.list(Job).items
        cluster.update(replace(job, spec=replace(job.spec, suspend=suspend)))
        clock.advance(0.0)
        assert len(pods_of(cluster)) == left


def test_job_gives_up_after_too_many_failures() -> None:
    cluster = make_cluster(make_job(backoff_limit=1))
    for _ in range(4):
        for pod in pods_of(cluster):
            if not pod.is_finished:
                failed = replace(pod.status, phase="Failed")
                cluster.update(replace(pod, status=failed))
        react(cluster)
    assert [pod.status.phase for pod in pods_of(cluster)] == ["Failed"] * 2
