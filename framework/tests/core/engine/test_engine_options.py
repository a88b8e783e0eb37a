"""What `SchedulerOptions` change in a scheduler, by way of its harness."""

import pytest

from quaymaster import Handle, Pod, Status, hookimpl
from quaymaster.config import Kubernetes
from quaymaster.scheduler import SchedulerOptions
from quaymaster.testing import SchedulerHarness, make_node, make_pod, profile_config


class Stubborn:
    """Rejects every pod, and never hears of anything that could change its mind."""

    def __init__(self, args: object, handle: Handle) -> None:
        pass

    @hookimpl
    def events_to_register(self) -> list[object]:
        return []

    @hookimpl
    def pre_filter(self) -> Status:
        return Status.unschedulable("no")


class Gate:
    """Holds back pods until it is opened, which nobody hears of."""

    closed = True

    def __init__(self, args: object, handle: Handle) -> None:
        pass

    @hookimpl
    def events_to_register(self) -> list[object]:
        return []

    @hookimpl
    def pre_enqueue(self, pod: Pod) -> Status | None:
        return Status.unresolvable("closed") if type(self).closed else None


def harness_with(
    plugin: type, options: SchedulerOptions | None, version: str = "1.36"
) -> SchedulerHarness:
    return SchedulerHarness(
        [make_node(name="a"), make_pod(name="p")],
        plugins={plugin.__name__: plugin},
        config=profile_config(enable=[plugin.__name__]),
        options=options,
        kubernetes=Kubernetes(version),
    )


@pytest.mark.parametrize(
    ("options", "seconds"),
    [(None, 330.0), (SchedulerOptions(max_in_unschedulable_seconds=45.0), 60.0)],
    ids=["by default", "45 s"],
)
def test_a_rejected_pod_is_tried_again_at_the_first_flush_after_the_limit(
    options: SchedulerOptions | None, seconds: float
) -> None:
    harness = harness_with(Stubborn, options)
    harness.advance(seconds - 1.0)
    assert harness.attempts == ["default/p"]
    harness.advance(1.0)
    assert harness.attempts == ["default/p"] * 2


@pytest.mark.parametrize(
    ("version", "chosen", "asked"),
    [("1.36", False, False), ("1.36", True, True), ("1.37", False, True)],
)
def test_gates_are_asked_at_a_flush_by_choice_only_before_1_37(
    version: str, chosen: bool, asked: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    options = SchedulerOptions(flush_gated_pods=chosen)
    harness = harness_with(Gate, options, version)
    harness.advance(10.0)
    monkeypatch.setattr(Gate, "closed", False)
    harness.advance(1000.0)
    assert bool(harness.node_of("p")) is asked


def test_options_are_checked() -> None:
    expected = "max_in_unschedulable_seconds: expected seconds above 0, got 0"
    with pytest.raises(ValueError, match=expected):
        SchedulerOptions(max_in_unschedulable_seconds=0)
