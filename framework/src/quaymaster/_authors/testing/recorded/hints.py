"""Finds our queueing hint for a recorded one."""

from collections.abc import Iterable

import attrs

from quaymaster._api.objects import ApiObject, Pod
from quaymaster._authors.testing.recorded.case import Json
from quaymaster._core.contract.cluster_events import (
    ActionType,
    ClusterEventWithHint,
    EventResource,
    QueueingHint,
    resource_of,
)

__all__ = ["actions_of", "registrations_for", "wakes"]


def registrations_for(
    registered: Iterable[ClusterEventWithHint],
    call: Json,
    old: ApiObject | None,
    new: ApiObject | None,
) -> list[ClusterEventWithHint]:
    """Return the registrations for the changes that a recorded hint is for.

    Args:
        registered: What the plugin registers.
        call: The recorded call, with the registrations of the Go function.
        old: The object before.
        new: The object after.
    """
    happened = _happened(old, new)
    covered = list(_covered(call, old, new))
    return [
        with_hint
        for with_hint in registered
        if any(
            with_hint.event.matches(attrs.evolve(with_hint.event, resource=resource))
            and with_hint.event.action & happened & actions
            for resource, actions in covered
        )
    ]


def _happened(old: ApiObject | None, new: ApiObject | None) -> ActionType:
    if old is None and new is None:
        return ActionType.ALL
    if old is None:
        return ActionType.ADD
    return ActionType.DELETE if new is None else ActionType.UPDATE


def _covered(
    call: Json, old: ApiObject | None, new: ApiObject | None
) -> Iterable[tuple[EventResource, ActionType]]:
    for recorded in call["events"]:
        yield EventResource(recorded["resource"]), actions_of(recorded)
    changed = new if new is not None else old
    if not call["events"] and changed is not None:
        # The test asks a function that its plugin does not register.
        yield resource_of(type(changed)), ActionType.ALL


def actions_of(recorded: Json) -> ActionType:
    """Return the actions of a recorded registration."""
    actions = ActionType(0)
    for action in ActionType:
        if action.label in recorded["actions"]:
            actions |= action
    return actions


def wakes(
    registered: ClusterEventWithHint,
    pod: Pod,
    old: ApiObject | None,
    new: ApiObject | None,
) -> bool:
    """Return whether a registration's hint, and its index, requeue a pod."""
    if registered.index is not None:
        keys = registered.index.pod_keys(pod)
        changed = registered.index.event_keys(old, new)
        if keys is not None and changed is not None and set(keys).isdisjoint(changed):
            return False
    return registered.hint is None or (
        registered.hint(pod, old, new) is QueueingHint.QUEUE
    )
