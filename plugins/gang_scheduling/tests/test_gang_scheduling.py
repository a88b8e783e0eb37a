"""GangScheduling decides by counts; whole cycles: ``framework/tests/core/groups``."""

import pytest

from quaymaster import Code, Status
from quaymaster.config import ConfigErrors
from quaymaster.hookspecs import PlacementProgress, PodGroupInfo
from quaymaster.testing import PluginHarness, make_pod, make_pod_group
from quaymaster_gang_scheduling import GangScheduling


def feasible(min_count: int | None, scheduled: int, remaining: int) -> Status | None:
    plugin = PluginHarness(GangScheduling).plugin
    info = PodGroupInfo(group=make_pod_group(min_count=min_count), pods=())
    return plugin.placement_feasible(info, PlacementProgress(scheduled, remaining))


@pytest.mark.parametrize(
    ("min_count", "scheduled", "remaining"),
    [
        pytest.param(3, 3, 0, id="quorum, and no pod left"),
        pytest.param(3, 3, 2, id="quorum, and pods left"),
        pytest.param(3, 4, 0, id="more than the quorum"),
        pytest.param(None, 1, 5, id="one pod of a basic group"),
    ],
)
def test_group_with_enough_pods_is_feasible(
    min_count: int | None, scheduled: int, remaining: int
) -> None:
    assert feasible(min_count, scheduled, remaining) is None


@pytest.mark.parametrize(
    ("min_count", "scheduled", "remaining", "text"),
    [
        pytest.param(
            3,
            1,
            2,
            "minCount (3) is not yet satisfied: 1 scheduled, 2 remaining",
            id="gang",
        ),
        pytest.param(
            None,
            0,
            1,
            "minCount (1) is not yet satisfied: 0 scheduled, 1 remaining",
            id="basic group",
        ),
    ],
)
def test_group_waits_while_the_remaining_pods_may_suffice(
    min_count: int | None, scheduled: int, remaining: int, text: str
) -> None:
    assert feasible(min_count, scheduled, remaining) == Status(Code.WAIT, (text,))


def test_group_is_rejected_if_the_remaining_pods_cannot_suffice() -> None:
    text = "minCount (4) cannot be satisfied: 1 scheduled, 2 remaining"
    assert feasible(4, 1, 2) == Status.unschedulable(text)


def test_plugin_is_idle_without_the_feature_gate() -> None:
    harness = PluginHarness(GangScheduling)
    pod = make_pod(scheduling_group="gang")
    assert harness.pre_enqueue(pod) is None
    assert harness.permit(pod, "a") is None
    assert harness.events() == ()


def test_arguments_are_refused() -> None:
    with pytest.raises(ConfigErrors, match="'GangScheduling' takes no arguments"):
        PluginHarness(GangScheduling, args={"minCount": 3})
