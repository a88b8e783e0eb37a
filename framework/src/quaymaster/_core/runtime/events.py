"""Checks the events that plugins register, before the queue relies on them."""

import inspect
from collections.abc import Collection
from types import FunctionType, MethodType
from typing import Final

from quaymaster._api.objects.kinds import KINDS
from quaymaster._core.contract.cluster_events import (
    ActionType,
    ClusterEvent,
    ClusterEventWithHint,
    EventResource,
    resource_of,
)

__all__ = ["event_problem"]

_FOLLOWED: Final = frozenset(map(resource_of, KINDS.values()))
"""The resources that can have an informer."""

_HINT_ARGUMENTS = ("pod", "old", "new")


def event_problem(registered: object, followed: Collection[EventResource] = ()) -> str:
    """Describe the error in one of the events of a plugin; empty if it is valid.

    Args:
        registered: An element of the answer of ``events_to_register``.
        followed: The resources that have events.
    """
    if not isinstance(registered, ClusterEventWithHint):
        problem = f"returned a {type(registered).__name__} among its events"
        return f"{problem}, expected ClusterEventWithHint"
    event: object = registered.event
    if not isinstance(event, ClusterEvent):
        return f"returned {event!r} as an event, expected a ClusterEvent"
    resource: object = event.resource
    if not isinstance(resource, EventResource):
        return f"returned an event of {resource!r}, expected an EventResource"
    if resource not in followed and (resource.is_declared or resource in _FOLLOWED):
        attribute = "kinds" if resource.is_declared else "reads"
        return (
            f"returned an event of {resource.value!r}, which is not followed: expected "
            f"that a plugin declares it in its class, {attribute} = (...,)"
        )
    action: object = event.action
    if not isinstance(action, ActionType):
        return f"returned an event with {action!r}, expected an ActionType"
    return _hint_problem(registered.hint)


def _takes_three(hint: object) -> bool:
    """Whether a hint is a plain function that can be called with three arguments.

    Almost all hints are (measured: checking those of the default profile takes 0.05 ms
    instead of 0.8). False does not mean that there is a mistake: the full signature
    decides.
    """
    is_bound = isinstance(hint, MethodType)
    function = hint.__func__ if isinstance(hint, MethodType) else hint
    # A decorated function may have the signature of the function that it wraps.
    if not isinstance(function, FunctionType) or vars(function):
        return False
    code = function.__code__
    taken = code.co_argcount - is_bound
    needed = taken - len(function.__defaults__ or ())
    is_plain = not code.co_kwonlyargcount and not code.co_flags & inspect.CO_COROUTINE
    return is_plain and needed <= len(_HINT_ARGUMENTS) <= taken


def _hint_problem(hint: object) -> str:
    if hint is None:
        return ""
    if _takes_three(hint):
        return ""
    if not callable(hint):
        return f"returned a hint that is a {type(hint).__name__}, expected a function"
    if inspect.iscoroutinefunction(hint):
        return "returned a hint that is async, expected a plain function"
    try:
        signature = inspect.signature(hint)
    except (TypeError, ValueError):  # not written in Python
        return ""
    try:
        signature.bind(*_HINT_ARGUMENTS)
    except TypeError as error:
        return f"returned a hint that cannot be called with (pod, old, new): {error}"
    return ""
