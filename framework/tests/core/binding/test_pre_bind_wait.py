"""PreBind plugins that wait for the cluster hold no thread, in any kind of time."""

import threading
import time
from collections.abc import Callable

import pytest

from quaymaster import CycleState, Handle, Pod, PreBindWait, Status, hookimpl
from quaymaster.config import parse_config
from quaymaster.inmemory import InMemoryCluster
from quaymaster.scheduler import PluginRegistry, Scheduler, VirtualClock, WorkerExecutor
from quaymaster.testing import SchedulerHarness, make_node, make_pod
from tests.kit.documents import HEADER

LATE = Status.from_error("too late")
NODE = make_node(allocatable={"cpu": "4", "pods": "110"})


def config(*plugins: str) -> dict[str, object]:
    enabled = [{"name": name} for name in ("PrioritySort", *plugins, "DefaultBinder")]
    points = {"disabled": [{"name": "*"}], "enabled": enabled}
    return {
        **HEADER,
        "profiles": [{"plugins": {"multiPoint": points}}],
    }


def waiting(
    check: Callable[[], bool | Status], log: list[str], name: str = "Waits"
) -> type:
    """A plugin that waits at most 10 seconds for a condition."""

    class Waits:
        def __init__(self, _args: None, _handle: Handle) -> None:
            pass

        @hookimpl
        def pre_bind(self, pod: Pod) -> PreBindWait:
            log.append(f"{name} {threading.current_thread().name}")
            return PreBindWait(check=check, timeout_seconds=10, timed_out=LATE)

        @hookimpl
        def reserve(self) -> None:
            return None

        @hookimpl
        def unreserve(self, state: CycleState) -> None:
            log.append("unreserved")

    return Waits


def harness_with(
    *checks: Callable[[], bool | Status],
) -> tuple[SchedulerHarness, list[str]]:
    log: list[str] = []
    plugins = {
        f"W{index}": waiting(check, log, f"W{index}")
        for index, check in enumerate(checks)
    }
    harness = SchedulerHarness(
        [NODE, make_pod()], plugins=plugins, config=config(*plugins)
    )
    return harness, log


def test_pod_is_bound_once_the_condition_holds() -> None:
    answers = iter([False, False, True])
    harness, log = harness_with(lambda: next(answers))
    harness.advance(2.5)
    assert harness.node_of("pod") == ""
    harness.advance(1)
    assert harness.node_of("pod") == "node"
    assert log == ["W0 MainThread"]


def test_later_plugins_run_after_the_wait() -> None:
    order: list[str] = []

    def note(name: str) -> Callable[[], bool]:
        def check() -> bool:
            order.append(name)
            return True

        return check

    harness, log = harness_with(note("first"), note("second"))
    harness.settle()
    assert harness.node_of("pod") == "node"
    assert order == ["first", "second"]
    assert [line.split()[0] for line in log] == ["W0", "W1"]


@pytest.mark.parametrize(
    ("check", "after"),
    [
        pytest.param(lambda: False, 10, id="never"),
        pytest.param(lambda: Status.from_error("no"), 1, id="fails"),
        pytest.param(lambda: 1 / 0, 1, id="raises"),
    ],
)
def test_pod_whose_wait_times_out_is_unreserved(
    check: Callable[[], bool | Status], after: float
) -> None:
    harness, log = harness_with(check)
    harness.advance(after - 0.5)
    assert "unreserved" not in log
    harness.advance(0.6)
    assert "unreserved" in log
    assert harness.node_of("pod") == ""


def test_condition_is_not_checked_after_the_timeout() -> None:
    times: list[float] = []

    def check() -> bool:
        times.append(harness.clock.now())
        return len(times) == 10  # the tenth second is the last

    harness, log = harness_with(check)
    start = harness.clock.now()
    harness.advance(10.1)
    assert [when - start for when in times] == list(range(1, 10))
    assert "unreserved" in log


def test_a_simulation_is_not_settled_while_a_pod_waits() -> None:
    answers = iter([False] * 8 + [True])
    harness, _ = harness_with(lambda: next(answers))
    harness.settle()
    assert harness.node_of("pod") == "node"


def test_on_workers_the_plugin_waits_on_the_engines_thread() -> None:
    log: list[str] = []
    threads: list[str] = []

    def check() -> bool:
        threads.append(threading.current_thread().name)
        return len(threads) > 2

    registry = PluginRegistry.discover().with_plugin(waiting(check, log), "W")
    clock = VirtualClock()
    cluster = InMemoryCluster(clock)
    cluster.load([NODE, make_pod()])
    scheduler = Scheduler(
        cluster,
        parse_config(config("W"), registry, source="test"),
        registry,
        clock=clock,
        make_executor=lambda post: WorkerExecutor(post, workers=1),
    )
    scheduler.start()
    deadline = time.monotonic() + 20
    while not cluster.get(Pod, "default/pod").node_name:
        assert time.monotonic() < deadline
        if not scheduler.turn():
            clock.advance(1)
            time.sleep(0.001)
    assert "binding" in log[0]
    assert set(threads) == {"MainThread"}
