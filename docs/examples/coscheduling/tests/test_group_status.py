"""The status of groups, as upstream's controller keeps it."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec
import pytest
from quaymaster import ApiObject, Pod
from quaymaster.objects import OwnerReference, Time
from quaymaster.testing import Fault, SchedulerHarness, make_node, profile_config

from quaymaster_coscheduling import Coscheduling, PodGroup, PodGroupStatus
from quaymaster_coscheduling.statuses import status_of
from quaymaster_coscheduling.testing import make_members, make_pod_group

TABLE = json.loads((Path(__file__).parent / "tables/status.json").read_text("utf-8"))


def members(count: int, phase: str) -> list[Pod]:
    return [
        msgspec.structs.replace(
            pod, status=msgspec.structs.replace(pod.status, phase=phase)
        )
        for pod in make_members(count, group="group")
    ]


# Any: a case is what its test takes it for.
@pytest.mark.parametrize(
    "case", [pytest.param(case, id=case["name"]) for case in TABLE["cases"]]
)
def test_phase(case: Mapping[str, Any]) -> None:
    start = Time(case.get("hours", 0) * 3600)
    group = msgspec.structs.replace(
        make_pod_group(min_member=case["needed"], creation_timestamp=0),
        status=PodGroupStatus(phase=case["before"], schedule_start_time=start),
    )
    pods = members(case["pods"], case["pods_are"])
    assert status_of(group, pods).phase == case["after"]


@pytest.mark.parametrize("phase", ["Finished", "Failed"])
def test_the_end_is_final(phase: str) -> None:
    group = msgspec.structs.replace(
        make_pod_group(), status=PodGroupStatus(phase=phase)
    )
    assert status_of(group, members(2, "Running")) == group.status


def test_a_group_is_occupied_by_what_owns_its_pods() -> None:
    """As upstream's TestFillGroupStatusOccupied."""
    owners = tuple(OwnerReference(name=name) for name in ("new-2", "new-1"))
    pods = [
        msgspec.structs.replace(
            pod, metadata=msgspec.structs.replace(pod.metadata, owner_references=owners)
        )
        for pod in members(2, "Pending")
    ]
    status = status_of(make_pod_group(min_member=2), pods)
    assert status.occupied_by == "default/new-1,default/new-2"


def cluster(
    *objects: ApiObject,
    period: int = 1,
    faults: Mapping[Fault, float] | None = None,
) -> SchedulerHarness:
    return SchedulerHarness(
        [make_node(name="n", capacity={"cpu": "4", "pods": "10"}), *objects],
        plugins={"Coscheduling": Coscheduling},
        config=profile_config(
            enable=[Coscheduling],
            disable=["PrioritySort"],
            args={Coscheduling: {"podGroupStatusSeconds": period}},
        ),
        faults=faults,
    )


def status(harness: SchedulerHarness, name: str = "a") -> PodGroupStatus:
    return harness.cluster.get(PodGroup, f"default/{name}").status


def test_the_status_follows_the_pods_in_a_cluster() -> None:
    harness = cluster(make_pod_group(name="a", min_member=2))
    harness.advance(2)
    assert status(harness) == PodGroupStatus(phase="Pending")
    for pod in make_members(3, group="a"):
        harness.cluster.create(pod)
    harness.advance(2)
    assert status(harness) == PodGroupStatus(phase="Running", running=3)


def test_a_group_that_does_not_fit_stays_in_scheduling() -> None:
    harness = cluster(
        make_pod_group(name="a", min_member=2), *make_members(2, group="a", cpu="3")
    )
    harness.advance(100)
    assert status(harness) == PodGroupStatus(phase="Scheduling")


def test_a_status_that_could_not_be_written_is_written_later() -> None:
    group = make_pod_group(name="a", min_member=2)
    harness = cluster(group, *make_members(2, group="a"), faults={Fault.CONFLICT: 1.0})
    harness.advance(5)
    assert status(harness) == PodGroupStatus()
    harness.faulty.set_rates({})
    harness.advance(60)
    assert status(harness) == PodGroupStatus(phase="Running", running=2)


def test_the_status_can_be_left_to_a_controller() -> None:
    harness = cluster(
        make_pod_group(name="a", min_member=2), *make_members(2, group="a"), period=0
    )
    harness.advance(60)
    assert status(harness) == PodGroupStatus()
