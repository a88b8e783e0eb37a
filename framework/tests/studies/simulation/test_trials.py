"""All changes in the block of a trial are undone without a trace."""

import itertools
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TypeAlias

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from quaymaster import ApiObject, Handle, Node, Pod, Status, hookimpl
from quaymaster.cluster import NotFoundError
from quaymaster.config import parse_config
from quaymaster.inmemory import RUN_SECONDS_ANNOTATION
from quaymaster.recording import RecordObserver
from quaymaster.scheduler import HookTimings, PluginRegistry
from quaymaster.simulation import (
    HistoryObserver,
    Run,
    RunObserver,
    Simulation,
    TrialError,
)
from quaymaster.testing import (
    make_deployment,
    make_node,
    make_pod,
    make_spread_constraint,
    profile_config,
)
from tests.kit.internals.simulation import content_of
from tests.kit.profiles import fewer

ZONE = "topology.kubernetes.io/zone"


def a_node(name: str, cpu: str = "4", zone: str = "a") -> Node:
    capacity = {"cpu": cpu, "memory": "8Gi", "pods": "20"}
    return make_node(name=name, capacity=capacity, labels={ZONE: zone})


def a_pod(name: str, cpu: str = "1", priority: int = 0, seconds: str = "") -> Pod:
    return make_pod(
        name=name,
        requests={"cpu": cpu},
        priority=priority,
        labels={"app": "a"},
        annotations={RUN_SECONDS_ANNOTATION: seconds} if seconds else {},
        spread=[make_spread_constraint(selector={"app": "a"})],
    )


@pytest.fixture
def simulation() -> Iterator[Simulation]:
    pods = [a_pod(f"p{number}") for number in range(6)]
    with Simulation([a_node("n"), *pods]) as simulation:
        simulation.settle()
        yield simulation


def with_plugins(*plugins: type) -> Simulation:
    registry = PluginRegistry.discover()
    for plugin in plugins:
        registry = registry.with_plugin(plugin)
    document = profile_config(enable=[plugin.__name__ for plugin in plugins])
    return Simulation(
        [a_node("n")], config=parse_config(document, registry), registry=registry
    )


# What is undone -----------------------------------------------------------------------


def test_pods_that_a_trial_has_scheduled_wait_again(simulation: Simulation) -> None:
    before = simulation.result()
    with simulation.trial():
        simulation.cluster.create(a_node("more"))
        simulation.settle()
        assert simulation.result().unscheduled == ()
    assert simulation.result() == before
    assert len(before.unscheduled) == 2


def test_objects_that_a_trial_has_deleted_are_back(simulation: Simulation) -> None:
    node = simulation.cluster.get(Node, "n")
    with simulation.trial():
        simulation.cluster.delete(Node, "n")
        simulation.run_until(600)
    assert simulation.cluster.get(Node, "n") is node


def test_time_that_has_passed_in_a_trial_has_not_passed(
    simulation: Simulation,
) -> None:
    now = simulation.now
    with simulation.trial():
        simulation.run_until(now + 3600)
    assert simulation.now == now


def test_a_trial_that_raises_is_undone_too(simulation: Simulation) -> None:
    trial = simulation.trial()
    trial.__enter__()
    simulation.cluster.delete(Pod, "default/p0")
    error = NotFoundError("there is none")
    assert not trial.__exit__(NotFoundError, error, None)
    assert simulation.cluster.get(Pod, "default/p0").node_name == "n"


def test_nested_trials_are_undone_one_by_one(simulation: Simulation) -> None:
    with simulation.trial():
        simulation.cluster.create(a_node("outer"))
        with simulation.trial():
            simulation.cluster.create(a_node("inner"))
            assert simulation.is_trial
        names = [node.name for node in simulation.cluster.list(Node).items]
        assert names == ["n", "outer"]
        assert simulation.is_trial
    assert not simulation.is_trial


