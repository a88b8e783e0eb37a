"""Jobs that are loaded with a status run only the remaining pods."""

from collections.abc import Sequence
from typing import Any

import pytest

from quaymaster import Pod
from quaymaster.objects import Job, from_wire
from quaymaster.testing import make_node
from tests.kit.clusters import make_cluster
from tests.kit.internals.inmemory import IndexRanges

TEMPLATE: dict[str, Any] = {
    "metadata": {"labels": {"job-name": "sum"}},
    "spec": {"restartPolicy": "Never", "containers": [{"name": "c", "image": "i"}]},
}
INDEX = "batch.kubernetes.io/job-completion-index"


def job_with(status: dict[str, Any] | None = None, **spec: object) -> Job:
    metadata = {"name": "sum", "namespace": "default", "uid": "job-1"}
    tree = {
        "metadata": metadata,
        "spec": {"template": TEMPLATE, **spec},
        "status": status or {},
    }
    return from_wire(tree, Job)


def make_job_pod(
    name: str, phase: str, *, index: int | None = None, tracked: bool = False
) -> Pod:
    owner = {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "name": "sum",
        "uid": "job-1",
        "controller": True,
    }
    metadata: dict[str, Any] = {
        "name": name,
        "namespace": "default",
        "uid": name,
        "labels": {"job-name": "sum"},
        "ownerReferences": [owner],
    }
    if index is not None:
        metadata["annotations"] = {INDEX: str(index)}
    if tracked:
        metadata["finalizers"] = ["batch.kubernetes.io/job-tracking"]
    spec = {**TEMPLATE["spec"], "nodeName": "n0"}
    return from_wire(
        {"metadata": metadata, "spec": spec, "status": {"phase": phase}}, Pod
    )


def new_pods(job: Job, *pods: Pod) -> Sequence[Pod]:
    """Return the pods that the Job gets in addition to those that it had."""
    cluster = make_cluster(job, *pods, nodes=1)
    had = {pod.key for pod in pods}
    return [pod for pod in cluster.list(Pod).items if pod.key not in had]


def indexes(pods: Sequence[Pod]) -> list[int]:
    return sorted(int(pod.metadata.annotations[INDEX]) for pod in pods)


@pytest.mark.parametrize("condition", ["Complete", "Failed"])
def test_a_finished_job_creates_no_pods(condition: str) -> None:
    status = {"conditions": [{"type": condition, "status": "True"}]}
    assert not new_pods(job_with(status, completions=5, parallelism=5))


def test_a_condition_that_is_not_true_ends_nothing() -> None:
    status = {"conditions": [{"type": "Failed", "status": "False"}]}
    assert len(new_pods(job_with(status))) == 1


@pytest.mark.parametrize("condition", ["SuccessCriteriaMet", "FailureTarget"])
def test_a_job_that_is_about_to_end_loses_its_running_pods(condition: str) -> None:
    status = {"conditions": [{"type": condition, "status": "True"}]}
    cluster = make_cluster()
    running = make_job_pod("a", "Running")
    cluster.load([make_node(name="n0"), job_with(status), running])
    assert [pod.is_terminating for pod in cluster.list(Pod).items] == [True]


@pytest.mark.parametrize(
    ("status", "pods", "left"),
    [
        pytest.param({"succeeded": 3}, [], 2, id="pods that are gone"),
        pytest.param(
            {"succeeded": 1}, [("Succeeded", False)], 4, id="pods that are still there"
        ),
        pytest.param(
            {"succeeded": 3}, [("Succeeded", False)], 2, id="some here, some gone"
        ),
        pytest.param(
            {"succeeded": 1}, [("Succeeded", True)], 3, id="a pod not counted yet"
        ),
        pytest.param(
            {
                "succeeded": 1,
                "uncountedTerminatedPods": {"succeeded": ["pod-0", "gone"]},
            },
            [("Succeeded", True)],
            2,
            id="pods that are about to be counted",
        ),
        pytest.param({}, [("Succeeded", False)], 4, id="no counts at all"),
        pytest.param(
            {"succeeded": 2, "active": 1}, [("Running", True)], 2, id="one runs"
        ),
        pytest.param({"failed": 2}, [("Failed", False)], 5, id="some have failed"),
    ],
)
def test_only_what_is_left_of_a_job_is_done(
    status: dict[str, Any], pods: list[tuple[str, bool]], left: int
) -> None:
    job = job_with(status, completions=5, parallelism=5)
    had = [
        make_job_pod(f"pod-{number}", phase, tracked=tracked)
        for number, (phase, tracked) in enumerate(pods)
    ]
    assert len(new_pods(job, *had)) == left


def test_failures_of_pods_that_are_gone_count_for_the_limit() -> None:
    assert not new_pods(job_with({"failed": 7}, backoffLimit=6))
    assert len(new_pods(job_with({"failed": 6}, backoffLimit=6))) == 1


def test_completed_indexes_are_not_done_again() -> None:
    job = job_with(
        {"succeeded": 3, "completedIndexes": "0,2-3"},
        completionMode="Indexed",
        completions=6,
        parallelism=6,
    )
    running = make_job_pod("one", "Running", index=1)
    assert indexes(new_pods(job, running)) == [4, 5]


def test_indexes_that_have_failed_for_good_are_left_alone() -> None:
    spec: dict[str, Any] = {
        "completionMode": "Indexed",
        "completions": 3,
        "parallelism": 3,
        "backoffLimitPerIndex": 1,
    }
    partly = job_with({"failed": 2, "failedIndexes": "0"}, **spec)
    assert indexes(new_pods(partly)) == [1, 2]
    over = {"succeeded": 2, "completedIndexes": "1,2", "failedIndexes": "0"}
    assert not new_pods(job_with(over, **spec))


def test_a_work_queue_that_has_seen_success_gets_no_more_pods() -> None:
    job = job_with({"succeeded": 1}, parallelism=3)
    assert not new_pods(job)


def test_a_job_of_another_controller_gets_no_pods_and_a_notice() -> None:
    cluster = make_cluster(
        job_with(managedBy="kueue.x-k8s.io/multikueue", parallelism=2)
    )
    assert not cluster.list(Pod).items
    (notice,) = cluster.notices()
    assert str(notice) == (
        "Job default/sum: 2 pods were not created: "
        "kueue.x-k8s.io/multikueue manages this Job"
    )


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", set()),
        ("0", {0}),
        ("1,3-5", {1, 3, 4, 5}),
        ("8-99999999999", {8, 9}),
        ("x,2-,-3,4", {4}),
        ("5-7,1,6-8,2", {1, 2, 5, 6, 7, 8}),
        ("7-3", set()),
        pytest.param("9" * 5000, set(), id="a number that is too long"),
    ],
)
def test_indexes_are_numbers_and_ranges(text: str, expected: set[int]) -> None:
    ranges = IndexRanges(text, 10)
    assert {index for index in range(12) if index in ranges} == expected
    assert len(ranges) == len(expected)


def test_a_large_job_that_is_nearly_done_loads_quickly() -> None:
    job = job_with(
        {
            "succeeded": 2_000_000_000,
            "completedIndexes": "0-999999999,1000000001-2000000000",
        },
        completionMode="Indexed",
        completions=2_000_000_001,
        parallelism=10,
    )
    assert indexes(new_pods(job)) == [1_000_000_000]
