"""Observers get every hook call and change no decision."""

import importlib
import linecache
import logging
import threading
from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from types import FunctionType
from typing import ClassVar

import numpy as np
import pytest

from quaymaster import (
    ApiObject,
    Handle,
    Int64Array,
    NodeInfo,
    NodeTable,
    NodeVerdicts,
    Pod,
    Rows,
    Scope,
    Status,
    hookimpl,
)
from quaymaster.config import default_config
from quaymaster.errors import ObserverError
from quaymaster.inmemory import InMemoryCluster
from quaymaster.scheduler import (
    HookCall,
    HookObserver,
    PluginRegistry,
    RealClock,
    Scheduler,
    SchedulerOptions,
    WorkerExecutor,
)
from quaymaster.testing import SchedulerHarness, make_node, make_pod, profile_config
from tests.kit.engine import scheduler_of
from tests.kit.packages import MakeDistribution

TICK = 1 / 1024


class Plugin:
    def __init__(self, args: object, handle: Handle) -> None:
        pass


class Odd(Plugin):
    """Rejects node b by a scalar hook and a twin; its answers are cached."""

    scope = Scope.NODE

    @hookimpl
    def sign_pod(self) -> tuple[()]:
        return ()

    @hookimpl
    def filter(self, node: NodeInfo) -> Status | None:
        return Status.unschedulable("is b") if node.name == "b" else None

    @hookimpl
    def filter_nodes(self, nodes: NodeTable, rows: Rows) -> NodeVerdicts:
        codes = np.array([name == "b" for name in nodes.names_at(rows)])
        return NodeVerdicts(codes, lambda _code: Status.unschedulable("is b"))


class OddOneByOne(Plugin):
    """The same without a twin or cached answers."""

    @hookimpl
    def filter(self, node: NodeInfo) -> Status | None:
        return Status.unschedulable("is b") if node.name == "b" else None


class Failing(Plugin):
    @hookimpl
    def pre_filter(self, pod: Pod) -> None:
        raise ValueError(pod.name)


class Seen:
    """Records the calls that it gets."""

    def __init__(self) -> None:
        self.calls: list[HookCall] = []
        self.names: list[Sequence[str]] = []

    def called(self, call: HookCall, /) -> None:
        self.calls.append(call)
        self.names.append(call.node_names())

    def of(self, plugin: str) -> list[str]:
        return [call.hook for call in self.calls if call.plugin == plugin]


class Broken:
    """Fails on every call that it gets."""

    def called(self, call: HookCall, /) -> None:
        raise RuntimeError(f"cannot note {call.hook}")


class Ticking:
    """A stopwatch that advances by a tick on each reading."""

    def __init__(self) -> None:
        self.seconds = 0.0

    def __call__(self) -> float:
        self.seconds += TICK
        return self.seconds


def harness_with(
    plugins: Mapping[str, type],
    *observers: HookObserver,
    objects: Iterable[ApiObject] = (),
) -> SchedulerHarness:
    nodes = [make_node(name=name) for name in "abc"]
    return SchedulerHarness(
        [*nodes, *objects],
        plugins=plugins,
        config=profile_config(enable=list(plugins)),
        options=SchedulerOptions(hook_observers=observers),
        stopwatch=Ticking(),
    )


# Observed calls


def test_a_hook_for_one_node_is_observed_with_pod_node_and_answer() -> None:
    seen = Seen()
    harness = harness_with({"Odd": OddOneByOne}, seen, objects=[make_pod(name="p")])
    harness.settle()
    calls = [call for call in seen.calls if call.plugin == "Odd"]
    assert [(call.hook, call.node) for call in calls] == [
        ("filter", "a"),
        ("filter", "b"),
        ("filter", "c"),
    ]
    assert [call.answer for call in calls] == [None, Status.unschedulable("is b"), None]
    assert {call.pod.key for call in calls if call.pod} == {"default/p"}
    # The time limit of hooks reads the same stopwatch twice.
    assert [call.seconds for call in calls] == [3 * TICK] * 3


def test_a_hook_for_many_nodes_is_observed_with_their_rows() -> None:
    seen = Seen()
    harness_with({"Odd": Odd}, seen, objects=[make_pod(name="p")]).settle()
    calls = [
        (call.hook, call.node, list(names))
        for call, names in zip(seen.calls, seen.names, strict=True)
        if call.plugin == "Odd"
    ]
    assert calls == [("sign_pod", "", []), ("filter_nodes", "", ["a", "b", "c"])]


def test_hooks_of_queueing_and_binding_are_observed() -> None:
    seen = Seen()
    harness_with({}, seen, objects=[make_pod(name="p")]).settle()
    assert seen.of("PrioritySort") == ["queue_sort"]
    assert seen.of("SchedulingGates") == ["events_to_register", "pre_enqueue"]
    [bind] = [call for call in seen.calls if call.hook == "bind"]
    assert (bind.plugin, bind.answer) == ("DefaultBinder", None)
    assert bind.node in ("a", "b", "c")


