"""Policies decide how Jobs end and how failed pods count.

As ``pkg/controller/job`` and ``pkg/controller/ttlafterfinished`` (Kubernetes v1.37).
"""

from collections.abc import Mapping
from typing import Any

import pytest

from quaymaster import Pod
from quaymaster.inmemory import InMemoryCluster
from quaymaster.objects import Job, from_wire, to_wire
from quaymaster.scheduler import VirtualClock
from tests.kit.clusters import make_cluster, pods_of, react, schedule

INDEX = "batch.kubernetes.io/job-completion-index"


def cluster_with(**spec: object) -> InMemoryCluster:
    template = {
        "spec": {"restartPolicy": "Never", "containers": [{"name": "c", "image": "i"}]}
    }
    tree = {"metadata": {"name": "sum"}, "spec": {"template": template, **spec}}
    cluster = make_cluster(from_wire(tree, Job), nodes=1)
    schedule(cluster)
    return cluster


def advance_and_schedule(cluster: InMemoryCluster, seconds: float) -> None:
    assert isinstance(cluster.clock, VirtualClock)
    cluster.clock.advance(seconds)
    schedule(cluster)


def end(cluster: InMemoryCluster, pod: Pod, code: int) -> None:
    tree: Any = to_wire(pod)
    tree["status"] |= {
        "phase": "Failed" if code else "Succeeded",
        "containerStatuses": [
            {"name": "c", "state": {"terminated": {"exitCode": code}}}
        ],
        "conditions": [{"type": "Ready", "status": "False"}],
    }
    cluster.update(from_wire(tree, Pod))


def end_all(cluster: InMemoryCluster, codes: Mapping[str, int]) -> None:
    """End the running pods of some indexes."""
    for pod in pods_of(cluster):
        index = pod.metadata.annotations.get(INDEX, "")
        if not pod.is_finished and index in codes:
            end(cluster, pod, codes[index])
    react(cluster)
    schedule(cluster)


def conditions(cluster: InMemoryCluster) -> dict[str, str]:
    (job,) = cluster.list(Job).items
    return {c.type: c.reason for c in job.status.conditions if c.status == "True"}


def active(cluster: InMemoryCluster) -> int:
    (job,) = cluster.list(Job).items
    return job.status.active


def test_pods_wait_longer_after_each_failure() -> None:
    cluster = cluster_with(backoffLimit=3)
    for seconds in (10, 20, 40):
        end_all(cluster, {"": 1})
        advance_and_schedule(cluster, seconds - 1)
        assert active(cluster) == 0
        advance_and_schedule(cluster, 1)
        assert active(cluster) == 1
    end_all(cluster, {"": 1})
    assert conditions(cluster) == dict.fromkeys(
        ("FailureTarget", "Failed"), "BackoffLimitExceeded"
    )


def test_a_job_past_its_deadline_loses_its_pods() -> None:
    cluster = cluster_with(activeDeadlineSeconds=60, parallelism=2, completions=2)
    advance_and_schedule(cluster, 60)
    assert conditions(cluster) == {"FailureTarget": "DeadlineExceeded"}
    advance_and_schedule(cluster, 30)
    (job,) = cluster.list(Job).items
    assert conditions(cluster)["Failed"] == "DeadlineExceeded"
    assert (job.status.failed, pods_of(cluster)) == (2, [])


def test_a_deadline_alone_does_not_keep_a_simulation_running() -> None:
    cluster = cluster_with(activeDeadlineSeconds=60)
    assert not cluster.clock.has_foreground_timers


def test_a_finished_job_goes_after_its_time_to_live() -> None:
    cluster = cluster_with(ttlSecondsAfterFinished=100)
    end_all(cluster, {"": 0})
    advance_and_schedule(cluster, 99)
    assert conditions(cluster)["Complete"] == "CompletionsReached"
    advance_and_schedule(cluster, 1)
    assert not cluster.list(Job).items
    assert not pods_of(cluster)


@pytest.mark.parametrize(
    ("rule", "codes", "is_met"),
    [
        ({"succeededIndexes": "0,2"}, {"0": 0, "2": 0}, True),
        ({"succeededIndexes": "0,2"}, {"0": 0, "1": 0}, False),
        ({"succeededIndexes": "0-2", "succeededCount": 1}, {"1": 0}, True),
        ({"succeededCount": 2}, {"1": 0, "3": 0}, True),
        ({"succeededCount": 2}, {"1": 0}, False),
    ],
)
def test_a_success_policy_ends_a_job_early(
    rule: dict[str, object], codes: dict[str, int], is_met: bool
) -> None:
    cluster = cluster_with(
        completionMode="Indexed",
        completions=4,
        parallelism=4,
        successPolicy={"rules": [rule]},
    )
    end_all(cluster, codes)
    assert (conditions(cluster).get("SuccessCriteriaMet") == "SuccessPolicy") == is_met
    advance_and_schedule(cluster, 30)
    assert ("Complete" in conditions(cluster)) == is_met


