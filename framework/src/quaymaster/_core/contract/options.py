"""Options of an engine that are not part of a ``KubeSchedulerConfiguration``."""

from collections.abc import Iterable
from typing import Any, cast

import attrs

from quaymaster._core.contract.hook_calls import HookObserver
from quaymaster._core.contract.trace import Trace

__all__ = ["HookError", "SchedulerOptions", "SlowHook"]


def _check_seconds(
    options: object, attribute: "attrs.Attribute[Any]", seconds: object
) -> None:
    """Refuse a limit that is no number above 0."""
    number = isinstance(seconds, (int, float)) and not isinstance(seconds, bool)
    if number and cast(float, seconds) > 0:  # which NaN is not
        return
    where = f"{type(options).__name__}.{attribute.name}"
    raise ValueError(f"{where}: expected seconds above 0, got {seconds!r}")


def _check_seconds_or_none(
    options: object, attribute: "attrs.Attribute[Any]", seconds: object
) -> None:
    if seconds is not None:
        _check_seconds(options, attribute, seconds)


def _check_count(
    options: object, attribute: "attrs.Attribute[Any]", count: object
) -> None:
    if isinstance(count, int) and not isinstance(count, bool) and count >= 0:
        return
    where = f"{type(options).__name__}.{attribute.name}"
    raise ValueError(f"{where}: expected a number from 0, got {count!r}")


def _observers(given: Iterable[HookObserver]) -> tuple[HookObserver, ...]:
    """Return observers as a tuple; refuse what is none."""
    where = "SchedulerOptions.hook_observers: expected"
    if not isinstance(given, Iterable):
        raise ValueError(f"{where} a list of observers, got {given!r}")
    observers = tuple(given)
    for one in observers:
        if isinstance(one, type) or not callable(getattr(one, "called", None)):
            raise ValueError(f"{where} objects with a method 'called', got {one!r}")
    return observers


@attrs.frozen(kw_only=True)
class SchedulerOptions:
    """Options of a scheduler, a simulation or a harness.

    Attributes:
        max_in_unschedulable_seconds: How long a rejected pod waits for an event that
            helps it; after that, the next flush lets it try again. Upstream's flag
            ``--pod-max-in-unschedulable-pods-duration``.
        flush_gated_pods: Whether that flush asks PreEnqueue about gated pods, too.
            Kubernetes v1.36.2 does not: a gate that no event opens stays closed
            (kubernetes/kubernetes#139162). It helps against plugins that forget to
            register an event. With Kubernetes 1.37 they are asked anyway.
        check_mutations: Whether each hook of a plugin is followed by a search for what
            it changed but may only read; slow, for tests and for debugging.
        verify: With N above 0, every Nth decision is made a second time, by scalar
            hooks alone and with nothing remembered, and plugins find out again what
            they reserved, if they can: devices are. A difference ends the run with a
            `VerificationError`.
        slow_hook_seconds: How long a hook may take before it is reported; None for no
            limit. The default leaves room for a machine that is busy.
            PreBind and Bind may wait for servers, and are not timed.
        hook_observers: Are told of each call of a hook, after those that are installed.
        trace: Writes lines about hooks, queues and cache, if given.
        kept_attempts: How many of the last attempts are remembered, to be told why
            they ended as they did; 0: none.

    Raises:
        ValueError: A number of seconds is not above 0, ``verify`` or ``kept_attempts``
            is below 0, or something is no observer.
    """

    max_in_unschedulable_seconds: float = attrs.field(
        default=300.0, validator=_check_seconds
    )
    flush_gated_pods: bool = False
    check_mutations: bool = False
    verify: int = attrs.field(default=0, validator=_check_count)
    slow_hook_seconds: float | None = attrs.field(
        default=1.0, validator=_check_seconds_or_none
    )
    hook_observers: tuple[HookObserver, ...] = attrs.field(
        default=(), converter=_observers
    )
    trace: Trace | None = None
    kept_attempts: int = attrs.field(default=4096, validator=_check_count)


@attrs.frozen(kw_only=True)
class SlowHook:
    """A hook that took too long. The call itself was not ended.

    Attributes:
        plugin: The plugin's name.
        hook: The hook.
        pod: The key of the pod that it was called for; empty for ``start`` and
            ``close``.
        seconds: How long it took.
        limit_seconds: How long it may take.
    """

    plugin: str
    hook: str
    pod: str
    seconds: float
    limit_seconds: float


@attrs.frozen(kw_only=True, eq=False)
class HookError:
    """A hook that raised an exception, or whose answer broke its contract.

    Attributes:
        plugin: The plugin's name.
        hook: The hook.
        pod: The key of the pod that it was called for; empty for ``start`` and
            ``close``.
        error: The exception, with its traceback.
    """

    plugin: str
    hook: str
    pod: str
    error: BaseException
