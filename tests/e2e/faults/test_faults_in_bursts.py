"""After any fault during a burst, every pod is bound in the end, exactly once."""

from collections.abc import Iterator

import pytest

from tests.e2e.faults.faults import FAULTS
from tests.e2e.faults.play import play
from tests.e2e.faults.stage import Stage

_PODS = 400
_AT_NIGHT = {
    "end_scheduler",  # end_leader
    "pause_leader",  # pause_engine
    "stall_election",  # stall_etcd and pause_engine
    "delay_requests",  # mix
    "repeat_requests",  # mix
    "refuse_requests",  # mix
    "fail_requests",  # mix
}
"""The faults that the nightly suite plays, each beside the faults that resemble it."""


@pytest.fixture(scope="module")
def stage(servers: None) -> Iterator[Stage]:
    with Stage.cluster() as plane:
        yield Stage(plane, _PODS, seed=1)


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=pytest.mark.nightly if name in _AT_NIGHT else ())
        for name in FAULTS
    ],
)
def test_all_pods_are_bound_once_after(stage: Stage, name: str) -> None:
    fault = FAULTS[name]
    with stage.schedulers(fault.replicas, via_proxy=fault.via_proxy):
        assert play(stage, fault).problems == []
