"""A scheduler at work on an in-memory cluster: attempts, waits, failures, retries."""

import threading
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import pytest

from quaymaster import (
    CycleState,
    Handle,
    Node,
    NodeInfo,
    PermitWait,
    Pod,
    Status,
    hookimpl,
)
from quaymaster.cluster import ApiError, ConflictError, EventNote, UnknownOutcomeError
from quaymaster.config import default_config
from quaymaster.inmemory import InMemoryCluster
from quaymaster.scheduler import (
    HookError,
    PluginRegistry,
    QueueName,
    RealClock,
    Scheduler,
    SlowHook,
    WorkerExecutor,
)
from quaymaster.testing import SchedulerHarness, make_node, make_pod
from tests.kit.documents import HEADER
from tests.kit.internals.engine import Framework


class Plugin:
    """Base of the plugins here: a log of their calls."""

    log: ClassVar[list[str]] = []

    def __init__(self, args: object, handle: Handle) -> None:
        self.handle = handle


@pytest.fixture(autouse=True)
def _empty_log() -> None:
    Plugin.log.clear()


def config_with(*names: str, **points: Sequence[str]) -> Mapping[str, Any]:
    """Return the default profile with more plugins, everywhere or at single points."""
    enabled = [{"name": name} for name in names]
    plugins: dict[str, Any] = {"multiPoint": {"enabled": enabled}}
    for point, replacing in points.items():
        plugins[point] = {
            "disabled": [{"name": "*"}],
            "enabled": [{"name": name} for name in replacing],
        }
    return {
        **HEADER,
        "profiles": [{"schedulerName": "default-scheduler", "plugins": plugins}],
    }


class First(Plugin):
    @hookimpl
    def reserve(self, node_name: str) -> None:
        self.log.append("first reserves")

    @hookimpl
    def unreserve(self, node_name: str) -> None:
        self.log.append("first unreserves")


class Second(Plugin):
    answer: ClassVar[Status | None] = None

    @hookimpl
    def reserve(self, node_name: str) -> Status | None:
        self.log.append("second reserves")
        return self.answer

    @hookimpl
    def unreserve(self, node_name: str) -> None:
        self.log.append("second unreserves")
        raise RuntimeError("unreserve must not fail, and yet")


def test_pods_are_tried_by_priority_then_age() -> None:
    harness = SchedulerHarness(
        [
            make_node(),
            make_pod(name="old"),
            make_pod(name="young"),
            make_pod(name="urgent", priority=10),
        ]
    )
    harness.settle()
    assert harness.attempts == ["default/urgent", "default/old", "default/young"]


def test_scheduled_pod_is_bound_and_gets_an_event() -> None:
    harness = SchedulerHarness([make_node(name="a"), make_pod(name="p")])
    assert harness.schedule_one() == "default/p"
    assert harness.node_of("p") == "a"
    [event] = harness.cluster.events()
    assert (event.type, event.reason) == ("Normal", "Scheduled")
    assert event.note == "Successfully assigned default/p to a"


def test_unschedulable_pod_gets_condition_and_event_in_upstreams_words() -> None:
    harness = SchedulerHarness(
        [make_node(capacity={"cpu": "1"}), make_pod(name="p", requests={"cpu": "2"})]
    )
    harness.schedule_one()
    message = "0/1 nodes are available: 1 Insufficient cpu."
    assert harness.message("p").startswith(message)
    [event] = harness.cluster.events()
    assert (event.reason, event.note) == ("FailedScheduling", harness.message("p"))
    pending = harness.why_pending("p")
    assert pending is not None
    assert pending.queue is QueueName.UNSCHEDULABLE
    assert pending.rejected_by == ("NodeResourcesFit",)


def test_new_node_wakes_the_pod_that_waited_for_it() -> None:
    harness = SchedulerHarness([make_pod(name="p", requests={"cpu": "2"})])
    harness.cluster.create(make_node(name="small", capacity={"cpu": "1"}))
    harness.advance(60.0)
    assert harness.node_of("p") == ""
    harness.cluster.create(make_node(name="big", capacity={"cpu": "4"}))
    harness.advance(60.0)
    assert harness.node_of("p") == "big"


