"""`HookTimings` counts calls, and knows how long they took."""

import pytest

from quaymaster.scheduler import HookCall, HookTimings, SchedulerOptions
from quaymaster.testing import SchedulerHarness, make_node, make_pod


def call(hook: str, seconds: float, plugin: str = "Racks") -> HookCall:
    return HookCall(plugin, hook, None, "", None, None, seconds, None)


def timings_of(*calls: HookCall) -> HookTimings:
    timings = HookTimings()
    for one in calls:
        timings.called(one)
    return timings


def test_calls_are_summed_up_by_plugin_and_hook_with_the_costliest_first() -> None:
    timings = timings_of(
        call("filter", 1.0),
        call("score", 5.0),
        call("filter", 2.0),
        call("filter", 2.0, plugin="Tiers"),
    )
    told = [(one.plugin, one.hook, one.calls, one.seconds) for one in timings.hooks()]
    assert told == [
        ("Racks", "score", 1, 5.0),
        ("Racks", "filter", 2, 3.0),
        ("Tiers", "filter", 1, 2.0),
    ]
    assert [one.share for one in timings.hooks()] == [0.5, 0.3, 0.2]
    assert timings.hooks()[1].mean == 1.5
    assert (timings.calls, timings.seconds) == (4, 10.0)


def test_percentiles_are_right_to_a_fortieth() -> None:
    times = [0.001 * number for number in range(1, 1001)]
    [one] = timings_of(*(call("filter", seconds) for seconds in times)).hooks()
    assert one.p50 == pytest.approx(0.5, rel=0.026)
    assert one.p99 == pytest.approx(0.99, rel=0.026)
    assert one.longest == 1.0


def test_a_single_call_is_its_own_percentiles() -> None:
    [one] = timings_of(call("filter", 0.25)).hooks()
    assert one.p50 == pytest.approx(0.25, rel=0.026)
    assert one.p99 <= one.longest == 0.25


def test_times_of_nothing_are_nothing() -> None:
    assert HookTimings().hooks() == []
    [one] = timings_of(call("filter", 0.0)).hooks()
    assert (one.seconds, one.share, one.p50, one.longest) == (0.0, 0.0, 0.0, 0.0)


def test_a_scheduler_is_measured_by_its_stopwatch() -> None:
    timings = HookTimings()
    harness = SchedulerHarness(
        [make_node(name="a"), make_pod(name="p")],
        options=SchedulerOptions(hook_observers=[timings]),
        stopwatch=lambda: 0.0,
    )
    harness.settle()
    hooks = {(one.plugin, one.hook): one.calls for one in timings.hooks()}
    assert hooks["NodeResourcesFit", "filter_nodes"] == 1
    assert timings.seconds == 0.0
