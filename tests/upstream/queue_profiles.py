"""The plugins of a recorded queue: their gates, and their queueing hints."""

from collections.abc import Callable, Mapping, Sequence
from typing import Final, cast

from quaymaster import (
    ApiObject,
    ClusterEventWithHint,
    Handle,
    Pod,
    QueueingHint,
    Status,
)
from quaymaster.hookspecs import QueueingHintFn
from quaymaster_priority_sort import PrioritySort
from quaymaster_scheduling_gates import SchedulingGates
from tests.kit.internals.queue import QueueProfile
from tests.kit.internals.testing import Json
from tests.upstream.events import event_from

__all__ = ["make_profiles", "pre_check_of", "rejectors_of"]

_NO_HANDLE: Final = cast(Handle, None)  # neither plugin uses the handle

_FOO: Final = "Test_isPodWorthRequeuing/"
_TWO: Final = (("fooPlugin1", "fooPlugin2"), ())
_REJECTORS: Final[Mapping[str, tuple[Sequence[str], Sequence[str]]]] = {
    f"{_FOO}interprets_Queue_from_the_Pending": (
        ("fooPlugin1", "fooPlugin3"),
        ("fooPlugin2",),
    ),
    f"{_FOO}interprets_Queue_from_the_Unschedulable": _TWO,
    f"{_FOO}Queueing_hint_function_that_isn't_from": _TWO,
    f"{_FOO}If_event_is_specific_Node_update": _TWO,
    _FOO: (("fooPlugin1",), ()),
}
"""Start of a test's name -> what rejected its pod, and what is pending: the record has
no fields of a pod in the queue that is an argument (scheduling_queue_test.go)."""

_CHECKS: Final[Mapping[str, Callable[[int], bool]]] = {
    "move_Pods_with_priority_greater_than_2": lambda priority: priority >= 2,
    "move_Pods_with_even_priority_and": lambda priority: (
        priority % 2 == 0 and priority >= 2
    ),
    "move_Pods_with_even_and_negative": lambda priority: (
        priority % 2 == 0 and priority < 0
    ),
}
"""Start of a test's name -> its check of priorities, which is not in the record either
(TestMoveAllToActiveOrBackoffQueue_PreEnqueueChecks)."""


def rejectors_of(test: str) -> tuple[Sequence[str], Sequence[str]] | None:
    """Return the plugins that rejected a test's pod, and those that are pending."""
    for start, plugins in _REJECTORS.items():
        if test.startswith(start):
            return plugins
    return None


def pre_check_of(test: str) -> Callable[[Pod], bool] | None:
    """Return the check that a test gives with an event, if any."""
    for start, is_accepted in _CHECKS.items():
        if test.rpartition("/")[2].startswith(start):
            return lambda pod: is_accepted(pod.priority)
    return None


def make_profiles(state: Json, gates: Mapping[str, Json]) -> dict[str, QueueProfile]:
    """Return the profiles of a recorded state, by scheduler name.

    Args:
        state: The state.
        gates: Scheduler name -> the PreEnqueue plugins. They are read at each call,
            because tests change them.
    """
    hints: Json = state.get("hints") or {}
    return {
        name: QueueProfile(
            sort_key=PrioritySort(None, _NO_HANDLE).queue_sort,
            pre_enqueue=[
                (_gate_name(plugin, tree), _gate(gates, name, plugin))
                for plugin, tree in gates.get(name, {}).items()
            ],
            events=_events(hints.get(name, ())),
        )
        for name in {"", *gates, *hints}
    }


def _gate_name(plugin: str, tree: Json) -> str:
    """Return the name that a plugin of the tests has, wherever it is registered."""
    if "allowlists" in tree or "name" in tree:
        return tree["name"] or "preEnqueuePlugin"
    return plugin


def _gate(
    gates: Mapping[str, Json], profile: str, plugin: str
) -> Callable[[Pod], Status | None]:
    if plugin == SchedulingGates.__name__:
        return SchedulingGates(None, _NO_HANDLE).pre_enqueue

    def gate(pod: Pod) -> Status | None:
        tree = gates[profile][plugin]
        if "denylists" in tree:
            is_allowed = not any(label in pod.labels for label in tree["denylists"])
        else:
            allowed = tree.get("allowlists") or ()
            is_allowed = any(label in pod.labels for label in allowed)
        return None if is_allowed else Status.unresolvable("by its labels")

    return gate


def _events(trees: Sequence[Json]) -> dict[str, Sequence[ClusterEventWithHint]]:
    events: dict[str, list[ClusterEventWithHint]] = {}
    for tree in trees:
        event = {"Resource": tree["resource"], "ActionType": tree["actions"]}
        registered = ClusterEventWithHint(event_from(event), _hint(tree.get("hint")))
        events.setdefault(tree["plugin"], []).append(registered)
    return dict(events)


def _hint(name: str | None) -> QueueingHintFn | None:
    """Return the hint behind a name of Go's compiler for a function without a name.

    The first of upstream's test file returns Queue, the second Skip, and the others
    fail.
    """
    if name is None:
        return None

    def hint(_pod: Pod, _old: ApiObject | None, _new: ApiObject | None) -> QueueingHint:
        if name not in ("func1", "func2"):
            raise AssertionError("a hint that returns an error")
        return QueueingHint.QUEUE if name == "func1" else QueueingHint.SKIP

    return hint