def test_pod_that_ends_makes_room_for_the_next() -> None:
    run = {"simulation.quaymaster.io/run-seconds": "90"}
    harness = SchedulerHarness(
        [
            make_node(name="a", capacity={"cpu": "1"}),
            make_pod(name="first", requests={"cpu": "1"}, annotations=run),
            make_pod(name="second", requests={"cpu": "1"}),
        ]
    )
    harness.advance(80.0)
    assert harness.node_of("second") == ""
    harness.advance(40.0)
    assert harness.node_of("second") == "a"


@pytest.mark.parametrize(
    ("answer", "queue"),
    [
        pytest.param(
            Status.unschedulable("not now"), QueueName.UNSCHEDULABLE, id="rejection"
        ),
        pytest.param(Status.from_error("broken"), QueueName.ERROR_BACKOFF, id="error"),
    ],
)
def test_failed_reserve_is_undone_in_reverse_order_and_requeued(
    answer: Status, queue: QueueName, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Second, "answer", answer)
    harness = SchedulerHarness(
        [make_node(), make_pod(name="p", requests={"cpu": "1"})],
        plugins={"First": First, "Second": Second},
        config=config_with("First", "Second"),
    )
    harness.schedule_one()
    assert Plugin.log == [
        "first reserves",
        "second reserves",
        "second unreserves",
        "first unreserves",
    ]
    pending = harness.why_pending("p")
    assert pending is not None
    assert pending.queue is queue
    assert "not now" in harness.message("p") or "broken" in harness.message("p")


def test_pod_is_tried_until_the_last_of_the_others_has_ended() -> None:
    """A day of flushes every five minutes must not be taken for an endless loop."""
    run = {"simulation.quaymaster.io/run-seconds": str(24 * 3600)}
    harness = SchedulerHarness(
        [
            make_node(name="a", capacity={"cpu": "1"}),
            make_pod(name="first", requests={"cpu": "1"}, annotations=run),
            make_pod(name="second", requests={"cpu": "1"}),
        ]
    )
    harness.settle()
    assert harness.node_of("second") == "a"


class Gatekeeper(Plugin):
    """Lets a pod wait for 10 seconds, or for an open gate."""

    current: ClassVar["Gatekeeper"]

    def __init__(self, args: object, handle: Handle) -> None:
        super().__init__(args, handle)
        type(self).current = self

    @hookimpl
    def permit(self, pod: Pod) -> PermitWait | None:
        return PermitWait(10.0) if pod.name.startswith("slow") else None


def waiting_harness() -> SchedulerHarness:
    harness = SchedulerHarness(
        [make_node(name="a"), make_pod(name="slow")],
        plugins={"Gatekeeper": Gatekeeper},
        config=config_with("Gatekeeper"),
    )
    harness.schedule_one()
    return harness


def test_pod_waits_until_the_permit_plugin_allows_it() -> None:
    harness = waiting_harness()
    assert harness.waiting_pods() == ["default/slow"]
    assert harness.node_of("slow") == ""
    assert harness.pod("slow").status.nominated_node_name == "a"
    [waiting] = Gatekeeper.current.handle.waiting_pods()
    waiting.allow("Gatekeeper")
    harness.advance(0.0)
    assert harness.node_of("slow") == "a"


def test_pod_that_waits_too_long_is_rejected_and_tried_again() -> None:
    harness = waiting_harness()
    harness.advance(11.0)
    assert harness.message("slow") == (
        "0/1 nodes are available: 1 rejected due to timeout after waiting 10s at "
        "plugin Gatekeeper."
    )
    assert harness.attempts == ["default/slow", "default/slow"]


def test_pod_that_can_only_time_out_does_not_keep_a_simulation_running() -> None:
    harness = waiting_harness()
    harness.settle()
    assert harness.node_of("slow") == ""
    assert "timeout after waiting 10s" in harness.message("slow")


def test_plugin_may_reject_a_waiting_pod_from_any_thread() -> None:
    harness = waiting_harness()
    [waiting] = Gatekeeper.current.handle.waiting_pods()
    thread = threading.Thread(target=waiting.reject, args=("Gatekeeper", "too late"))
    thread.start()
    thread.join()
    assert harness.waiting_pods() == ["default/slow"]
    harness.advance(0.0)
    assert "1 too late" in harness.message("slow")


