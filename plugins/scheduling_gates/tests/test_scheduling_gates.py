"""SchedulingGates: rule 36 of the parity format, and upstream's own tests."""

import pytest

from quaymaster import (
    ActionType,
    ClusterEvent,
    EventResource,
    Pod,
    QueueingHint,
    Status,
)
from quaymaster.config import ConfigErrors
from quaymaster.testing import PluginHarness, make_pod
from quaymaster_scheduling_gates import SchedulingGates

GATES_ELIMINATED = ClusterEvent(
    EventResource.UNSCHEDULABLE_POD, ActionType.UPDATE_POD_SCHEDULING_GATES_ELIMINATED
)


def test_pod_without_gates_is_queued() -> None:
    assert PluginHarness(SchedulingGates).pre_enqueue(make_pod()) is None


@pytest.mark.parametrize(
    ("gates", "message"),
    [
        pytest.param(["foo"], "[foo]", id="one gate"),
        # "pod carries scheduling gates" (TestPreEnqueue)
        pytest.param(["foo", "bar"], "[foo bar]", id="two gates keep their order"),
    ],
)
def test_gated_pod_is_rejected_with_the_names_of_its_gates(
    gates: list[str], message: str
) -> None:
    status = PluginHarness(SchedulingGates).pre_enqueue(
        make_pod(scheduling_gates=gates)
    )
    assert status == Status.unresolvable(f"waiting for scheduling gates: {message}")


def test_plugin_waits_for_the_elimination_of_gates_alone() -> None:
    (registered,) = PluginHarness(SchedulingGates).events()
    assert registered.event == ClusterEvent(
        EventResource.TARGET_POD, ActionType.UPDATE_POD_SCHEDULING_GATES_ELIMINATED
    )


@pytest.mark.parametrize(
    ("changed", "hint"),
    [
        # "queue-on-the-unsched-pod-updated" (Test_isSchedulableAfterPodChange)
        pytest.param(make_pod(name="gated"), QueueingHint.QUEUE, id="the pod itself"),
        # "skip-queue-on-other-pod-updated"
        pytest.param(make_pod(name="other"), QueueingHint.SKIP, id="another pod"),
    ],
)
def test_elimination_of_gates_wakes_the_pod_that_had_them(
    changed: Pod, hint: QueueingHint
) -> None:
    pod = make_pod(name="gated", scheduling_gates=["foo"])
    harness = PluginHarness(SchedulingGates)
    assert harness.hint(pod, GATES_ELIMINATED, old=pod, new=changed) is hint


def test_arguments_are_refused() -> None:
    with pytest.raises(ConfigErrors, match="'SchedulingGates' takes no arguments"):
        PluginHarness(SchedulingGates, args={"colour": "red"})
