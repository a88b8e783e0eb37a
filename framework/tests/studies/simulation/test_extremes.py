"""Extreme numbers neither break nor block a simulation."""

from typing import Any

import pytest

from quaymaster.config import default_config
from quaymaster.inmemory import AdmissionError
from quaymaster.objects import Time
from quaymaster.scheduler import PluginRegistry
from quaymaster.simulation import SimulationResult, simulate
from quaymaster.testing import make_node, make_pod

RUN = "simulation.quaymaster.io/run-seconds"


def run(*objects: Any) -> SimulationResult:
    registry = PluginRegistry.discover()
    return simulate(objects, config=default_config(registry), registry=registry)


@pytest.mark.parametrize("text", ["9" * 400, "9e9h", "1e400", "3000000h", "inf", "nan"])
def test_run_time_is_limited_by_the_range_of_durations(text: str) -> None:
    pod = make_pod(name="a", annotations={RUN: text})
    with pytest.raises(
        AdmissionError, match=r"run-seconds\]: expected seconds or a dur"
    ):
        run(make_node(name="n"), pod)


def test_pod_may_run_for_centuries() -> None:
    pod = make_pod(name="a", annotations={RUN: "2500000h"})
    assert run(make_node(name="n"), pod).makespan == 2_500_000 * 3600


CENTURIES = 2_500_000 * 3600
LARGE = {"cpu": "3"}


@pytest.mark.long
def test_pods_that_wait_for_centuries_are_retried_rarely() -> None:
    first = make_pod(name="first", requests=LARGE, annotations={RUN: f"{CENTURIES}"})
    next_ = make_pod(name="next", requests=LARGE, annotations={RUN: "9"})
    never = make_pod(name="never", requests={"cpu": "9"})
    result = run(make_node(name="n"), first, next_, never)
    placed = {placement.pod: placement for placement in result.placements}
    assert placed["default/next"].bound == CENTURIES
    assert result.makespan == CENTURIES + 9
    [left] = result.unscheduled
    # Attempts of a day: every five and a half minutes, and after each change.
    day = 86_400 // 330 + 2
    assert placed["default/next"].attempts == day + 1
    assert left.attempts == day + 2


@pytest.mark.long
def test_deleted_pod_ends_whatever_its_grace_period_is() -> None:
    victim = make_pod(
        name="victim",
        node="n",
        requests=LARGE,
        termination_grace_period_seconds=2**63 - 1,
    )
    urgent = make_pod(name="urgent", priority=5, requests=LARGE)
    later = make_pod(name="later", requests={"cpu": "2"}, annotations={RUN: "9"})
    never = make_pod(name="never", requests={"cpu": "9"})
    result = run(make_node(name="n"), victim, urgent, later, never)
    placed = {placement.pod: placement.bound for placement in result.placements}
    assert placed == {"default/urgent": 9.2e9}
    assert [pod.pod for pod in result.unscheduled] == ["default/later", "default/never"]


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (1e300, "9999-12-31T23:59:59Z"),
        (-1e300, "0001-01-01T00:00:00Z"),
        (2.0**63, "9999-12-31T23:59:59Z"),
    ],
)
def test_time_beyond_the_calendar_is_written_as_its_end(
    seconds: float, text: str
) -> None:
    assert str(Time(seconds)) == text