def test_a_trial_may_come_before_all_else() -> None:
    with Simulation([a_node("n"), a_pod("p")]) as simulation:
        with simulation.trial():
            simulation.settle()
            assert len(simulation.result().placements) == 1
        assert simulation.result().placements == ()
        simulation.settle()
        assert len(simulation.result().placements) == 1


def test_a_run_continues_as_without_a_trial() -> None:
    with Run([a_node("n")]) as run:
        run.create(a_pod("first"))
        with run.trial():
            run.create(a_node("m"))
            assert run.observe().nodes == ("n", "m")
            run.attempt()
            assert run.peek() is None
        upcoming = run.peek()
        assert upcoming is not None
        assert (upcoming.pod.name, upcoming.names) == ("first", ["n"])
        run.create(a_node("other"))
        assert run.observe().nodes == ("n", "other")


class Counting:
    """Keeps state in all kinds of objects and rejects every third pod."""

    def __init__(self, _args: None, handle: Handle) -> None:
        self.pods: list[str] = []
        self.numbers = itertools.count(1)
        self.next_ticket = itertools.count(1).__next__
        self.draws = np.random.default_rng(0)
        self.totals = np.zeros(2)
        self.random = handle.random

    @hookimpl
    def pre_filter(self, pod: Pod) -> Status | None:
        self.pods.append(pod.name)
        self.totals[0] += self.draws.random() + self.random.random()
        self.next_ticket()
        return Status.unresolvable("third") if not next(self.numbers) % 3 else None

    def state(self) -> object:
        """Return the state; it draws, so the plugin is of no use afterwards."""
        numbers = (next(self.numbers), self.next_ticket(), self.draws.random())
        return self.pods[:], self.totals.tolist(), numbers, self.random.random()


def counted(*, trial: bool) -> object:
    with with_plugins(Counting) as simulation:
        for number in range(4):
            simulation.cluster.create(a_pod(f"p{number}"))
        simulation.settle()
        if trial:
            with simulation.trial():
                simulation.cluster.create(a_pod("tried"))
                simulation.settle()
        [framework] = simulation.scheduler.frameworks.values()
        plugin = framework.profile.plugins["Counting"]
        assert isinstance(plugin, Counting)
        return plugin.state()


def test_the_state_of_plugins_is_undone() -> None:
    assert counted(trial=True) == counted(trial=False)


# What observers see -------------------------------------------------------------------


@pytest.mark.long
def test_observers_see_nothing_of_a_trial(tmp_path: Path) -> None:
    def seen(name: str, *, trial: bool) -> Sequence[object]:
        hooks, run, history = HookTimings(), RunObserver(), HistoryObserver()
        record = RecordObserver(tmp_path / name)
        with Simulation(
            [a_node("n"), a_pod("p")], observers=[hooks, run, history, record]
        ) as simulation:
            if trial:
                with simulation.trial():
                    simulation.cluster.create(a_pod("q"))
                    simulation.cluster.create(a_node("m"))
                    simulation.settle()
            simulation.settle()
        assert run.run is not None
        return (
            hooks.calls,
            run.run.samples,
            run.run.attempts,
            [life.pod.key for life in history.history.pods],
            (tmp_path / name).read_text(),
        )

    assert seen("with", trial=True) == seen("without", trial=False)


# What a trial does not allow ----------------------------------------------------------


@pytest.mark.parametrize(
    "call",
    [Simulation.close, lambda simulation: simulation.use_config(simulation.config)],
    ids=["close", "use_config"],
)
def test_plugins_cannot_be_closed_in_a_trial(
    simulation: Simulation, call: Callable[[Simulation], None]
) -> None:
    with (
        simulation.trial(),
        pytest.raises(TrialError, match="not possible while a trial is open"),
    ):
        call(simulation)


class Drawing:
    """Holds a generator, whose state cannot be saved."""

    def __init__(self, _args: None, _handle: Handle) -> None:
        self.names = (f"name-{number}" for number in itertools.count())

    @hookimpl
    def pre_filter(self, pod: Pod) -> Status | None:
        next(self.names)
        return None