EXIT_CODES = {"onExitCodes": {"operator": "In", "values": [42]}}


@pytest.mark.parametrize(
    ("action", "code", "failed", "reasons"),
    [
        ("FailJob", 42, 1, {"PodFailurePolicy"}),
        ("FailJob", 1, 1, {"BackoffLimitExceeded"}),
        ("Ignore", 42, 0, set()),
        ("Count", 42, 1, {"BackoffLimitExceeded"}),
    ],
)
def test_a_failure_policy_decides_by_exit_code(
    action: str, code: int, failed: int, reasons: set[str]
) -> None:
    rules = [{"action": action, **EXIT_CODES}]
    cluster = cluster_with(backoffLimit=0, podFailurePolicy={"rules": rules})
    end_all(cluster, {"": code})
    (job,) = cluster.list(Job).items
    assert job.status.failed == failed
    assert set(conditions(cluster).values()) == reasons


def test_disruptions_may_be_ignored() -> None:
    pattern = {"type": "DisruptionTarget"}
    rules = [{"action": "Ignore", "onPodConditions": [pattern]}]
    cluster = cluster_with(backoffLimit=0, podFailurePolicy={"rules": rules})
    (pod,) = pods_of(cluster)
    cluster.evict(pod.key)
    advance_and_schedule(cluster, 60)
    (job,) = cluster.list(Job).items
    assert (job.status.failed, active(cluster), conditions(cluster)) == (0, 1, {})


def test_a_deleted_pod_is_replaced_at_its_end_by_policy() -> None:
    for policy, while_ending in (("Failed", 1), ("TerminatingOrFailed", 2)):
        cluster = cluster_with(
            parallelism=2, completions=2, podReplacementPolicy=policy
        )
        cluster.delete(Pod, pods_of(cluster)[0].key)
        react(cluster)
        advance_and_schedule(cluster, 20)
        assert active(cluster) == while_ending
        advance_and_schedule(cluster, 30)
        assert active(cluster) == 2


def test_a_failed_index_backs_off_and_is_retried_up_to_its_limit() -> None:
    cluster = cluster_with(
        completionMode="Indexed",
        completions=2,
        parallelism=2,
        backoffLimitPerIndex=1,
    )
    end_all(cluster, {"0": 1})
    advance_and_schedule(cluster, 9)
    assert active(cluster) == 1
    advance_and_schedule(cluster, 1)
    assert active(cluster) == 2
    end_all(cluster, {"0": 1, "1": 0})
    (job,) = cluster.list(Job).items
    assert (job.status.failed_indexes, job.status.completed_indexes) == ("0", "1")
    assert conditions(cluster)["Failed"] == "FailedIndexes"


def test_a_job_fails_with_too_many_failed_indexes() -> None:
    cluster = cluster_with(
        completionMode="Indexed",
        completions=4,
        parallelism=4,
        backoffLimitPerIndex=0,
        maxFailedIndexes=1,
    )
    end_all(cluster, {"0": 1})
    assert conditions(cluster) == {}
    end_all(cluster, {"2": 1})
    assert conditions(cluster)["FailureTarget"] == "MaxFailedIndexesExceeded"


def test_a_suspended_job_counts_none_of_its_pods_as_failed() -> None:
    cluster = cluster_with(parallelism=2, completions=2)
    (job,) = cluster.list(Job).items
    tree: Any = to_wire(job)
    tree["spec"]["suspend"] = True
    cluster.update(from_wire(tree, Job))
    advance_and_schedule(cluster, 60)
    (job,) = cluster.list(Job).items
    assert (job.status.failed, job.status.active) == (0, 0)
    assert conditions(cluster) == {"Suspended": "JobSuspended"}
    assert job.status.start_time is None


def test_surplus_pods_of_an_index_are_deleted() -> None:
    cluster = cluster_with(completionMode="Indexed", completions=3, parallelism=3)
    (job,) = cluster.list(Job).items
    tree: Any = to_wire(job)
    tree["spec"] |= {"completions": 1, "parallelism": 1}
    cluster.update(from_wire(tree, Job))
    advance_and_schedule(cluster, 60)
    assert [pod.metadata.annotations[INDEX] for pod in pods_of(cluster)] == ["0"]
