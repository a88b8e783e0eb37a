"""Timers and tasks of a plugin end with the plugin."""

import threading
from collections.abc import Callable, Mapping
from typing import Any, ClassVar

import pytest

from quaymaster import Handle, PermitWait, hookimpl
from quaymaster.config import parse_config
from quaymaster.errors import ProfileError, UnknownObjectionError
from quaymaster.inmemory import InMemoryCluster
from quaymaster.scheduler import PluginRegistry, Scheduler, VirtualClock
from quaymaster.testing import SchedulerHarness, make_node, make_pod
from tests.kit.documents import HEADER
from tests.kit.internals.binding import Post


class Ticking:
    """Sets a timer when it is built, and again whenever it fires."""

    made: ClassVar[list["Ticking"]] = []

    def __init__(self, args: object, handle: Handle) -> None:
        self.ticks = 0
        self.handle = handle
        self.made.append(self)
        self.tick_later()

    def tick(self) -> None:
        self.ticks += 1
        self.handle.run_in_background(int, lambda _zero: self.tick_later())

    def tick_later(self) -> None:
        self.handle.clock.call_later(10.0, self.tick, background=True)

    @hookimpl
    def filter(self) -> None: ...


class Unlicensed(Ticking):
    """Sets a timer, and cannot be built."""

    def __init__(self, args: object, handle: Handle) -> None:
        super().__init__(args, handle)
        raise LookupError("no licence")


PLUGINS: Mapping[str, type] = {"Ticking": Ticking, "Unlicensed": Unlicensed}


def config_with(*names: str, **settings: object) -> dict[str, Any]:
    enabled = [{"name": name} for name in names]
    return {
        **HEADER,
        "profiles": [{"plugins": {"multiPoint": {"enabled": enabled}}}],
        **settings,
    }


@pytest.fixture
def made() -> list[Ticking]:
    Ticking.made = []
    return Ticking.made


def ticking_after(made: list[Ticking], advance: Callable[[float], object]) -> list[int]:
    """Return the numbers of the instances that tick when time passes."""
    before = [plugin.ticks for plugin in made]
    advance(30.0)
    return [
        number for number, plugin in enumerate(made) if plugin.ticks > before[number]
    ]


def test_replaced_instances_stop_ticking(made: list[Ticking]) -> None:
    harness = SchedulerHarness(plugins=PLUGINS, config=config_with("Ticking"))
    assert ticking_after(made, harness.advance) == [0]
    for seconds in (2, 3, 4):
        again = config_with("Ticking", podInitialBackoffSeconds=seconds)
        answer = harness.reload(again)
        harness.advance(1)
        answer.result()
    assert len(made) == 4
    assert ticking_after(made, harness.advance) == [3]


def test_timer_that_a_replaced_instance_sets_never_fires(made: list[Ticking]) -> None:
    harness = SchedulerHarness(plugins=PLUGINS, config=config_with("Ticking"))
    harness.reload(config_with("Ticking", podInitialBackoffSeconds=2))
    harness.advance(1)
    rung: list[str] = []
    handle = made[0].handle
    handle.clock.call_later(1.0, lambda: rung.append("timer"))
    handle.run_in_background(int, lambda _zero: rung.append("task"))
    harness.advance(10)
    assert rung == []
    assert not harness.clock.has_foreground_timers


def test_instances_of_a_build_that_fails_do_not_tick(made: list[Ticking]) -> None:
    harness = SchedulerHarness(plugins=PLUGINS, config=config_with("Ticking"))
    answer = harness.reload(config_with("Ticking", "Unlicensed"))
    harness.advance(1)
    with pytest.raises(ProfileError, match="no licence"):
        answer.result()
    assert len(made) == 3
    assert ticking_after(made, harness.advance) == [0]


def test_first_build_that_fails_leaves_no_timer(made: list[Ticking]) -> None:
    clock = VirtualClock()
    registry = PluginRegistry.discover()
    for plugin in PLUGINS.values():
        registry = registry.with_plugin(plugin)
    config = parse_config(config_with("Ticking", "Unlicensed"), registry, source="test")
    with pytest.raises(ProfileError):
        Scheduler(InMemoryCluster(clock), config, registry, clock=clock)
    assert ticking_after(made, clock.advance) == []


