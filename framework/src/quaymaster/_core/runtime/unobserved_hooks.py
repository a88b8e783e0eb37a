"""Hooks that are called without observers."""

from contextlib import AbstractContextManager
from types import TracebackType

from quaymaster._core.contract.hook_calls import HookObserver
from quaymaster._core.runtime.plugin_metrics import PluginMetrics

__all__ = ["UnobservedHooks"]


class UnobservedHooks(AbstractContextManager[None]):
    """Calls of hooks in this context are not observed.

    A simulation opens two of them in each attempt. With `contextlib.contextmanager`
    they took a thirtieth of a failing attempt.

    Args:
        observers: The observers of hooks; the list is empty inside.
        metrics: The metrics of plugins; they count nothing inside.
    """

    __slots__ = ("_kept", "_metrics", "_observers", "_were_paused")

    def __init__(self, observers: list[HookObserver], metrics: PluginMetrics) -> None:
        self._observers = observers
        self._metrics = metrics

    def __enter__(self) -> None:
        # In place: compiled hooks refer to this list.
        self._kept = self._observers[:]
        self._observers.clear()
        self._were_paused = self._metrics.set_paused(True)

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._metrics.set_paused(self._were_paused)
        self._observers[:] = self._kept
