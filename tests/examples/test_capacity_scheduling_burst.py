"""Many pods that reclaim quota at once, on many nodes, are scheduled quickly."""

import time

import pytest
from quaymaster_capacity_scheduling import CapacityScheduling
from quaymaster_capacity_scheduling.testing import make_quota

from quaymaster.scheduler import SchedulerOptions
from quaymaster.testing import SchedulerHarness, profile_config
from tests.own_preemption.burst import PODS_PER_NODE, full_cluster, preemptors

NODES, PREEMPTORS = 2000, 100


@pytest.mark.long
def test_a_hundred_preemptors_on_two_thousand_full_nodes_take_two_seconds() -> None:
    half: dict[str, str | int] = {"cpu": NODES * PODS_PER_NODE // 2, "memory": "1Pi"}
    harness = SchedulerHarness(
        [
            *full_cluster(NODES),
            make_quota("lender", min=half),
            make_quota("borrower", min=half),
        ],
        plugins={"CapacityScheduling": CapacityScheduling},
        config=profile_config(
            enable=[CapacityScheduling], disable=["DefaultPreemption"]
        ),
        options=SchedulerOptions(slow_hook_seconds=60.0),
    )
    harness.settle()
    for pod in preemptors(PREEMPTORS):
        harness.cluster.create(pod)
    begun = time.process_time()
    harness.settle()
    assert time.process_time() - begun < 2.0
    for index in range(PREEMPTORS):
        harness.assert_scheduled(f"lender/p{index}")