def test_instances_stop_with_the_scheduler(made: list[Ticking]) -> None:
    clock = VirtualClock()
    registry = PluginRegistry.discover().with_plugin(Ticking)
    config = parse_config(config_with("Ticking"), registry, source="test")
    scheduler = Scheduler(InMemoryCluster(clock), config, registry, clock=clock)
    scheduler.start()
    stop = threading.Event()
    stop.set()
    scheduler.run(stop)
    assert ticking_after(made, clock.advance) == []


class _Later:
    """Runs submitted tasks when the test calls it."""

    def __init__(self, _post: Post) -> None:
        self.calls: list[Callable[[], None]] = []

    def submit(
        self,
        task: Callable[[], Any],
        done: Callable[[Any], None],
        *,
        blocks: bool = True,
    ) -> None:
        self.calls.append(lambda: done(task()))

    def close(self) -> None: ...


def test_task_that_has_not_started_never_does(made: list[Ticking]) -> None:
    clock = VirtualClock()
    registry = PluginRegistry.discover().with_plugin(Ticking)
    config = parse_config(config_with("Ticking"), registry, source="test")
    executors: list[_Later] = []

    def make_executor(post: Post) -> _Later:
        executors.append(_Later(post))
        return executors[0]

    scheduler = Scheduler(
        InMemoryCluster(clock),
        config,
        registry,
        clock=clock,
        make_executor=make_executor,
    )
    ran: list[str] = []
    made[0].handle.run_in_background(lambda: ran.append("task"), print)
    scheduler.close()
    for call in executors[0].calls:
        call()
    assert ran == []


# Waiting pods -------------------------------------------------------------------------


class Holding:
    """Lets every pod wait."""

    handle: ClassVar[Handle]

    def __init__(self, args: object, handle: Handle) -> None:
        type(self).handle = handle

    @hookimpl
    def permit(self) -> PermitWait:
        return PermitWait(600.0)


class HoldingToo(Holding):
    """Does so as well."""


def waiting_harness() -> SchedulerHarness:
    harness = SchedulerHarness(
        [make_node(name="a"), make_pod(name="p")],
        plugins={"Holding": Holding, "HoldingToo": HoldingToo},
        config=config_with("Holding", "HoldingToo"),
    )
    harness.schedule_one()
    return harness


def test_misspelt_plugin_cannot_allow_a_pod() -> None:
    waiting_harness()
    (waiting,) = Holding.handle.waiting_pods()
    with pytest.raises(UnknownObjectionError) as caught:
        waiting.allow("Misspelt")
    assert str(caught.value) == (
        "allow: pod default/p does not wait for plugin 'Misspelt', expected one of: "
        "Holding, HoldingToo"
    )
    assert isinstance(caught.value, ValueError)


def test_plugin_without_an_objection_cannot_allow_a_pod() -> None:
    waiting_harness()
    (waiting,) = Holding.handle.waiting_pods()
    with pytest.raises(UnknownObjectionError):
        waiting.allow("NodeName")


def test_allowing_a_pod_twice_or_too_late_is_not_an_error() -> None:
    harness = waiting_harness()
    (waiting,) = Holding.handle.waiting_pods()
    waiting.allow("Holding")
    waiting.allow("Holding")
    harness.advance(0)
    assert harness.waiting_pods() == ["default/p"]
    waiting.allow("Holding")
    waiting.allow("HoldingToo")
    harness.advance(0)
    assert harness.node_of("p") == "a"
    waiting.allow("HoldingToo")
    waiting.reject("HoldingToo", "too late")
    harness.advance(0)
    assert harness.node_of("p") == "a"


def test_any_plugin_of_a_profile_rejects_as_preemption_does() -> None:
    harness = waiting_harness()
    (waiting,) = Holding.handle.waiting_pods()
    with pytest.raises(UnknownObjectionError, match=r"reject: .* 'DefaultPreemtion'"):
        waiting.reject("DefaultPreemtion", "preempted")
    waiting.reject("DefaultPreemption", "preempted")
    harness.advance(0)
    assert "preempted" in harness.message("p")
