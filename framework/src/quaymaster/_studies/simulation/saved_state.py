"""The state of a running simulation, saved in place and restored exactly.

An engine is a graph of Python objects that refer to each other: the cluster's store,
timers, queues, arrays, plugins. A copy of that graph would be another engine, and
callers hold references to this one. So each mutable object of the graph keeps its
identity, and only its content is saved: a shallow copy for each dict, list, set, array
and instance. API objects are immutable and are not copied.
"""

import ast
import itertools
import types
from collections.abc import Callable, Iterable
from functools import partial
from typing import Any, Final, TypeAlias

from quaymaster._base.garbage import collector_paused
from quaymaster._studies.simulation.saved_objects import LEAVES, handler_of, skip

__all__ = ["SavedState"]

_Restore: TypeAlias = Callable[[], object]

_COUNTERS: Final = frozenset({itertools.count, types.MethodWrapperType})


class SavedState:
    """The content of all mutable objects that can be reached from the roots.

    Objects that a function refers to are saved if the function is defined in one of the
    packages. Functions of other packages are callbacks of the caller, so objects that
    only they refer to are not saved. Modules, classes, threads, locks and files are not
    saved either.

    Args:
        roots: The objects to begin with.
        packages: The top-level packages whose functions are followed.

    Raises:
        TrialError: An object holds a generator, whose state cannot be saved.
    """

    def __init__(self, roots: Iterable[object], packages: Iterable[str]) -> None:
        self._packages = frozenset(packages)
        self._restores: list[_Restore] = []
        self._seen: dict[int, object] = {}
        self._counters: dict[int, object] = {}
        with collector_paused():
            self._save([*roots])

    def restore(self) -> None:
        """Give each object the content that it had when the state was saved."""
        with collector_paused():
            for restore in self._restores:
                restore()

    def __len__(self) -> int:
        """Return how many objects were visited."""
        return len(self._seen)

    def _save(self, pending: list[object]) -> None:
        seen = self._seen
        while pending:
            obj = pending.pop()
            kind = type(obj)
            if kind in LEAVES or id(obj) in seen:
                continue
            handler = handler_of(kind)
            # Identity: the function itself marks classes that need nothing. Their
            # objects are not recorded: there are many.
            if handler is skip:
                continue
            # Keeps the object alive too, so that no other one gets its id meanwhile.
            seen[id(obj)] = obj
            pending.extend(handler(self, obj))

    def on_restore(self, restore: Callable[..., object], *args: object) -> None:
        """Add a function that `restore` calls."""
        self._restores.append(partial(restore, *args))

    def follows(self, function: Callable[..., object]) -> bool:
        """Return whether a function is defined in one of the packages."""
        name = getattr(function, "__module__", None) or ""
        return name.partition(".")[0] in self._packages

    def content(self, values: Iterable[Any]) -> list[Any]:
        """Return the values, with counters replaced by copies of them.

        A counter cannot be set back in place, so each holder gets the same copy.
        """
        return [
            self._counter(value) if type(value) in _COUNTERS else value
            for value in values
        ]

    def _counter(self, value: Any) -> Any:  # noqa: ANN401 - a counter, or its method
        if type(value) is types.MethodWrapperType:
            owner = value.__self__
            if type(owner) is not itertools.count or value.__name__ != "__next__":
                return value
            return self._counter(owner).__next__
        # The original stays referenced, so that its id is not used again.
        self._seen[id(value)] = value
        if id(value) not in self._counters:
            self._counters[id(value)] = _copied(value)
        return self._counters[id(value)]


def _copied(counter: "itertools.count[int]") -> "itertools.count[int]":
    """Return a counter that continues where another one is."""
    # Its text, ``count(7)`` or ``count(7, 2)``, is the only way to read its number
    # without taking it: Python 3.14 copies and pickles no counters.
    text = repr(counter).removeprefix("count")
    start, step = ast.literal_eval(text if "," in text else f"({text}, 1)")
    return itertools.count(start, step)
