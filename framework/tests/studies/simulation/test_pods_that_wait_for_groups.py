"""Simulations with pods that wait for their group: they settle, and say why."""

from collections.abc import Sequence

from quaymaster import ApiObject
from quaymaster.config import default_config
from quaymaster.simulation import SimulationResult, simulate
from quaymaster.testing import make_node, make_pod, make_pod_group
from tests.kit.internals.groups import kubernetes_with_groups


def simulated(*objects: ApiObject) -> SimulationResult:
    config = default_config(kubernetes=kubernetes_with_groups())
    node = make_node(name="n1", allocatable={"cpu": "4", "pods": "10"})
    return simulate([node, *objects], config=config)


def gang(min_count: int | None, pods: int, cpu: str) -> Sequence[ApiObject]:
    members = [
        make_pod(name=f"p{number}", requests={"cpu": cpu}, scheduling_group="gang")
        for number in range(pods)
    ]
    return [make_pod_group(name="gang", min_count=min_count), *members]


def reasons(result: SimulationResult) -> dict[str, tuple[str, str]]:
    return {pod.pod: (pod.reason, pod.message) for pod in result.unscheduled}


def test_pods_outside_groups_are_scheduled_as_before() -> None:
    result = simulated(make_pod(name="a"), make_pod(name="b"))
    assert result.pods == 2
    assert result.unscheduled == ()


def test_pod_without_the_object_of_its_group_says_what_it_waits_for() -> None:
    result = simulated(make_pod(name="a", scheduling_group="gang"))
    message = "waits for PodGroup default/gang, which does not exist"
    assert reasons(result) == {"default/a": ("SchedulingGated", message)}


def test_gang_below_its_quorum_says_what_it_waits_for() -> None:
    message = "waiting for minCount pods from a gang to appear in scheduling queue"
    assert reasons(simulated(*gang(3, 2, "1"))) == {
        "default/p0": ("SchedulingGated", message),
        "default/p1": ("SchedulingGated", message),
    }


def test_gang_that_fits_is_placed_as_a_whole() -> None:
    result = simulated(*gang(3, 3, "1"))
    assert [placement.node for placement in result.placements] == ["n1"] * 3


def test_gang_that_does_not_fit_is_tried_until_nothing_changes() -> None:
    result = simulated(*gang(3, 3, "2"))
    assert result.placements == ()
    assert {reason for reason, _ in reasons(result).values()} == {"Unschedulable"}
    assert max(pod.attempts for pod in result.unscheduled) <= 3


def test_rest_of_a_group_is_tried_until_nothing_changes() -> None:
    result = simulated(*gang(None, 3, "2"))
    assert len(result.placements) == 2
    message = "0/1 nodes are available: 1 Insufficient cpu."
    assert list(reasons(result).values()) == [("Unschedulable", message)]


def test_gang_that_waits_does_not_stop_other_pods() -> None:
    single = make_pod(name="single", requests={"cpu": "4"})
    result = simulated(*gang(3, 3, "2"), single)
    assert [placement.pod for placement in result.placements] == ["default/single"]
