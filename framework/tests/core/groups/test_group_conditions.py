"""The condition of a group reaches the cluster although calls have no answer."""

import pytest

from quaymaster.objects import PodGroup
from quaymaster.testing import Fault, SchedulerHarness
from tests.kit.group_cluster import cpu_nodes, gang_objects
from tests.kit.internals.groups import kubernetes_with_groups


@pytest.mark.parametrize("seed", [3, 6, 7, 8])
@pytest.mark.parametrize("fault", [Fault.ERROR, Fault.LOST_CALL, Fault.LOST_ANSWER])
def test_condition_is_written_again_until_it_is_stored(fault: Fault, seed: int) -> None:
    # With these seeds, the first call of the condition is lost.
    harness = SchedulerHarness(
        [*cpu_nodes("a", "b"), *gang_objects(2)],
        kubernetes=kubernetes_with_groups(),
        faults={fault: 0.5},
        seed=seed,
    )
    harness.settle()
    harness.advance(60)
    (group,) = harness.cluster.list(PodGroup).items
    (condition,) = group.status.conditions
    assert (condition.type, condition.status) == ("PodGroupInitiallyScheduled", "True")
