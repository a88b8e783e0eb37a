"""Objects that plugins leave behind may fail later, but do no harm.

These are sort keys, values in the cycle state, timers, tasks, and arguments of calls.
"""

import math
import signal
import sys
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import Any, ClassVar

import numpy as np
import pytest

from quaymaster import (
    CycleState,
    Handle,
    NodeInfo,
    PermitWait,
    Pod,
    QueuedPodInfo,
    StateKey,
    hookimpl,
)
from quaymaster.errors import ProfileError
from quaymaster.scheduler import WorkerExecutor
from quaymaster.testing import SchedulerHarness, make_node, make_pod
from tests.kit.engine import scheduler_of
from tests.kit.faulty import Answer, Faulty, faulty_config, gives, schedule_two


class Proxy:
    """A proxy without an object, as web frameworks have them."""

    @property  # type: ignore[misc]  # as such proxies do
    def __class__(self) -> type:
        raise RuntimeError("working outside of context")


class InQueueSort(Faulty):
    @hookimpl
    def queue_sort(self, queued: QueuedPodInfo) -> object:
        return self.answer_for(queued.pod, (-queued.pod.priority, queued.timestamp))


def raises() -> object:
    raise ZeroDivisionError("oops")


def breaks_midway() -> Iterator[str]:
    yield "a"
    raise RuntimeError("no more")


@pytest.mark.parametrize(
    "odd",
    [gives((-1, "b")), gives((-1, [1])), gives(([], 1)), gives({}), Proxy, gives((1,))],
    ids=["other type", "part unhashable", "parts swapped", "dict", "proxy", "short"],
)
def test_pod_whose_sort_key_is_unlike_the_others_loses_nothing(odd: Answer) -> None:
    harness = schedule_two(InQueueSort, odd, queueSort=["Faulty"])
    assert harness.node_of("good")
    assert harness.node_of("bad")


class ByOwnKeys(Faulty):
    """Gives keys that compare with some of their kind only."""

    class Key:
        def __init__(self, pod: Pod) -> None:
            self.pod = pod

        def __lt__(self, other: "ByOwnKeys.Key") -> bool:
            if {self.pod.name, other.pod.name} == {"b", "c"}:
                raise RuntimeError("they do not speak to each other")
            return self.pod.name < other.pod.name

    @hookimpl
    def queue_sort(self, queued: QueuedPodInfo) -> "ByOwnKeys.Key":
        return self.Key(queued.pod)


def test_keys_that_fail_to_compare_lose_no_pod(
    caplog: pytest.LogCaptureFixture,
) -> None:
    harness = SchedulerHarness(
        [make_node(name="n"), *(make_pod(name=name) for name in "abcd")],
        plugins={"Faulty": ByOwnKeys},
        config=faulty_config(queueSort=["Faulty"]),
    )
    harness.settle()
    assert all(harness.node_of(name) for name in "abcd")
    assert "the keys of queue_sort do not compare" in caplog.text


class Interrupted(Faulty):
    @hookimpl
    def filter(self, pod: Pod) -> object:
        return self.answer_for(pod)


def interrupts() -> object:
    raise KeyboardInterrupt


def exits() -> object:
    sys.exit(3)


def gets_sigterm() -> object:
    """A signal arrives while the plugin works, and its handler ends the process."""
    signal.raise_signal(signal.SIGTERM)
    return None


def _stop(_number: int, _frame: object) -> None:
    sys.exit(0)


def test_an_interrupt_passes() -> None:
    with pytest.raises(KeyboardInterrupt):
        schedule_two(Interrupted, interrupts)


def test_the_end_that_a_signal_brings_passes() -> None:
    before = signal.signal(signal.SIGTERM, _stop)
    try:
        with pytest.raises(SystemExit):
            schedule_two(Interrupted, gets_sigterm)
    finally:
        signal.signal(signal.SIGTERM, before)


class Fragile:
    """A value in the cycle state that breaks when it is cloned."""

    def clone(self) -> "Fragile":
        raise RuntimeError("it fell")


class NameClash(StateKey[int]):
    """A key that compares with nothing."""

    def __eq__(self, other: object) -> bool:
        raise RuntimeError("incomparable")

    def __hash__(self) -> int:
        return 1


KEY = StateKey[Fragile]("Fragile")


class WritesFragile(Faulty):
    @hookimpl
    def pre_filter(self, state: CycleState, pod: Pod) -> None:
        if pod.name == "bad":
            state[KEY] = Fragile()

    @hookimpl
    def filter(self) -> None:
        pass


class WritesClashingKeys(Faulty):
    @hookimpl
    def pre_filter(self, state: CycleState, pod: Pod) -> None:
        if pod.name == "bad":
            state[NameClash("a")] = 1
            state[NameClash("b")] = 2


class BreaksState(Faulty):
    @hookimpl
    def pre_score(self, state: CycleState, pod: Pod) -> None:
        pass

    @hookimpl
    def score(self, state: CycleState, pod: Pod) -> int:
        if pod.name == "bad":
            state.skip_filter_plugins = state.skip_score_plugins = NO_SET
        return 0


NO_SET: Any = 5


