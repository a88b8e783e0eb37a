"""Reports hooks that take too long, and logs only some of them."""

import logging
from collections.abc import Callable

from quaymaster._core.contract.options import SlowHook
from quaymaster._core.runtime.seldom import SeldomLog

__all__ = ["SlowHooks"]

_log = logging.getLogger(__name__)


class SlowHooks:
    """Receives reports of slow hooks.

    Each is passed to the engine's observer. Each hook of each plugin is logged at most
    once in a minute. Mirrors the trace of slow attempts (Kubernetes v1.36,
    ``schedulePod`` in ``pkg/scheduler/schedule_one.go``), which has the same default
    limit, but does not name plugins.

    Args:
        now: Returns the time that hooks are measured with, in seconds.
        limit_seconds: How long a hook may take.
        notify: Called with each slow hook.
    """

    def __init__(
        self,
        now: Callable[[], float],
        limit_seconds: float,
        notify: Callable[[SlowHook], None],
    ) -> None:
        self._limit_seconds = limit_seconds
        self._notify = notify
        self._warnings = SeldomLog(now)

    def report(self, plugin: str, hook: str, pod: str, seconds: float) -> None:
        """Handle a slow call.

        Args:
            plugin: The plugin's name.
            hook: The hook.
            pod: The key of the pod that it was called for, or empty.
            seconds: How long it took.
        """
        slow = SlowHook(
            plugin=plugin,
            hook=hook,
            pod=pod,
            seconds=seconds,
            limit_seconds=self._limit_seconds,
        )
        # The observer gets every call; only the log is limited.
        self._notify(slow)
        unsaid = self._warnings.unsaid((plugin, hook))
        if unsaid is not None:
            _warn(slow, unsaid)


def _warn(slow: SlowHook, unsaid: int) -> None:
    _log.warning(
        "plugin '%s': %s took %.3f s%s (limit: %g s)%s",
        slow.plugin,
        slow.hook,
        slow.seconds,
        f" for pod {slow.pod}" if slow.pod else "",
        slow.limit_seconds,
        f"; {unsaid} times more since the last warning" if unsaid else "",
        extra={"plugin": slow.plugin, "hook": slow.hook, "pod": slow.pod},
    )
