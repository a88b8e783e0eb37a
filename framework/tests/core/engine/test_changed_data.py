"""``handle.changed()`` drops cached answers and wakes pods."""

import threading
from collections.abc import Hashable
from typing import Any, ClassVar

import pytest
from msgspec.structs import replace

from quaymaster import (
    Code,
    Handle,
    NodeInfo,
    Pod,
    Scope,
    Status,
    hookimpl,
)
from quaymaster.errors import VerificationError
from quaymaster.objects import PodCondition
from quaymaster.scheduler import SchedulerOptions
from quaymaster.testing import PluginHarness, SchedulerHarness, make_node, make_pod
from tests.kit.documents import HEADER
from tests.kit.engine import scheduler_of

VERIFIED = SchedulerOptions(verify=1)


class Metered:
    """Passes the nodes that an external table allows; its answers are cached."""

    allowed: ClassVar[set[str]] = set()
    filtered: ClassVar[list[str]] = []
    signed: ClassVar[int] = 0
    code: ClassVar[Code] = Code.UNSCHEDULABLE
    scope = Scope.NODE

    def __init__(self, args: object, handle: Handle) -> None:
        self.handle = handle

    @hookimpl
    def events_to_register(self) -> list[Any]:
        return []

    @hookimpl
    def sign_pod(self, pod: Pod) -> Hashable:
        type(self).signed += 1
        return ""

    @hookimpl
    def filter(self, node: NodeInfo) -> Status | None:
        self.filtered.append(node.name)
        return None if node.name in self.allowed else Status(self.code, ("measured",))


class Gate:
    """Gates pods until an external event."""

    is_open: ClassVar[bool] = False

    def __init__(self, args: object, handle: Handle) -> None:
        self.handle = handle

    @hookimpl
    def events_to_register(self) -> list[Any]:
        return []

    @hookimpl
    def pre_enqueue(self, pod: Pod) -> Status | None:
        return None if self.is_open else Status.unschedulable("closed")


@pytest.fixture(autouse=True)
def fresh() -> None:
    Metered.allowed, Metered.filtered, Metered.signed = set(), [], 0
    Metered.code = Code.UNSCHEDULABLE
    Gate.is_open = False


def config(*names: str, **settings: object) -> dict[str, Any]:
    enabled = [{"name": name} for name in names]
    profiles = [
        {"schedulerName": name, "plugins": {"multiPoint": {"enabled": enabled}}}
        for name in ("default-scheduler", "other")
    ]
    return {**HEADER, "profiles": profiles, **settings}


def make_harness(
    *names: str, nodes: int = 2, options: SchedulerOptions = VERIFIED
) -> SchedulerHarness:
    return SchedulerHarness(
        [make_node(name=f"n{number}") for number in range(nodes)],
        plugins={"Metered": Metered, "Gate": Gate},
        config=config(*(names or ["Metered"])),
        options=options,
    )


def place(harness: SchedulerHarness, name: str, **fields: Any) -> str:
    harness.cluster.create(make_pod(name=name, **fields))
    harness.settle()
    return harness.node_of(name)


def test_answer_is_cached_until_the_plugin_reports_a_change() -> None:
    harness = make_harness(options=SchedulerOptions())
    Metered.allowed = {"n0"}
    place(harness, "a")
    place(harness, "b")
    assert Metered.filtered.count("n1") == 1
    harness.plugin(Metered).handle.changed()
    place(harness, "c")
    assert Metered.filtered.count("n1") == 2


def test_next_pod_is_scheduled_with_the_new_data() -> None:
    harness = make_harness()
    Metered.allowed = {"n0"}
    assert place(harness, "a") == "n0"
    Metered.allowed = {"n1"}
    harness.plugin(Metered).handle.changed()
    assert place(harness, "b") == "n1"


def test_verify_finds_a_plugin_that_does_not_report_a_change() -> None:
    harness = make_harness()
    Metered.allowed = {"n0"}
    place(harness, "a")
    Metered.allowed = {"n1"}
    with pytest.raises(VerificationError):
        place(harness, "b")


def test_pods_are_signed_again() -> None:
    harness = make_harness(options=SchedulerOptions())
    Metered.allowed = {"n0"}
    place(harness, "a")
    place(harness, "b")
    signed = Metered.signed
    harness.plugin(Metered).handle.changed()
    place(harness, "c")
    assert Metered.signed == signed + 1


def test_waiting_pod_is_signed_once() -> None:
    harness = make_harness(options=SchedulerOptions())
    place(harness, "a")
    message = scheduling_message(harness, "a")
    harness.cluster.create(make_node(name="n2"))
    harness.plugin(Metered).handle.activate([harness.cluster.get(Pod, "default/a")])
    harness.settle()
    assert scheduling_message(harness, "a") != message
    assert Metered.signed == 1


def test_waiting_pod_with_another_condition_is_signed_again() -> None:
    harness = make_harness(options=SchedulerOptions())
    place(harness, "a")
    pod = harness.cluster.get(Pod, "default/a")
    conditions = (*pod.status.conditions, PodCondition(type="Checked", status="True"))
    harness.cluster.update(
        replace(pod, status=replace(pod.status, conditions=conditions))
    )
    harness.plugin(Metered).handle.activate([pod])
    harness.settle()
    assert Metered.signed == 2