def test_waiting_pod_holds_its_place() -> None:
    harness = SchedulerHarness(
        [
            make_node(name="a", capacity={"cpu": "1"}),
            make_pod(name="slow", requests={"cpu": "1"}, priority=1),
            make_pod(name="other", requests={"cpu": "1"}),
        ],
        plugins={"Gatekeeper": Gatekeeper},
        config=config_with("Gatekeeper"),
    )
    harness.schedule_one()
    harness.schedule_one()
    assert "1 Insufficient cpu" in harness.message("other")


def test_deleted_waiting_pod_leaves_no_trace() -> None:
    harness = waiting_harness()
    harness.cluster.delete(Pod, "default/slow")
    harness.cluster.create(make_pod(name="next"))
    harness.settle()
    assert harness.waiting_pods() == []
    assert harness.why_pending("slow") is None
    assert harness.node_of("next") == "a"


class FlakyBinder(Plugin):
    """Binds, but raises an error the first time."""

    failures: ClassVar[list[Exception]] = []
    binds_anyway: ClassVar[bool] = False

    @hookimpl
    def bind(self, pod: Pod, node_name: str) -> Status | None:
        self.log.append(f"bind {pod.name}")
        if self.failures:
            error = self.failures.pop()
            if self.binds_anyway:
                self.handle.cluster.bind(pod, node_name)
            return Status.from_error(error)
        self.handle.cluster.bind(pod, node_name)
        return None


def flaky(*failures: Exception, binds_anyway: bool = False) -> SchedulerHarness:
    FlakyBinder.failures = list(failures)
    FlakyBinder.binds_anyway = binds_anyway
    return SchedulerHarness(
        [make_node(name="a"), make_pod(name="p", requests={"cpu": "1"})],
        plugins={"FlakyBinder": FlakyBinder},
        config=config_with(bind=["FlakyBinder"]),
    )


def test_failed_bind_is_tried_again_after_a_backoff() -> None:
    harness = flaky(ConflictError("try again"))
    harness.schedule_one()
    pending = harness.why_pending("p")
    assert pending is not None
    assert pending.queue is QueueName.ERROR_BACKOFF
    assert harness.message("p") == 'running Bind plugin "FlakyBinder": try again'
    harness.advance(5.0)
    assert harness.node_of("p") == "a"


def test_lost_answer_of_a_bind_is_resolved_by_reading_the_pod() -> None:
    harness = flaky(UnknownOutcomeError("no answer"), binds_anyway=True)
    harness.settle()
    assert harness.node_of("p") == "a"
    assert Plugin.log == ["bind p"]
    assert harness.why_pending("p") is None


def test_lost_answer_of_a_bind_that_did_not_happen_is_a_failure() -> None:
    harness = flaky(UnknownOutcomeError("no answer"))
    harness.settle()
    assert harness.node_of("p") == "a"
    assert Plugin.log == ["bind p", "bind p"]


