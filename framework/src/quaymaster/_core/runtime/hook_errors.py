"""Reports hooks that fail, and logs only some of them."""

import logging
from collections.abc import Callable

from quaymaster._base.errors import PluginError
from quaymaster._base.raised import describe_exception
from quaymaster._core.contract.options import HookError
from quaymaster._core.runtime.seldom import SeldomLog

__all__ = ["HookErrors"]

_log = logging.getLogger(__name__)


class HookErrors:
    """Receives reports of hooks that failed, on the engine's thread.

    Each is passed to the engine's observer. At most one failure per minute and plugin
    is logged, with its traceback. An exception of the framework, about an answer that
    broke a hook's contract, is logged without a traceback.

    Args:
        now: Returns the engine's time, in seconds.
        notify: Called with each error.
    """

    def __init__(
        self, now: Callable[[], float], notify: Callable[[HookError], None]
    ) -> None:
        self._notify = notify
        self._tracebacks = SeldomLog(now)
        self._last: BaseException | None = None

    def report(self, plugin: str, hook: str, pod: str, error: BaseException) -> None:
        """Handle a failure; a second report in a row of the same exception is ignored.

        Args:
            plugin: The plugin's name.
            hook: The hook.
            pod: The key of the pod that it was called for, or empty.
            error: The exception of the hook, or an error about its broken contract.
        """
        # Identity: the guard may have reported the exception that ends the attempt.
        if error is self._last:
            return
        self._last = error
        failure = HookError(plugin=plugin, hook=hook, pod=pod, error=error)
        self._notify(failure)
        unsaid = self._tracebacks.unsaid(plugin)
        if unsaid is not None:
            _complain(failure, unsaid)


def _complain(failure: HookError, unsaid: int) -> None:
    error, pod = failure.error, failure.pod
    more = f"; {unsaid} failures more since the last one logged" if unsaid else ""
    fields = {"plugin": failure.plugin, "hook": failure.hook, "pod": pod}
    if isinstance(error, PluginError):
        where = f" (pod {pod})" if pod else ""
        _log.error("%s%s%s", error, where, more, extra=fields)
        return
    what = f"plugin '{failure.plugin}': {failure.hook} failed"
    what += f" for pod {pod}" if pod else ""
    why = describe_exception(error)
    _log.error("%s: %s%s", what, why, more, exc_info=error, extra=fields)