@pytest.mark.parametrize(
    ("plugin", "said"),
    [
        (WritesFragile, "Fragile.clone failed: RuntimeError: it fell"),
        (WritesClashingKeys, 'PreFilter plugin "Faulty": RuntimeError: incomparable'),
        (BreaksState, "not iterable"),
    ],
)
def test_values_that_break_the_cycle_state_fail_that_attempt(
    plugin: type[Faulty], said: str
) -> None:
    nominated = make_pod(name="other", priority=9, nominated_node="a")
    harness = schedule_two(plugin, nominated=[nominated])
    assert harness.node_of("good")
    if plugin is not BreaksState:
        assert not harness.node_of("bad")
        assert said in harness.message("bad")


class CallsLater(Faulty):
    """Leaves a task behind that fails after the hook has returned."""

    handle: ClassVar[Handle]

    def __init__(self, args: object, handle: Handle) -> None:
        type(self).handle = handle

    @hookimpl
    def filter(self, pod: Pod, node: NodeInfo) -> None:
        self.answer_for(pod)


LATER: Mapping[str, Callable[[Any], object]] = {
    "timer": lambda handle: handle.clock.call_later(1.0, raises),
    "partial": lambda handle: handle.clock.call_later(1.0, partial(raises)),
    "task": lambda handle: handle.run_in_background(raises, print),
    "done": lambda handle: handle.run_in_background(int, lambda _: raises()),
    "timer that exits": lambda handle: handle.clock.call_later(1.0, exits),
    "task that exits": lambda handle: handle.run_in_background(exits, print),
    "done that exits": lambda handle: handle.run_in_background(int, lambda _: exits()),
}
REFUSED: Mapping[str, Callable[[Any], object]] = {
    "timer at NaN": lambda handle: handle.clock.call_at(math.nan, raises),
    "timer at a text": lambda handle: handle.clock.call_at("soon", raises),
    "activates a text": lambda handle: handle.activate(["default/good"]),
    "activates midway": lambda handle: handle.activate(breaks_midway()),
}


@pytest.mark.parametrize("call", LATER.values(), ids=LATER.keys())
def test_work_left_behind_that_fails_is_logged(
    call: Callable[[object], object], caplog: pytest.LogCaptureFixture
) -> None:
    harness = schedule_two(CallsLater, lambda: call(CallsLater.handle))
    harness.advance(5.0)
    assert harness.node_of("good")
    assert harness.node_of("bad")
    messages = [text for text in caplog.messages if text.endswith("a plugin failed")]
    assert messages
    assert all("test_plugin_leftovers." in message for message in messages)


@pytest.mark.parametrize("call", REFUSED.values(), ids=REFUSED.keys())
def test_calls_that_would_fail_later_are_rejected_at_once(
    call: Callable[[object], object],
) -> None:
    harness = schedule_two(CallsLater, lambda: call(CallsLater.handle))
    assert harness.node_of("good")
    assert 'running "Faulty" filter plugin' in harness.message("bad")


class Waits(Faulty):
    @hookimpl
    def permit(self, pod: Pod) -> PermitWait | None:
        return PermitWait(10.0) if pod.name == "bad" else None


@pytest.mark.parametrize(
    "call",
    [
        lambda waiting: waiting.allow(["Faulty"]),
        lambda waiting: waiting.reject(["Faulty"], "no"),
        lambda waiting: waiting.reject("Faulty", ["no"]),
    ],
    ids=["allow", "reject", "message"],
)
def test_waiting_pods_take_texts_only(call: Callable[[object], object]) -> None:
    harness = schedule_two(Waits, raises)
    (waiting,) = scheduler_of(harness).waiting
    with pytest.raises(TypeError, match="expected a text, got list"):
        call(waiting)
    harness.advance(10.0)
    assert "after waiting 10s at plugin Faulty" in harness.message("bad")


@pytest.mark.parametrize("keys", [None, 5, [["a"], "default/x"], breaks_midway()])
def test_invalid_pods_to_activate_are_left_out(keys: object) -> None:
    class Activates(Faulty):
        @hookimpl
        def permit(self, state: CycleState, pod: Pod) -> None:
            if pod.name == "bad":
                state.pods_to_activate = keys  # type: ignore[assignment]  # wrong

    harness = schedule_two(Activates, raises)
    assert harness.node_of("good")
    assert harness.node_of("bad")


def test_scores_that_the_plugin_keeps_stay_its_own() -> None:
    class Keeps(Faulty):
        kept = np.zeros(2, dtype=np.int64)

        @hookimpl
        def score(self) -> int:
            return 0

        @hookimpl
        def score_nodes(self) -> object:
            self.kept[:] = 1
            return self.kept

        @hookimpl
        def normalize_score(self) -> None:
            pass

    harness = schedule_two(Keeps, raises)
    assert harness.node_of("good")
    assert harness.node_of("bad")


def test_events_of_a_wrong_type_keep_the_profile_from_loading() -> None:
    class Registers(Faulty):
        @hookimpl
        def filter(self) -> None:
            pass

        @hookimpl
        def events_to_register(self) -> object:
            return ["Node/Add"]

    with pytest.raises(ProfileError, match=r"Faulty.*returned a str among its events"):
        schedule_two(Registers)


def test_exception_of_a_task_on_a_worker_reaches_the_engine() -> None:
    posted: list[Callable[[], None]] = []
    executor = WorkerExecutor(posted.append, workers=1)
    executor.submit(raises, print)
    executor.close()
    (call,) = posted
    with pytest.raises(ZeroDivisionError):
        call()