def test_place_of_a_pod_is_kept_while_the_outcome_of_its_bind_is_unknown(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # kubernetes/kubernetes#100140: its place was given away, and the node overcommitted
    harness = flaky(UnknownOutcomeError("no answer"), binds_anyway=True)
    answer, keys = harness.cluster.get, []

    def be_silent(kind: type[Pod], key: str) -> Pod:
        keys.append(key)
        if len(keys) <= 10:
            raise ApiError("no answer")
        return answer(kind, key)

    monkeypatch.setattr(harness.cluster, "get", be_silent)
    harness.schedule_one()
    assert harness.why_pending("p") is None
    harness.settle()
    assert len(keys) == 11
    assert Plugin.log == ["bind p"]


class PreBinder(Plugin):
    @hookimpl
    def pre_bind_pre_flight(self, pod: Pod) -> Status | None:
        return None if pod.name == "special" else Status.skip()

    @hookimpl
    def pre_bind(self, pod: Pod) -> None:
        self.log.append(f"pre-bind {pod.name}")

    @hookimpl
    def post_bind(self, pod: Pod, node_name: str) -> None:
        self.log.append(f"post-bind {pod.name} on {node_name}")


def test_pre_bind_runs_only_for_pods_that_need_it() -> None:
    harness = SchedulerHarness(
        [make_node(name="a"), make_pod(name="plain"), make_pod(name="special")],
        plugins={"PreBinder": PreBinder},
        config=config_with("PreBinder"),
    )
    harness.settle()
    assert Plugin.log == [
        "post-bind plain on a",
        "pre-bind special",
        "post-bind special on a",
    ]


class Activator(Plugin):
    """Wakes the pod 'sleeper' once 'caller' has a node."""

    @hookimpl
    def filter(self, pod: Pod, node: NodeInfo) -> Status | None:
        if pod.name == "sleeper" and not node.pods:
            return Status.unschedulable("the caller first")
        return None

    @hookimpl
    def events_to_register(self) -> Sequence[Any]:
        return ()

    @hookimpl
    def reserve(self, state: CycleState, pod: Pod, node_name: str) -> None:
        if pod.name == "caller":
            state.pods_to_activate.append("default/sleeper")


def test_plugin_may_activate_a_pod_that_no_event_would_wake() -> None:
    harness = SchedulerHarness(
        [
            make_node(name="a"),
            make_pod(name="sleeper", priority=1),
            make_pod(name="caller"),
        ],
        plugins={"Activator": Activator},
        config=config_with("Activator"),
    )
    harness.schedule_one()
    assert "the caller first" in harness.message("sleeper")
    harness.schedule_one()
    harness.schedule_one()
    assert harness.node_of("sleeper") == "a"


def test_plugin_that_raises_fails_only_its_own_pod() -> None:
    class Picky(Plugin):
        @hookimpl
        def filter(self, pod: Pod, node: NodeInfo) -> None:
            if pod.name == "bad":
                raise ZeroDivisionError("oops")

    harness = SchedulerHarness(
        [make_node(), make_pod(name="bad", priority=1), make_pod(name="good")],
        plugins={"Picky": Picky},
        config=config_with("Picky"),
    )
    harness.settle()
    assert harness.node_of("good")
    said = 'running "Picky" filter plugin: ZeroDivisionError: oops ('
    assert harness.message("bad").startswith(said)


def test_same_seed_same_placement_other_seed_other_placement() -> None:
    def nodes_of(seed: int) -> list[str]:
        objects = [make_node(name=f"n{number}") for number in range(20)]
        pods = [make_pod(name=f"p{number}") for number in range(10)]
        harness = SchedulerHarness([*objects, *pods], seed=seed)
        harness.settle()
        return [harness.node_of(pod.name) for pod in pods]

    assert nodes_of(1) == nodes_of(1)
    assert nodes_of(1) != nodes_of(2)


def test_deleted_node_is_no_longer_used() -> None:
    harness = SchedulerHarness([make_node(name="a"), make_node(name="b")])
    harness.cluster.delete(Node, "a")
    for number in range(4):
        harness.cluster.create(make_pod(name=f"p{number}"))
    harness.settle()
    assert {harness.node_of(f"p{number}") for number in range(4)} == {"b"}


class _Done:
    """Sets an event when a number of pods is bound."""

    def __init__(self, pods: int) -> None:
        self.all = threading.Event()
        self._left = pods

    def attempting(self, _pod: Pod, _framework: Framework, /) -> None:
        pass

    def recorded(self, _note: EventNote, /) -> None:
        pass

    def slow(self, _hook: SlowHook, /) -> None:
        pass

    def failed(self, _error: HookError, /) -> None:
        pass

    def bound(self, _pod: Pod, _node_name: str, /) -> None:
        self._left -= 1
        if not self._left:
            self.all.set()


def test_scheduler_runs_on_a_real_clock_with_binding_workers() -> None:
    clock, registry, done = RealClock(), PluginRegistry.discover(), _Done(20)
    cluster = InMemoryCluster(clock)
    pods = [make_pod(name=f"p{number}") for number in range(20)]
    cluster.load([make_node(name="a"), *pods])
    scheduler = Scheduler(
        cluster,
        default_config(registry),
        registry,
        clock=clock,
        make_executor=lambda post: WorkerExecutor(post, workers=4),
        observer=done,
    )
    scheduler.start()
    stop = threading.Event()
    thread = threading.Thread(target=scheduler.run, args=(stop,))
    thread.start()
    assert done.all.wait(timeout=30.0)
    stop.set()
    scheduler.wake()
    thread.join(timeout=30.0)
    assert not thread.is_alive()
    assert {pod.node_name for pod in cluster.list(Pod).items} == {"a"}