def scheduling_message(harness: SchedulerHarness, name: str) -> str:
    [condition] = harness.cluster.get(Pod, f"default/{name}").status.conditions
    return condition.message


def test_timer_that_changes_data_precedes_the_attempt_of_its_turn() -> None:
    harness = make_harness()
    Metered.allowed = {"n0"}
    place(harness, "a")
    plugin = harness.plugin(Metered)

    def ring() -> None:
        Metered.allowed = {"n1"}
        plugin.handle.changed()
        harness.cluster.create(make_pod(name="b"))

    harness.cluster.create(make_pod(name="c"))
    plugin.handle.clock.call_later(0.0, ring)
    harness.settle()
    assert (harness.node_of("b"), harness.node_of("c")) == ("n1", "n1")


def test_pod_that_the_plugin_rejected_is_woken() -> None:
    harness = make_harness()
    assert place(harness, "a") == ""
    Metered.allowed = {"n0"}
    harness.plugin(Metered).handle.changed()
    harness.settle()
    assert harness.node_of("a") == "n0"
    assert scheduler_of(harness).queue.incoming["backoff", "PluginChange"] == 1


def test_pod_that_waits_for_the_plugin_is_active_at_once() -> None:
    Metered.code = Code.PENDING
    harness = make_harness()
    place(harness, "a")
    Metered.allowed = {"n0"}
    harness.plugin(Metered).handle.changed()
    harness.settle()
    assert harness.node_of("a") == "n0"
    assert scheduler_of(harness).queue.incoming["active", "PluginChange"] == 1


def test_pod_that_others_rejected_sleeps_on() -> None:
    harness = make_harness()
    Metered.allowed = {"n0", "n1"}
    assert place(harness, "a", node_selector={"disk": "ssd"}) == ""
    attempts = list(harness.attempts)
    harness.plugin(Metered).handle.changed()
    harness.settle()
    assert harness.attempts == attempts


def test_pods_of_another_profile_sleep_on() -> None:
    harness = make_harness()
    assert place(harness, "a") == place(harness, "b", scheduler_name="other") == ""
    attempts = len(harness.attempts)
    harness.plugin(Metered, scheduler_name="other").handle.changed()
    harness.settle()
    assert harness.attempts[attempts:] == ["default/b"]


def test_gates_are_checked_again() -> None:
    harness = make_harness("Gate", "Metered")
    Metered.allowed = {"n0"}
    assert place(harness, "a") == ""
    harness.plugin(Metered).handle.changed()
    harness.settle()
    assert harness.attempts == []
    Gate.is_open = True
    harness.plugin(Gate).handle.changed()
    harness.settle()
    assert harness.node_of("a") == "n0"


def test_calls_coalesce() -> None:
    harness = make_harness()
    place(harness, "a")
    attempts = len(harness.attempts)
    for _ in range(5):
        harness.plugin(Metered).handle.changed()
    harness.settle()
    assert len(harness.attempts) == attempts + 1


def test_any_thread_may_call() -> None:
    harness = make_harness()
    place(harness, "a")
    Metered.allowed = {"n0"}
    threads = [
        threading.Thread(target=harness.plugin(Metered).handle.changed)
        for _ in range(4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    harness.settle()
    assert harness.node_of("a") == "n0"


def test_verify_repeats_an_attempt_in_which_data_change() -> None:
    class Learning(Metered):
        """Changes its data while its filter runs."""

        @hookimpl
        def filter(self, node: NodeInfo) -> Status | None:
            answer = Metered.filter(self, node)
            if not self.allowed:
                type(self).allowed = {"n0"}
                self.handle.changed()
            return answer

    Learning.allowed = set()
    harness = SchedulerHarness(
        [make_node(name="n0")],
        plugins={"Learning": Learning},
        config=config("Learning"),
        options=VERIFIED,
    )
    assert place(harness, "a") == "n0"
    assert harness.attempts == ["default/a"] * 2


def test_replaced_plugin_changes_nothing() -> None:
    harness = make_harness()
    place(harness, "a")
    old = harness.plugin(Metered).handle
    harness.reload(config("Metered", podInitialBackoffSeconds=2))
    old.changed()  # reported before the reload, handled after it
    harness.settle()
    attempts = len(harness.attempts)
    old.changed()
    harness.settle()
    assert len(harness.attempts) == attempts


def test_simulation_ends_although_a_plugin_changes_again_and_again() -> None:
    class Polling(Metered):
        @hookimpl
        def start(self) -> None:
            self.handle.clock.call_later(15.0, self.poll, background=True)

        def poll(self) -> None:
            self.handle.changed()
            self.start()

    harness = SchedulerHarness(
        [make_node(name="n0")],
        plugins={"Polling": Polling},
        config=config("Polling"),
        options=VERIFIED,
    )
    place(harness, "a")
    place(harness, "b", node_selector={"disk": "ssd"})
    before = len(harness.attempts)
    harness.advance(60.0)
    assert harness.attempts[before:].count("default/a") == 4
    assert harness.attempts[before:].count("default/b") <= 4


def test_plugin_in_a_harness_may_report_a_change() -> None:
    with PluginHarness(Metered, nodes=[make_node(name="n")]) as harness:
        harness.handle.changed()
        assert harness.filter(make_pod())["n"].message == "measured"
