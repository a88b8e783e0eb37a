"""What happens first at one moment: arrivals, or the ends of pods."""

from collections.abc import Sequence
from pathlib import Path

import attrs
import pytest

from quaymaster.experiments import (
    Arrival,
    ExperimentInput,
    InputContext,
    Workload,
    parse_experiment,
    run_cell,
)
from quaymaster.testing import make_node, make_pod
from tests.kit.experiments import LogBook

HEAD = """
apiVersion: simulation.quaymaster.io/v1alpha1
kind: Experiment
"""


@attrs.frozen(kw_only=True)
class Meeting(ExperimentInput):
    """Two pods fill a node and end when two others arrive."""

    def make(self, context: InputContext) -> Workload:
        def arrival(name: str, cpu: str, at: float) -> Arrival:
            pod = make_pod(name=name, requests={"cpu": cpu})
            return Arrival(obj=pod, at=at, stays=60.0)

        return Workload(
            objects=[make_node(name="n", capacity={"cpu": "2", "pods": "9"})],
            arrivals=[
                arrival("old-1", "1", 0.0),
                arrival("old-2", "1", 0.0),
                arrival("large", "2", 60.0),
                arrival("small", "1", 60.0),
            ],
        )

    def reads(self, folder: Path) -> Sequence[Path]:
        return []


def diary(departures_first: str) -> str:
    text = f"""{HEAD}
departuresFirst: {departures_first}
inputs: [{{name: meeting, use: "{__name__}:Meeting"}}]
metrics: [{{name: diary, use: "{LogBook.__module__}:LogBook"}}]
"""
    [cell] = (experiment := parse_experiment(text)).cells
    return str(run_cell(experiment, cell).values["diary"])


@pytest.mark.long
def test_departures_come_first() -> None:
    after = diary("true").partition("60 s, ")[2]
    assert after.startswith("large scheduled, arrived, small unschedulable, arrived")


@pytest.mark.long
def test_arrivals_come_first_and_departures_one_by_one() -> None:
    after = diary("false").partition("60 s, ")[2]
    # The end of the first pod makes room for the small one alone.
    assert after.startswith(
        "large unschedulable, arrived, small unschedulable, arrived, "
    )
    assert after.index("small scheduled") < after.index("large scheduled")


def test_departures_first_is_the_default() -> None:
    text = f'{HEAD}inputs: [{{name: m, use: "{__name__}:Meeting"}}]\n'
    assert parse_experiment(f"{text}metrics: [{{name: placed}}]").departures_first