def test_a_failed_hook_is_observed_with_the_error_as_its_answer() -> None:
    seen = Seen()
    harness_with({"Failing": Failing}, seen, objects=[make_pod(name="p")]).settle()
    failed = [call for call in seen.calls if call.plugin == "Failing"]
    assert failed
    for call in failed:
        assert isinstance(call.answer, Status)
        assert isinstance(call.answer.error, ValueError)


def test_start_and_close_are_observed_without_a_pod() -> None:
    class Living(Plugin):
        @hookimpl
        def start(self) -> None:
            pass

        @hookimpl
        def close(self) -> None:
            pass

    class LivingFilter(Living):
        @hookimpl
        def filter(self) -> None:
            pass

    seen = Seen()
    harness_with({"Living": LivingFilter}, seen).close()
    calls = [(call.hook, call.pod) for call in seen.calls if call.plugin == "Living"]
    assert calls == [("start", None), ("close", None)]


# Unchanged behaviour


def test_twins_are_called_and_answers_cached_as_without_an_observer() -> None:
    seen = Seen()
    pods = [make_pod(name=f"p{number}") for number in range(4)]
    harness = harness_with({"Odd": Odd}, seen, objects=pods)
    harness.settle()
    assert seen.of("Odd").count("filter_nodes") == 1
    moved = {harness.node_of(pod.name) for pod in pods}
    # Only rows that moved are filtered again; pods of a spec are signed once.
    assert seen.of("Odd").count("filter") == 3
    assert seen.of("Odd").count("sign_pod") == 1
    assert moved <= {"a", "c"}


def test_decisions_are_those_without_an_observer() -> None:
    def placed(*observers: HookObserver) -> list[str]:
        pods = [make_pod(name=f"p{number}") for number in range(9)]
        harness = harness_with({"Odd": Odd}, *observers, objects=pods)
        harness.settle()
        return [harness.node_of(pod.name) for pod in pods]

    assert placed(Seen(), Broken()) == placed()


def source_of(hook: FunctionType) -> str:
    """Return the generated code of a compiled hook."""
    return "".join(linecache.getlines(hook.__code__.co_filename))


def test_without_an_observer_hooks_are_compiled_without_observer_code() -> None:
    plain, observed = (
        filter_of(harness_with({"Odd": OddOneByOne}, *observers))
        for observers in ((), (Seen(),))
    )
    assert source_of(plain) == GUARD_WITHOUT_OBSERVER
    assert "def observed(" in source_of(observed)
    assert source_of(vars(observed)["__wrapped__"]) == GUARD_WITHOUT_OBSERVER


def filter_of(harness: SchedulerHarness) -> FunctionType:
    profile = scheduler_of(harness).frameworks["default-scheduler"].profile
    [call] = [step for step in profile.plan("filter") if step.plugin == "Odd"]
    hook = call.hooks["filter"]
    assert isinstance(hook, FunctionType)
    return hook


GUARD_WITHOUT_OBSERVER = """
def make(function, plugin, hook, failed, checked, now, limit, slow):
    def guarded(state, pod, node):
        start = now()
        try:
            answer = function(node)
            if answer is None or answer is SKIP:
                return answer
            return checked(plugin, hook, answer)
        except BaseException as error:
            failure = failed(pod.key, error)
            if failure is None:
                raise
            return failure
        finally:
            seconds = now() - start
            if seconds > limit:
                slow(plugin, hook, pod.key, seconds)
    def raw(state, pod, node):
        return function(node)
    guarded.__wrapped__ = raw
    return guarded
"""
"""The code around a filter that takes the node alone, as it is with a time limit."""


# Observers that fail


def test_an_observer_that_fails_is_logged_once_and_changes_nothing(
    caplog: pytest.LogCaptureFixture,
) -> None:
    seen = Seen()
    pods = [make_pod(name=name) for name in "pq"]
    harness = harness_with({"Odd": Odd}, Broken(), seen, objects=pods)
    harness.schedule_one()
    assert harness.node_of("p") in ("a", "c")
    assert seen.of("Odd")
    [first] = caplog.records
    assert first.levelno == logging.ERROR
    hook = "events_to_register"  # the first to be called
    text = f"observer Broken failed at {hook} of plugin 'SchedulingGates': "
    assert first.getMessage().startswith(f"{text}RuntimeError: cannot note {hook}")
    assert first.exc_info is not None


@pytest.mark.parametrize(
    ("given", "found"),
    [
        ([Seen], "objects with a method 'called', got <class "),
        (["seen"], "objects with a method 'called', got 'seen'"),
        (5, "a list of observers, got 5"),
    ],
    ids=["a class", "a text", "a number"],
)
def test_an_object_that_is_not_an_observer_is_rejected(
    given: object, found: str
) -> None:
    with pytest.raises(
        ValueError, match=r"SchedulerOptions\.hook_observers: expected"
    ) as caught:
        SchedulerOptions(hook_observers=given)  # type: ignore[arg-type]  # that is the test
    assert found in str(caught.value)


