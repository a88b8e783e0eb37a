"""The plugins of a trace, as the queue uses them."""

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import cast

from quaymaster import (
    ActionType,
    ApiObject,
    ClusterEvent,
    ClusterEventWithHint,
    EventResource,
    Handle,
    Pod,
    QueueingHint,
    Status,
)
from quaymaster.hookspecs import QueueingHintFn
from quaymaster_priority_sort import PrioritySort
from quaymaster_scheduling_gates import SchedulingGates
from tests.kit.internals.queue import QueueProfile
from tests.queue.cases import Json

__all__ = ["RESOURCES", "HintError", "action_of", "make_profile"]

RESOURCES: Mapping[str, EventResource] = {
    resource.value.rpartition("/")[2]: resource for resource in EventResource
}

_ACTIONS = {action.label: action for action in ActionType.__members__.values()}

_NO_HANDLE = cast(Handle, None)  # neither plugin uses the handle

Gate = Callable[[Pod], Status | None]
Events = Sequence[ClusterEventWithHint]


class HintError(Exception):
    """A queueing hint fails, as the trace requires."""


def make_profile(
    plugins: Sequence[Json], blocked: Mapping[str, Collection[str]]
) -> QueueProfile:
    """Build the profile of a trace.

    Args:
        plugins: The plugins of its configuration.
        blocked: Plugin -> names of the pods that its external gate blocks now.
    """
    events: dict[str, Events | None] = {}
    gates: list[tuple[str, Gate]] = []
    for plugin in plugins:
        name = plugin["name"]
        kind = plugin.get("preEnqueue")
        if kind == "SchedulingGates":
            real = SchedulingGates(None, _NO_HANDLE)
            events[name] = real.events_to_register()
            gates.append((name, real.pre_enqueue))
            continue
        events[name] = _events(name, plugin["events"])
        if kind == "annotation":
            gates.append((name, _annotation_gate(name)))
        elif kind == "external":
            gates.append((name, _external_gate(name, blocked)))
    return QueueProfile(
        sort_key=PrioritySort(None, _NO_HANDLE).queue_sort,
        pre_enqueue=gates,
        events=events,
    )


def action_of(name: str) -> ActionType:
    """Return an action by upstream's name."""
    return _ACTIONS[name]


def _events(plugin: str, registered: Sequence[Json] | None) -> Events | None:
    if registered is None:
        return None
    return [_event(plugin, item) for item in registered]


def _event(plugin: str, item: Json) -> ClusterEventWithHint:
    action = ActionType(0)
    for name in item["actions"]:
        action |= action_of(name)
    hint = None
    if item["hint"] == "annotation":
        hint = _annotation_hint(plugin, item["default"])
    return ClusterEventWithHint(ClusterEvent(RESOURCES[item["resource"]], action), hint)


def _annotation_hint(plugin: str, default: str) -> QueueingHintFn:
    """Return a hint that reads its answer from the event's object."""

    def hint(pod: Pod, old: ApiObject | None, new: ApiObject | None) -> QueueingHint:
        subject = old if new is None else new
        text = "" if subject is None else subject.annotations.get(f"hint/{plugin}", "")
        answer = _answer(text, pod.name) or default
        if answer == "Error":
            raise HintError(plugin)
        return QueueingHint.QUEUE if answer == "Queue" else QueueingHint.SKIP

    return hint


def _answer(text: str, pod_name: str) -> str:
    """Parse ``answer``, or ``name=answer,...`` with ``*`` for all other names."""
    if "=" not in text:
        return text
    answers = dict(part.split("=") for part in text.split(","))
    return answers.get(pod_name) or answers.get("*", "")


def _annotation_gate(plugin: str) -> Gate:
    def gate(pod: Pod) -> Status | None:
        text = pod.annotations.get(f"gate/{plugin}", "")
        if not text:
            return None
        if text == "error":
            return Status.from_error(text)
        return Status.pending(text) if text == "pending" else Status.unschedulable(text)

    return gate


def _external_gate(plugin: str, blocked: Mapping[str, Collection[str]]) -> Gate:
    def gate(pod: Pod) -> Status | None:
        if pod.name in blocked.get(plugin, ()):
            return Status.unschedulable("blocked")
        return None

    return gate
