"""Passes the calls of hooks to observers.

It is a `Watch` around compiled hooks. Without an observer it is not used, so that hooks
cost no more.
"""

import functools
import logging
from collections.abc import Callable, Sequence
from typing import Any, Final, TypeAlias

from quaymaster._base.raised import describe_exception, is_from_outside
from quaymaster._core.contract.hook_calls import HookCall, HookObserver
from quaymaster._core.runtime.generated import compiled
from quaymaster._core.runtime.guards import MAY_WAIT
from quaymaster._core.runtime.profile import HookFunction
from quaymaster._core.runtime.seldom import SeldomLog

__all__ = ["ObservedHooks"]

RunHere: TypeAlias = Callable[[Callable[[], None]], None]
"""Calls a function on the engine's thread; at once if that is the current thread."""

_log = logging.getLogger(__name__)

_OBSERVED: Final = """
def make(function, plugin, hook, now, notify, HookCall):
    def observed({offered}):
        start = now()
        answer = function({offered})
        seconds = now() - start
        notify(HookCall(
            plugin, hook, {pod}, {node}, {nodes}, {rows}, seconds, answer
        ))
        return answer
    observed.__wrapped__ = function
    return observed
"""


class ObservedHooks:
    """Passes each call of a hook to observers; implements `Watch`.

    Args:
        observers: At least one; they are called in this order.
        now: Returns the time that hooks are measured with, in seconds.
        run_here: Passes on the calls of hooks that run on other threads.
    """

    def __init__(
        self,
        observers: Sequence[HookObserver],
        now: Callable[[], float],
        run_here: RunHere,
    ) -> None:
        self._observers = observers
        self._now = now
        self._run_here = run_here
        self._complaints = SeldomLog(now)

    def around(
        self, plugin: str, hook: str, offered: Sequence[str], function: HookFunction
    ) -> HookFunction:
        """See `Watch`."""
        make = _maker(hook, tuple(offered))
        # Observers are called on the engine's thread only, so they need no locks.
        notify = self._notify_later if hook in MAY_WAIT else self._notify
        return make(function, plugin, hook, self._now, notify, HookCall)

    def _notify_later(self, call: HookCall) -> None:
        self._run_here(lambda: self._notify(call))

    def _notify(self, call: HookCall) -> None:
        for observer in self._observers:
            try:
                observer.called(call)
            except BaseException as error:
                if is_from_outside(error):
                    raise
                self._complain(observer, call, error)

    def _complain(
        self, observer: HookObserver, call: HookCall, error: BaseException
    ) -> None:
        unsaid = self._complaints.unsaid(id(observer))
        if unsaid is None:
            return
        more = f"; {unsaid} failures more since the last one logged" if unsaid else ""
        _log.error(
            "observer %s failed at %s of plugin '%s': %s%s",
            type(observer).__name__,
            call.hook,
            call.plugin,
            describe_exception(error),
            more,
            exc_info=error,
        )


@functools.cache
def _maker(hook: str, offered: tuple[str, ...]) -> Callable[..., HookFunction]:
    """Generate a function that observes hooks with these arguments."""
    # The names are Python identifiers that pluggy checked against the hookspec.
    arguments = ", ".join(offered)
    node = {"node": "node.name", "node_name": "node_name"}
    source = _OBSERVED.format(
        offered=arguments,
        pod=_expression(offered, {"pod": "pod", "queued": "queued.pod"}, "None"),
        node=_expression(offered, node, "''"),
        nodes=_expression(offered, {"nodes": "nodes"}, "None"),
        rows=_expression(offered, {"rows": "rows", "tied": "tied"}, "None"),
    )
    names: dict[str, Any] = {"__name__": __name__}  # the module that tracebacks show
    exec(compiled(source, f"observed hook with ({arguments}): {hook}"), names)
    make: Callable[..., HookFunction] = names["make"]
    return make


def _expression(offered: Sequence[str], options: dict[str, str], default: str) -> str:
    """Return the expression of the first option whose argument exists."""
    return next((options[name] for name in options if name in offered), default)