# Threads


def test_hooks_on_workers_are_observed_on_the_schedulers_thread() -> None:
    class Threads:
        calls: ClassVar[list[tuple[str, int]]] = []

        def called(self, call: HookCall, /) -> None:
            self.calls.append((call.hook, threading.get_ident()))
            if call.hook == "bind":
                stop.set()
                scheduler.wake()

    stop = threading.Event()
    registry = PluginRegistry.discover()
    clock = RealClock()
    cluster = InMemoryCluster(clock)
    cluster.load([make_node(name="a"), make_pod(name="p")])
    scheduler = Scheduler(
        cluster,
        default_config(registry),
        registry,
        clock=clock,
        make_executor=lambda post: WorkerExecutor(post, workers=1),
        options=SchedulerOptions(hook_observers=[Threads()]),
    )
    scheduler.start()
    scheduler.run(stop)
    assert "bind" in dict(Threads.calls)
    assert {thread for _, thread in Threads.calls} == {threading.get_ident()}


# Wrappers


class AroundFilters(Plugin):
    """Wraps the twins of others and has no filter itself."""

    seen: ClassVar[list[int]] = []

    @hookimpl(wrapper=True)
    def filter_nodes(
        self, nodes: NodeTable, rows: Rows
    ) -> Generator[None, object, object]:
        answer = yield
        self.seen.append(nodes.count(rows))
        return answer


class AroundScores(Plugin):
    """The same for scores."""

    seen: ClassVar[list[int]] = []

    @hookimpl(wrapper=True)
    def score_nodes(
        self, nodes: NodeTable, rows: Rows
    ) -> Generator[None, object, object]:
        answer = yield
        self.seen.append(nodes.count(rows))
        return answer


class Scored(Odd):
    """Scores all nodes alike, by a scalar hook and a twin."""

    @hookimpl
    def score(self) -> int:
        return 5

    @hookimpl
    def score_nodes(self, nodes: NodeTable, rows: Rows) -> Int64Array:
        return np.full(nodes.count(rows), 5)


@pytest.mark.parametrize("wrapper", [AroundFilters, AroundScores])
def test_a_wrapper_around_a_twin_alone_leaves_twin_and_cache_on(
    wrapper: type[AroundFilters | AroundScores],
) -> None:
    wrapper.seen.clear()
    seen, alone = Seen(), Seen()
    pods = [make_pod(name=f"p{number}") for number in range(4)]
    wrapped = {"Around": wrapper, "Scored": Scored}
    harness_with(wrapped, seen, objects=pods).settle()
    harness_with({"Scored": Scored}, alone, objects=pods).settle()
    assert wrapper.seen
    assert seen.of("Scored") == alone.of("Scored")
    assert seen.of("Scored").count("filter_nodes") == 1


# Reloads


def test_an_observer_sees_the_plugins_of_a_new_configuration() -> None:
    seen = Seen()
    harness = harness_with({"Odd": Odd}, seen)
    harness.reload(harness.config)
    harness.cluster.create(make_pod(name="p"))
    harness.settle()
    assert seen.of("Odd").count("filter_nodes") == 1


# Entry points


COUNTING = """
class Counter:
    made = []
    def __init__(self):
        self.calls = 0
        self.made.append(self)
    def called(self, call):
        self.calls += 1
"""


@pytest.fixture
def install_counter(make_distribution: MakeDistribution) -> Callable[[str], None]:
    def make(code: str) -> None:
        make_distribution(
            "acme-counter",
            {"Counter": "acme_counter:Counter"},
            group="quaymaster.observers",
            version="2.0",
            module="acme_counter",
            code=code,
        )

    return make


@pytest.mark.long
def test_an_installed_observer_is_created_once_for_each_scheduler(
    install_counter: Callable[[str], None],
) -> None:
    install_counter(COUNTING)
    for _ in range(2):
        harness_with({"Odd": Odd}, objects=[make_pod(name="p")]).settle()
    first, other = importlib.import_module("acme_counter").Counter.made
    assert first.calls == other.calls > 0


@pytest.mark.parametrize(
    ("code", "problem"),
    [
        ("import no_such_module", "could not be built: ModuleNotFoundError: "),
        (
            "def Counter():\n    raise OSError('no disk')",
            "could not be built: OSError: no disk (",
        ),
        (
            "def Counter():\n    return 5",
            "expected an object with a method 'called', got 5",
        ),
    ],
    ids=["a module that fails", "a constructor that fails", "no observer"],
)
def test_an_installed_observer_that_cannot_be_used_is_named(
    install_counter: Callable[[str], None], code: str, problem: str
) -> None:
    install_counter(code)
    with pytest.raises(ObserverError) as caught:
        harness_with({})
    where = "observer 'Counter' (acme-counter 2.0), entry point 'acme_counter:Counter'"
    assert str(caught.value).startswith(f"{where}: {problem}")
