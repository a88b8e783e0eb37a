"""Numbers at the ends of their ranges neither break nor stop a simulation."""

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
def test_pod_cannot_run_longer_than_a_duration_can_say(text: str) -> None:
    pod = make_pod(name="a", annotations={RUN: text})
    with pytest.raises(
        AdmissionError, match=r"run-seconds\]: expected seconds or a dur"
    ):
        run(make_node(name="n"), pod)


def test_pod_may_run_for_centuries() -> None:
    pod = make_pod(name="a", annotations={RUN: "2500000h"})
    assert run(make_node(name="n"), pod).makespan == 2_500_000 * 3600


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
