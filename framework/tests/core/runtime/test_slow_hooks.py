"""Hooks that take too long are reported; the test sets the stopwatch."""

from typing import ClassVar

import pytest

from quaymaster import Handle, Pod, Status, hookimpl
from quaymaster.scheduler import SchedulerOptions, SlowHook
from quaymaster.testing import SchedulerHarness, make_node, make_pod, profile_config


class Stopwatch:
    """Shows the time that the test sets."""

    def __init__(self) -> None:
        self.seconds = 0.0

    def __call__(self) -> float:
        return self.seconds


class Dawdles:
    """Takes as many milliseconds as the pod's name has."""

    stopwatch: ClassVar[Stopwatch]

    def __init__(self, args: object, handle: Handle) -> None:
        pass

    @hookimpl
    def pre_filter(self, pod: Pod) -> None:
        self.stopwatch.seconds += int(pod.name.split("-")[0]) / 1000
        if pod.name.endswith("raises"):
            raise RuntimeError("oops")

    @hookimpl
    def pre_bind(self) -> Status | None:
        self.stopwatch.seconds += 3600
        return None


def harness_with(*pods: str, limit: float | None = 0.1) -> SchedulerHarness:
    Dawdles.stopwatch = Stopwatch()
    return SchedulerHarness(
        [make_node(name="a"), *(make_pod(name=name) for name in pods)],
        plugins={"Dawdles": Dawdles},
        config=profile_config(enable=["Dawdles"]),
        options=SchedulerOptions(slow_hook_seconds=limit),
        stopwatch=Dawdles.stopwatch,
    )


def test_a_slow_hook_is_reported_and_logged(caplog: pytest.LogCaptureFixture) -> None:
    harness = harness_with("250-ms")
    harness.settle()
    assert harness.node_of("250-ms") == "a"
    (slow,) = harness.slow_hooks
    assert slow == SlowHook(
        plugin="Dawdles",
        hook="pre_filter",
        pod="default/250-ms",
        seconds=0.25,
        limit_seconds=0.1,
    )
    (record,) = caplog.records
    said = "plugin 'Dawdles': pre_filter took 0.250 s for pod default/250-ms"
    assert record.getMessage() == f"{said} (limit: 0.1 s)"


def test_a_slow_hook_that_fails_is_reported_as_well() -> None:
    harness = harness_with("250-raises")
    harness.schedule_one()
    assert [slow.pod for slow in harness.slow_hooks] == ["default/250-raises"]


def test_a_hook_within_its_limit_is_not_reported() -> None:
    harness = harness_with("99-ms")
    harness.settle()
    assert harness.slow_hooks == []


def test_hooks_that_may_wait_for_servers_are_not_timed() -> None:
    harness = harness_with("0-ms")
    harness.settle()
    assert Dawdles.stopwatch.seconds == 3600
    assert harness.slow_hooks == []


def test_without_a_limit_nothing_is_reported() -> None:
    harness = harness_with("90000-ms", limit=None)
    harness.settle()
    assert harness.slow_hooks == []


def test_a_hook_is_logged_once_in_a_minute(caplog: pytest.LogCaptureFixture) -> None:
    harness = harness_with(*(f"200-{number}" for number in range(5)))
    for number in range(5):
        assert harness.schedule_one() == f"default/200-{number}"
        if number < 3:
            Dawdles.stopwatch.seconds -= 3600  # which binding took
    assert len(harness.slow_hooks) == 5
    first, last = (record.getMessage() for record in caplog.records)
    assert first.endswith("for pod default/200-0 (limit: 0.1 s)")
    assert last.endswith("(limit: 0.1 s); 3 times more since the last warning")


@pytest.mark.parametrize("seconds", [0, -1, float("nan"), "1", True])
def test_an_invalid_limit_is_rejected(seconds: float) -> None:
    expected = r"SchedulerOptions.slow_hook_seconds: expected seconds above 0, got "
    with pytest.raises(ValueError, match=expected):
        SchedulerOptions(slow_hook_seconds=seconds)
