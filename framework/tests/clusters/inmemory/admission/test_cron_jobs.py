"""CronJobs get their defaults, and are checked, as in ``pkg/apis/batch``."""

from typing import Any

import pytest

from quaymaster.inmemory import AdmissionError, InMemoryCluster
from quaymaster.objects import CronJob, from_wire, to_wire
from quaymaster.scheduler import VirtualClock


def stored(**changes: Any) -> CronJob:
    """Create a CronJob, in which ``job__x`` changes the spec of its Jobs."""
    name = changes.pop("name", "nightly")
    metadata = changes.pop("metadata", {})
    job = {k.removeprefix("job__"): v for k, v in changes.items() if "__" in k}
    own = {k: v for k, v in changes.items() if "__" not in k}
    pod = {"restartPolicy": "Never", "containers": [{"name": "main", "image": "x"}]}
    tree = {
        "metadata": {"name": name, **metadata},
        "spec": {
            "schedule": "0 3 * * *",
            "jobTemplate": {"spec": {"template": {"spec": pod}, **job}},
            **own,
        },
    }
    cluster = InMemoryCluster(VirtualClock(), kubelet=False, controllers=False)
    return cluster.create(from_wire(tree, CronJob))


def test_defaults_are_those_of_the_server() -> None:
    spec = stored().spec
    assert (spec.concurrency_policy, spec.suspend) == ("Allow", False)
    limits = spec.successful_jobs_history_limit, spec.failed_jobs_history_limit
    assert limits == (3, 1)


def test_jobs_get_their_defaults_when_they_are_created() -> None:
    spec = stored().spec.job_template.spec
    assert (spec.parallelism, spec.completions, spec.backoff_limit) == (None,) * 3
    assert spec.template.spec.scheduler_name == "default-scheduler"


@pytest.mark.parametrize(
    "schedule",
    [
        "* * * * ?",
        "*/5 0-23/2 1,15 jan-DEC sun",
        "@midnight",
        "@every 1h30m",
        "5/10 * * * *",
        "+5 * * * *",
        "*-9 , * * *",
    ],
)
def test_schedules_that_the_parser_reads_are_stored(schedule: str) -> None:
    assert stored(schedule=schedule).spec.schedule == schedule


@pytest.mark.parametrize(
    ("schedule", "message"),
    [
        ("", "expected one, such as 0 3"),
        ("every day", "expected 5 fields, such as 0 3"),
        ("0 3 * * * *", "not 6"),
        ("60 * * * *", "rising numbers from 0 to 59"),
        ("* * * * 7", "rising numbers from 0 to 6"),
        ("* * 0 * *", "rising numbers from 1 to 31"),
        ("9-5 * * * *", "rising numbers from 0 to 59"),
        ("*/0 * * * *", "a step of at least 1"),
        ("*/5/5 * * * *", "one slash at most"),
        ("1-2-3 * * * *", "one hyphen at most"),
        ("* * * may-x *", "rising numbers from 1 to 12"),
        ("@daily ", "expected @yearly"),
        ("@every day", "a duration such as 1h30m"),
        ("TZ=UTC 0 * * * *", "since timeZone has the time zone"),
    ],
)
def test_other_schedules_are_rejected(schedule: str, message: str) -> None:
    with pytest.raises(AdmissionError, match=r"spec\.schedule: ") as error:
        stored(schedule=schedule)
    assert message in str(error.value)


@pytest.mark.parametrize("zone", ["Europe/Rome", "UTC", "Etc/GMT+5"])
def test_time_zones_of_the_database_are_stored(zone: str) -> None:
    assert stored(timeZone=zone).spec.time_zone == zone


@pytest.mark.parametrize(
    "zone", ["", "Local", "Europe/Rome ", "Europe/InvalidRome", "Europe", "../UTC"]
)
def test_other_time_zones_are_rejected(zone: str) -> None:
    with pytest.raises(AdmissionError, match=r"spec\.timeZone: expected a time zone"):
        stored(timeZone=zone)


@pytest.mark.parametrize(
    ("changes", "path"),
    [
        ({"startingDeadlineSeconds": -1}, "spec.startingDeadlineSeconds"),
        ({"successfulJobsHistoryLimit": -1}, "spec.successfulJobsHistoryLimit"),
        ({"failedJobsHistoryLimit": -1}, "spec.failedJobsHistoryLimit"),
        ({"concurrencyPolicy": "Sometimes"}, "spec.concurrencyPolicy"),
        ({"name": "n" * 53}, "metadata.name"),
        ({"job__parallelism": -1}, "spec.jobTemplate.spec.parallelism"),
        ({"job__selector": {}}, "spec.jobTemplate.spec.selector"),
        ({"job__manualSelector": True}, "spec.jobTemplate.spec.manualSelector"),
        ({"job__completionMode": "Indexed"}, "spec.jobTemplate.spec.completions"),
        (
            {"job__template": {"spec": {"containers": [{"name": "a", "image": "x"}]}}},
            "spec.jobTemplate.spec.template.spec.restartPolicy",
        ),
        (
            {"job__template": {"spec": {"restartPolicy": "Never"}}},
            "spec.jobTemplate.spec.template.spec.containers",
        ),
    ],
)
def test_each_mistake_has_the_path_of_the_server(
    changes: dict[str, Any], path: str
) -> None:
    with pytest.raises(AdmissionError) as error:
        stored(**changes)
    assert [problem.path for problem in error.value.problems] == [path]


def test_what_an_earlier_server_has_stored_is_not_rejected() -> None:
    metadata = {"creationTimestamp": "2020-01-01T00:00:00Z"}
    schedule = "CRON_TZ=UTC 0 3 * * *"
    cron_job = stored(name="n" * 53, metadata=metadata, schedule=schedule)
    assert cron_job.spec.schedule == schedule


GANG = {"schedulingPolicy": {"gang": {"minCount": 1}}}


def test_group_of_the_jobs_is_dropped_while_its_gate_is_off() -> None:
    assert stored(job__scheduling=GANG).spec.job_template.spec.scheduling is None


def test_group_that_is_added_later_is_dropped_while_its_gate_is_off() -> None:
    cluster = InMemoryCluster(VirtualClock(), kubelet=False, controllers=False)
    old = cluster.create(stored())
    tree = to_wire(old)
    tree["spec"]["jobTemplate"]["spec"]["scheduling"] = GANG
    new = cluster.update(from_wire(tree, CronJob))
    assert new.spec.job_template.spec.scheduling is None
