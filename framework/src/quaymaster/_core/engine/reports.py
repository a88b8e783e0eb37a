"""The engine's reports to the cluster and to the observer."""

from typing import Protocol

from quaymaster._api.objects import Pod
from quaymaster._base.errors import PluginError
from quaymaster._core.contract.clock import Clock
from quaymaster._core.contract.cluster import Cluster, EventNote
from quaymaster._core.contract.options import HookError, SlowHook
from quaymaster._core.contract.status import Status
from quaymaster._core.engine.framework import Framework
from quaymaster._core.engine.inbox import Inbox
from quaymaster._core.runtime.hook_errors import HookErrors

__all__ = ["Observer", "Reports"]


class Observer(Protocol):
    """Receives the steps of the scheduler as they happen, on its thread."""

    def attempting(self, pod: Pod, framework: Framework, /) -> None:
        """Called when an attempt for a pod begins."""

    def bound(self, pod: Pod, node_name: str, /) -> None:
        """Called when a pod was bound."""

    def recorded(self, note: EventNote, /) -> None:
        """Called when a plugin wrote an Event."""

    def slow(self, hook: SlowHook, /) -> None:
        """Called when a hook took longer than the limit."""

    def failed(self, error: HookError, /) -> None:
        """Called when a hook raised an exception, or broke its contract."""


class Reports:
    """Reports binds, and Events, slow hooks and errors of plugins.

    Args:
        cluster: Stores the Events.
        clock: Gives the time of errors.
        inbox: Passes reports from other threads to the engine's thread.
        observer: Gets the reports; may be None.
    """

    def __init__(
        self, cluster: Cluster, clock: Clock, inbox: Inbox, observer: Observer | None
    ) -> None:
        self._cluster = cluster
        self._inbox = inbox
        self._observer = observer
        self._hook_errors = HookErrors(clock.now, self._failed)

    def bound(self, pod: Pod, node_name: str) -> None:
        """Report that a pod was bound."""
        if self._observer is not None:
            self._observer.bound(pod, node_name)

    def record(self, note: EventNote) -> None:
        """Write a plugin's Event."""
        self._cluster.record(note)
        if self._observer is not None:
            self._observer.recorded(note)

    def slow(self, hook: SlowHook) -> None:
        """Report that a hook took longer than the limit."""
        if self._observer is not None:
            self._observer.slow(hook)

    def hook_failed(
        self, plugin: str, hook: str, pod: str, error: BaseException
    ) -> None:
        """Report a hook that raised an exception, from any thread."""
        self._inbox.run_here(lambda: self._hook_errors.report(plugin, hook, pod, error))

    def broken_contract(self, pod: Pod, status: Status | None) -> None:
        """Report a hook whose invalid return value has ended an attempt.

        Guards do not report it, since it matters only if it ends an attempt.
        """
        error = status.error if status is not None else None
        if isinstance(error, PluginError):
            self._hook_errors.report(error.plugin, error.hook, pod.key, error)

    def _failed(self, error: HookError) -> None:
        if self._observer is not None:
            self._observer.failed(error)
