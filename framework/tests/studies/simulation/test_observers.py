"""Several observers of one simulation."""

from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from quaymaster import CycleState, NodeInfo, Pod, Status, hookimpl
from quaymaster.config import default_config
from quaymaster.errors import QuaymasterError
from quaymaster.inmemory import InMemoryCluster
from quaymaster.planning import (
    RoomObserver,
    capacity,
    measure_room,
    parse_node_group,
    plan,
    what_if,
)
from quaymaster.recording import RecordError, RecordObserver, record_simulation
from quaymaster.scheduler import HookTimings, PluginRegistry, VirtualClock
from quaymaster.simulation import (
    HistoryObserver,
    Run,
    RunObserver,
    Simulation,
    explain_pending,
    explain_pod,
    observe,
    simulate,
    suggest_changes,
)
from quaymaster.testing import make_node, make_pod

OBJECTS = [
    make_node(name="n", capacity={"cpu": "4", "memory": "8Gi", "pods": "10"}),
    *(make_pod(name=f"p{number}", requests={"cpu": "1"}) for number in range(6)),
]


def binds(timings: HookTimings) -> int:
    return sum(hook.calls for hook in timings.hooks() if hook.hook == "bind")


class Noting:
    """Records its calls."""

    def __init__(self, name: str, notes: list[str]) -> None:
        self._name = name
        self._notes = notes

    def begin(self, simulation: Simulation, /) -> None:
        placed = sum(map(bool, simulation.result().placements))
        self._notes.append(f"{self._name} begins, {placed} placed")

    def end(self, simulation: Simulation, error: BaseException | None, /) -> None:
        placed = len(simulation.result().placements)
        reason = type(error).__name__ if error else "no error"
        self._notes.append(f"{self._name} ends, {placed} placed, {reason}")


class Failing:
    """Fails in ``begin``."""

    def begin(self, _simulation: Simulation, /) -> None:
        raise QuaymasterError("out of order")

    def end(self, _simulation: Simulation, _error: BaseException | None, /) -> None:
        raise AssertionError("it has not begun")


# One simulation -----------------------------------------------------------------------


def test_all_observers_follow_the_same_simulation(tmp_path: Path) -> None:
    timings, run, room = HookTimings(), RunObserver("mine"), RoomObserver()
    history, record = HistoryObserver(), RecordObserver(tmp_path / "record.jsonl")
    result = simulate(OBJECTS, observers=[timings, run, room, history, record])
    assert len(result.placements) == binds(timings) == history.history.placed == 4
    assert run.run is not None
    assert room.room is not None
    assert (run.run.name, run.run.result) == ("mine", result)
    assert room.room.total.resources["cpu"].free == 0
    assert (tmp_path / "record.jsonl").read_text().count('"default/p3"') > 0


def test_observers_see_what_the_functions_return(tmp_path: Path) -> None:
    seen, room = RunObserver(), RoomObserver()
    simulate(OBJECTS, observers=[seen, room, RecordObserver(tmp_path / "a")])
    expected = observe(OBJECTS)
    assert seen.run is not None
    assert seen.run.result == expected.result
    assert seen.run.samples == expected.samples
    assert seen.run.attempts == expected.attempts
    assert room.room == capacity(OBJECTS).room
    record_simulation(OBJECTS, tmp_path / "b")
    assert (tmp_path / "a").read_text() == (tmp_path / "b").read_text()


def test_hooks_that_other_observers_call_are_not_reported() -> None:
    alone, beside = HookTimings(), HookTimings()
    simulate(OBJECTS, observers=[alone])
    simulate(OBJECTS, observers=[beside, RunObserver(), RoomObserver()])
    assert calls_of(alone) == calls_of(beside)


def calls_of(timings: HookTimings) -> Mapping[tuple[str, str], int]:
    return {(hook.plugin, hook.hook): hook.calls for hook in timings.hooks()}


def test_hooks_that_are_called_to_measure_room_are_not_reported() -> None:
    timings = HookTimings()
    with Simulation(OBJECTS, observers=[timings]) as simulation:
        simulation.settle()
        calls = timings.calls
        measure_room(simulation, fragmentation=True)
        assert timings.calls == calls > 0


