"""Plans reserve room for the pods of DaemonSets, as autoscalers do."""

import pytest

from quaymaster import ApiObject
from quaymaster.config import load_config
from quaymaster.planning import Plan, parse_node_group, plan
from quaymaster.scheduler import PluginRegistry, SchedulerOptions
from quaymaster.simulation import simulate
from quaymaster.testing import make_daemon_set, make_deployment, make_node, make_pod

REGISTRY = PluginRegistry.discover()
BIN_PACKING = load_config("bin-packing", registry=REGISTRY)
AGENT = make_daemon_set(name="agent", pod=make_pod(requests={"cpu": "500m"}))


def web(priority: int = 0) -> ApiObject:
    pod = make_pod(requests={"cpu": "1"}, priority=priority)
    return make_deployment(name="web", replicas=6, pod=pod)


def planned(*, daemon_sets_first: bool) -> Plan:
    return plan(
        [web(), AGENT],
        groups=[parse_node_group("cpu=4,memory=8Gi,max=3")],
        config=BIN_PACKING,
        registry=REGISTRY,
        in_rounds=False,
        daemon_sets_first=daemon_sets_first,
    )


@pytest.mark.long
def test_pods_that_are_packed_leave_room_for_daemons() -> None:
    found = planned(daemon_sets_first=True)
    assert (len(found.nodes), found.is_final) == (2, True)
    assert found.daemon_sets_first


@pytest.mark.long
def test_daemons_stay_pending_if_pods_are_tried_in_the_order_of_the_queue() -> None:
    found = planned(daemon_sets_first=False)
    assert "all of DaemonSets; a higher priority keeps room" in found.obstacle


def unscheduled(*, daemon_sets_first: bool) -> int:
    capacity = {"cpu": "4", "memory": "8Gi", "pods": "9"}
    result = simulate(
        [make_node(name="a", capacity=capacity), web(priority=5), AGENT],
        config=BIN_PACKING,
        registry=REGISTRY,
        options=SchedulerOptions(daemon_sets_first=daemon_sets_first),
    )
    return [pod.pod.startswith("default/agent") for pod in result.unscheduled].count(
        True
    )


def test_simulation_can_try_daemons_before_pods_of_a_higher_priority() -> None:
    assert unscheduled(daemon_sets_first=False) == 1


def test_daemons_that_came_first_may_still_be_preempted() -> None:
    assert unscheduled(daemon_sets_first=True) == 1
