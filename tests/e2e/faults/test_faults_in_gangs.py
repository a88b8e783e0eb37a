"""After a fault during a burst of gangs, no gang stays partly bound."""

from collections.abc import Iterator

import pytest

from tests.e2e.faults.faults import FAULTS
from tests.e2e.faults.play import play
from tests.e2e.faults.stage import Stage
from tests.e2e.replicas import LEASE_SECONDS
from tests.kit.cpu import crowding

_PODS = 200
_GANG = 10
_TAKEN_OVER = 2 * LEASE_SECONDS
"""Seconds until another scheduler has listed the cluster and binds the rest.

On a machine with twice as many busy processes as processors, it starts half as fast.
"""


@pytest.fixture(scope="module")
def stage(servers: None) -> Iterator[Stage]:
    with Stage.cluster(has_groups=True) as plane:
        yield Stage(plane, _PODS, seed=1, gang_size=_GANG)
        plane.apiserver.kill()  # it would wait for open watches


@pytest.mark.parametrize(
    "name", ["kill_between_bindings", "kill_leader", "restart_api_server", "mix"]
)
def test_each_gang_is_bound_as_a_whole_after(stage: Stage, name: str) -> None:
    fault = FAULTS[name]
    with stage.schedulers(fault.replicas, via_proxy=fault.via_proxy):
        outcome = play(stage, fault)
    assert outcome.problems == []
    assert outcome.longest_parting < outcome.lasted + _TAKEN_OVER * crowding()