# From the beginning to the end --------------------------------------------------------


def test_observers_begin_in_their_order_and_end_in_reverse() -> None:
    notes: list[str] = []
    simulate(OBJECTS, observers=[Noting("a", notes), Noting("b", notes)])
    assert notes == [
        "a begins, 0 placed",
        "b begins, 0 placed",
        "b ends, 4 placed, no error",
        "a ends, 4 placed, no error",
    ]


def test_observers_end_with_the_error_that_ends_the_simulation() -> None:
    notes: list[str] = []
    with (
        pytest.raises(ZeroDivisionError),
        Simulation(OBJECTS, observers=[Noting("a", notes)]),
    ):
        1 / 0  # noqa: B018 - it raises
    assert notes[-1] == "a ends, 0 placed, ZeroDivisionError"


def test_an_observer_that_fails_in_begin_ends_the_earlier_ones() -> None:
    notes: list[str] = []
    with pytest.raises(QuaymasterError, match="out of order"):
        simulate(
            OBJECTS,
            observers=[Noting("a", notes), Failing(), Noting("b", notes)],
        )
    assert notes == ["a begins, 0 placed", "a ends, 0 placed, QuaymasterError"]


def test_a_record_is_removed_if_the_simulation_fails(tmp_path: Path) -> None:
    file = tmp_path / "record.jsonl"
    simulation = Simulation(OBJECTS, observers=[RecordObserver(file)])
    simulation.settle()
    assert file.exists()
    simulation.__exit__(OSError, OSError("out of order"), None)
    assert not file.exists()


def test_an_existing_record_is_kept(tmp_path: Path) -> None:
    file = tmp_path / "record.jsonl"
    file.write_text("something")
    with pytest.raises(RecordError, match="expected a new file"):
        simulate(OBJECTS, observers=[RecordObserver(file)])
    assert file.read_text() == "something"


@pytest.mark.parametrize(
    "wrong", [object(), Noting, None], ids=["object", "class", "none"]
)
def test_an_object_that_is_not_an_observer_is_rejected(wrong: object) -> None:
    message = "observers: expected an object with 'begin' and 'end', or with 'called'"
    with pytest.raises(ValueError, match=message):
        simulate(OBJECTS, observers=[wrong])  # type: ignore[list-item]  # as tested


# Without a configuration --------------------------------------------------------------


def test_a_node_and_a_pod_are_enough() -> None:
    [placement] = simulate([make_node(name="n"), make_pod(name="p")]).placements
    assert (placement.pod, placement.node) == ("default/p", "n")


def test_the_default_is_the_default_profile_of_the_installed_plugins() -> None:
    registry = PluginRegistry.discover()
    assert Simulation().config == default_config(registry) == default_config()
    replaced = registry.with_plugin(Accepting, "NodeResourcesFit")
    assert Simulation(registry=replaced).registry is replaced


class Accepting:
    """Replaces a plugin and rejects no pod."""

    def __init__(self, _args: None, _handle: object) -> None: ...

    @hookimpl
    def filter(self, state: CycleState, pod: Pod, node: NodeInfo) -> Status | None:
        return None


CALLS: dict[str, Callable[[], object]] = {
    "observe": lambda: observe(OBJECTS),
    "capacity": lambda: capacity(OBJECTS),
    "explain_pod": lambda: explain_pod("p0", OBJECTS),
    "explain_pending": lambda: explain_pending(OBJECTS),
    "suggest_changes": lambda: suggest_changes("p5", OBJECTS, max_trials=1),
    "plan": lambda: plan(OBJECTS, groups=[parse_node_group("cpu=4,memory=8Gi")]),
    "what_if": lambda: what_if(OBJECTS, []),
    "Run": lambda: Run(OBJECTS).attempt(),
}


@pytest.mark.parametrize("name", CALLS)
def test_every_call_has_the_same_defaults(name: str) -> None:
    assert CALLS[name]() is not None


def test_a_simulation_accepts_a_cluster_too() -> None:
    cluster = InMemoryCluster(VirtualClock())
    cluster.load(OBJECTS)
    for simulation in (Simulation(cluster), Simulation(cluster=cluster)):
        assert simulation.cluster is cluster
    assert len(cluster.list(Pod).items) == 6
