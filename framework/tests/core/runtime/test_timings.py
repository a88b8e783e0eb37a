"""`HookTimings` counts calls and sums up their times."""

import pytest

from quaymaster.scheduler import HookCall, HookTimings, SchedulerOptions
from quaymaster.testing import SchedulerHarness, make_node, make_pod


def call(hook: str, seconds: float, plugin: str = "Racks") -> HookCall:
    return HookCall(plugin, hook, None, "", None, None, seconds, None)


def timings_of(*calls: HookCall) -> HookTimings:
    timings = HookTimings()
    for hook_call in calls:
        timings.called(hook_call)
    return timings


def test_calls_are_summed_up_by_plugin_and_hook_with_the_costliest_first() -> None:
    timings = timings_of(
        call("filter", 1.0),
        call("score", 5.0),
        call("filter", 2.0),
        call("filter", 2.0, plugin="Tiers"),
    )
    sums = [
        (hook.plugin, hook.hook, hook.calls, hook.seconds) for hook in timings.hooks()
    ]
    assert sums == [
        ("Racks", "score", 1, 5.0),
        ("Racks", "filter", 2, 3.0),
        ("Tiers", "filter", 1, 2.0),
    ]
    assert [hook.share for hook in timings.hooks()] == [0.5, 0.3, 0.2]
    assert timings.hooks()[1].mean == 1.5
    assert (timings.calls, timings.seconds) == (4, 10.0)


def test_percentiles_are_right_to_a_fortieth() -> None:
    times = [0.001 * number for number in range(1, 1001)]
    [hook] = timings_of(*(call("filter", seconds) for seconds in times)).hooks()
    assert hook.p50 == pytest.approx(0.5, rel=0.026)
    assert hook.p99 == pytest.approx(0.99, rel=0.026)
    assert hook.longest == 1.0


def test_a_single_call_is_its_own_percentiles() -> None:
    [hook] = timings_of(call("filter", 0.25)).hooks()
    assert hook.p50 == pytest.approx(0.25, rel=0.026)
    assert hook.p99 <= hook.longest == 0.25


def test_without_calls_there_are_no_timings() -> None:
    assert HookTimings().hooks() == []
    [hook] = timings_of(call("filter", 0.0)).hooks()
    assert (hook.seconds, hook.share, hook.p50, hook.longest) == (0.0, 0.0, 0.0, 0.0)


def test_a_scheduler_is_measured_by_its_stopwatch() -> None:
    timings = HookTimings()
    harness = SchedulerHarness(
        [make_node(name="a"), make_pod(name="p")],
        options=SchedulerOptions(hook_observers=[timings]),
        stopwatch=lambda: 0.0,
    )
    harness.settle()
    hooks = {(hook.plugin, hook.hook): hook.calls for hook in timings.hooks()}
    assert hooks["NodeResourcesFit", "filter_nodes"] == 1
    assert timings.seconds == 0.0
