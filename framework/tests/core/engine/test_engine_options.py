"""`SchedulerOptions` change how a scheduler works; the harness passes them on."""

import pytest

from quaymaster import Handle, Pod, Status, hookimpl
from quaymaster.config import Kubernetes
from quaymaster.scheduler import SchedulerOptions
from quaymaster.testing import SchedulerHarness, make_node, make_pod, profile_config


class Stubborn:
    """Rejects every pod and registers for no event."""

    def __init__(self, args: object, handle: Handle) -> None:
        pass

    @hookimpl
    def events_to_register(self) -> list[object]:
        return []

    @hookimpl
    def pre_filter(self) -> Status:
        return Status.unschedulable("no")


class Gate:
    """Gates pods until it is opened, which causes no event."""

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
    ("version", "chosen", "is_called"),
    [("1.36", False, False), ("1.36", True, True), ("1.37", False, True)],
)
def test_before_1_37_a_flush_calls_gates_only_if_the_option_is_set(
    version: str, chosen: bool, is_called: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    options = SchedulerOptions(flush_gated_pods=chosen)
    harness = harness_with(Gate, options, version)
    harness.advance(10.0)
    monkeypatch.setattr(Gate, "closed", False)
    harness.advance(1000.0)
    assert bool(harness.node_of("p")) is is_called


def test_options_are_checked() -> None:
    expected = "max_in_unschedulable_seconds: expected seconds above 0, got 0"
    with pytest.raises(ValueError, match=expected):
        SchedulerOptions(max_in_unschedulable_seconds=0)
