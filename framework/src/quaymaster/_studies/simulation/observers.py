"""Observers follow one simulation from its beginning to its end."""

from collections.abc import Callable, Iterable
from contextlib import ExitStack
from functools import partial
from types import TracebackType
from typing import TYPE_CHECKING, Protocol, TypeAlias, TypeGuard

import attrs

from quaymaster._core.contract.hook_calls import HookObserver
from quaymaster._core.contract.options import SchedulerOptions
from quaymaster._studies.simulation.history import History

if TYPE_CHECKING:  # it needs this module
    from quaymaster._studies.simulation.run import Simulation

__all__ = [
    "AnyObserver",
    "HistoryObserver",
    "SimulationObserver",
    "begin_observers",
    "simulation_observers",
    "with_hook_observers",
]


class SimulationObserver(Protocol):
    """Follows a simulation; see the argument ``observers`` of `Simulation`.

    An observer changes nothing: decisions are the same with and without it. It gets
    the simulation before anything is scheduled, and subscribes there to what it needs,
    such as ``simulation.cluster.watch`` or ``simulation.cluster.clock.before_moving``.

    If it has a method ``called`` as well, it is also a `HookObserver`.
    """

    def begin(self, simulation: "Simulation", /) -> None:
        """Called once, when the cluster has its objects and nothing is scheduled yet.

        Args:
            simulation: The simulation.
        """

    def end(self, simulation: "Simulation", error: BaseException | None, /) -> None:
        """Called once, when the simulation is closed; its plugins still work.

        Args:
            simulation: The simulation.
            error: The exception that ended it, or None.
        """


AnyObserver: TypeAlias = SimulationObserver | HookObserver
"""The types that can observe a simulation."""


def with_hook_observers(
    options: SchedulerOptions | None, observers: Iterable[object]
) -> SchedulerOptions | None:
    """Return the options with those observers that follow hooks."""
    added = tuple(filter(_has_called, observers))
    if not added:
        return options
    options = options or SchedulerOptions()
    return attrs.evolve(options, hook_observers=(*options.hook_observers, *added))


def simulation_observers(
    observers: Iterable[object],
) -> tuple[SimulationObserver, ...]:
    """Return the observers that follow the simulation itself.

    Raises:
        ValueError: Something is not an observer of any kind.
    """
    following: list[SimulationObserver] = []
    for observer in observers:
        if _has_begin_and_end(observer):
            following.append(observer)
        elif not _has_called(observer):
            expected = "an object with 'begin' and 'end', or with 'called'"
            raise ValueError(f"observers: expected {expected}, got {observer!r}")
    return tuple(following)


def begin_observers(
    simulation: "Simulation",
    observers: Iterable[SimulationObserver],
    close: Callable[[], None],
) -> ExitStack:
    """Begin observers in their order.

    If one fails, those before it are ended, and ``close`` is called.

    Args:
        simulation: The simulation.
        observers: The observers.
        close: Closes the plugins.

    Returns:
        The context whose exit ends the observers, the last one first, then closes.
    """
    with ExitStack() as stack:
        # First in, last out: plugins must still work while observers end.
        stack.callback(close)
        for observer in observers:
            observer.begin(simulation)
            stack.push(partial(_end, observer, simulation))
        return stack.pop_all()


def _end(
    observer: SimulationObserver,
    simulation: "Simulation",
    _kind: type[BaseException] | None,
    error: BaseException | None,
    _trace: TracebackType | None,
) -> None:
    observer.end(simulation, error)


def _has_called(observer: object) -> TypeGuard[HookObserver]:
    return _has(observer, "called")


def _has_begin_and_end(observer: object) -> TypeGuard[SimulationObserver]:
    return _has(observer, "begin") and _has(observer, "end")


def _has(observer: object, name: str) -> bool:
    is_class = isinstance(observer, type)
    return not is_class and callable(getattr(observer, name, None))


class HistoryObserver:
    """Keeps the history of a simulation; a `SimulationObserver`.

    Attributes:
        history: The history of every pod and node; it is complete at the end.

    Raises:
        AttributeError: ``history`` is read before a simulation has begun.
    """

    history: History

    def begin(self, simulation: "Simulation", /) -> None:
        """Begin to follow the cluster."""
        self.history = History(simulation.cluster)

    def end(self, _simulation: "Simulation", _error: BaseException | None, /) -> None:
        """Read the last changes."""
        self.history.catch_up()
