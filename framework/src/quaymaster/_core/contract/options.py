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
    """Reject a limit that is not a number above 0."""
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


def _observers(objects: Iterable[HookObserver]) -> tuple[HookObserver, ...]:
    """Return observers as a tuple; reject objects that are not observers."""
    where = "SchedulerOptions.hook_observers: expected"
    if not isinstance(objects, Iterable):
        raise ValueError(f"{where} a list of observers, got {objects!r}")
    observers = tuple(objects)
    for observer in observers:
        called = getattr(observer, "called", None)
        if isinstance(observer, type) or not callable(called):
            expected = "objects with a method 'called'"
            raise ValueError(f"{where} {expected}, got {observer!r}")
    return observers


@attrs.frozen(kw_only=True)
class SchedulerOptions:
    """Options of a scheduler, a simulation or a harness.

    Attributes:
        max_in_unschedulable_seconds: How long a rejected pod waits for an event that
            requeues it; after that, the next flush requeues it. Upstream's flag
            ``--pod-max-in-unschedulable-pods-duration``.
        flush_gated_pods: Whether that flush also runs PreEnqueue for gated pods.
            Kubernetes v1.36.2 does not: a gate that no event opens stays closed
            (kubernetes/kubernetes#139162). Set it for plugins that forget to register
            an event. With Kubernetes 1.37 the flush always runs PreEnqueue.
        check_mutations: Whether to check after each hook that it has not changed its
            read-only arguments; slow, for tests and for debugging.
        verify: With N above 0, every Nth decision is repeated with scalar hooks alone
            and without caches. Plugins that can, such as those for devices, compute
            their reservations again. A difference ends the run with a
            `VerificationError`.
        slow_hook_seconds: How long a hook may take before it is reported; None for no
            limit. The default allows for a busy machine. PreBind and Bind may wait for
            servers, and are not timed.
        hook_observers: Receive each call of a hook, after the installed observers.
        trace: Writes lines about hooks, queues and cache, if set.
        kept_attempts: How many of the last attempts are kept, so that their results can
            be explained; 0 keeps none.
        daemon_sets_first: Whether pending pods of DaemonSets are tried before all other
            pods, whatever their priorities. No kube-scheduler does so. Autoscalers
            reserve room for these pods on every new node, and plans assume the same.

    Raises:
        ValueError: A number of seconds is not above 0, ``verify`` or ``kept_attempts``
            is below 0, or an object in ``hook_observers`` is not an observer.
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
    daemon_sets_first: bool = False


@attrs.frozen(kw_only=True)
class SlowHook:
    """A hook that took too long. The call itself was not interrupted.

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
    """A hook that raised an exception, or whose result broke its contract.

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