def test_a_plugin_with_a_running_generator_prevents_trials() -> None:
    with with_plugins(Drawing) as simulation:
        trial = simulation.trial()
        with pytest.raises(TrialError, match=r"generator 'Drawing\.__init__"):
            trial.__enter__()


# Any trial at any moment --------------------------------------------------------------

Step: TypeAlias = Callable[[Simulation], None]
NAMES = [f"x{number}" for number in range(4)]


def creating(obj: ApiObject) -> Step:
    def step(simulation: Simulation) -> None:
        kinds = simulation.cluster.list(type(obj)).items
        if obj.name not in [each.name for each in kinds]:
            simulation.cluster.create(obj)

    return step


def deleting(kind: type[ApiObject], number: int) -> Step:
    def step(simulation: Simulation) -> None:
        objects = simulation.cluster.list(kind).items
        if objects:
            obj = objects[number % len(objects)]
            simulation.cluster.delete(kind, obj.key)

    return step


def cordoning(number: int) -> Step:
    def step(simulation: Simulation) -> None:
        nodes = simulation.cluster.list(Node).items
        if nodes:
            node = nodes[number % len(nodes)]
            spec = replace(node.spec, unschedulable=not node.spec.unschedulable)
            simulation.cluster.update(replace(node, spec=spec))

    return step


def running(seconds: float) -> Step:
    return lambda simulation: simulation.run_until(simulation.now + seconds)


names = st.sampled_from(NAMES)
cpus = st.sampled_from(["500m", "1", "3"])
steps: st.SearchStrategy[Step] = st.one_of(
    st.builds(
        a_pod,
        names,
        cpus,
        st.sampled_from([0, 100]),
        st.sampled_from(["", "5", "90"]),
    ).map(creating),
    st.builds(a_node, names, st.sampled_from(["2", "4"]), st.sampled_from("ab")).map(
        creating
    ),
    st.builds(
        lambda name, count: make_deployment(
            name=name, replicas=count, pod=a_pod(name, "700m")
        ),
        names,
        st.integers(0, 3),
    ).map(creating),
    st.builds(deleting, st.sampled_from([Pod, Node]), st.integers(0, 9)),
    st.builds(cordoning, st.integers(0, 9)),
    st.sampled_from([0.0, 1.0, 7.0, 400.0]).map(running),
    st.just(Simulation.settle),
)


def view_of(simulation: Simulation) -> Sequence[object]:
    """Return the comparable state that decides on the next steps."""
    cluster, scheduler = simulation.cluster, simulation.scheduler
    return (
        simulation.now,
        cluster.resource_version,
        cluster.list(Node).items,
        cluster.list(Pod).items,
        cluster.events(),
        [(queued.pod, queued.attempts, queued.timestamp) for queued in scheduler.queue],
        scheduler.queue.lengths(),
        scheduler.past_attempts.last(),
        simulation.result(),
    )


@pytest.mark.long
@fewer(5)
@given(
    before=st.lists(steps, max_size=5),
    tried=st.lists(steps, min_size=1, max_size=5),
    after=st.lists(steps, max_size=5),
)
def test_state_queue_and_next_decisions_are_those_without_the_trial(
    before: Sequence[Step], tried: Sequence[Step], after: Sequence[Step]
) -> None:
    objects = [a_node("n"), a_node("m", zone="b"), a_pod("p"), a_pod("q", cpu="5")]
    with Simulation(objects) as simulation, Simulation(objects) as twin:
        for step in before:
            step(simulation)
            step(twin)
        simulation.start()
        content = content_of(simulation)
        with simulation.trial():
            for step in tried:
                step(simulation)
            simulation.settle()
        assert content_of(simulation) == content
        for step in (*after, Simulation.settle):
            step(simulation)
            step(twin)
        assert view_of(simulation) == view_of(twin)
