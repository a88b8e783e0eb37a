"""Tells observers of the calls of hooks.

It is a `Watch` around compiled hooks, and there only if there is an observer: without
one, a hook is compiled as if this module did not exist.
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
"""Makes a call on the engine's thread, at once if this is it."""

_log = logging.getLogger(__name__)

_OBSERVED: Final = """
def make(function, plugin, hook, now, tell, HookCall):
    def observed({offered}):
        start = now()
        answer = function({offered})
        seconds = now() - start
        tell(HookCall(
            plugin, hook, {pod}, {node}, {nodes}, {rows}, seconds, answer
        ))
        return answer
    observed.__wrapped__ = function
    return observed
"""


class ObservedHooks:
    """Tells observers of each call of a hook; implements `Watch`.

    Args:
        observers: At least one; told in this order.
        now: Returns the time that hooks are measured with, in seconds.
        run_here: Takes what hooks tell that run on other threads.
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
        tell = self._tell_later if hook in MAY_WAIT else self._tell
        return make(function, plugin, hook, self._now, tell, HookCall)

    def _tell_later(self, call: HookCall) -> None:
        self._run_here(lambda: self._tell(call))

    def _tell(self, call: HookCall) -> None:
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
            "observer %s failed, told of %s of plugin '%s': %s%s",
            type(observer).__name__,
            call.hook,
            call.plugin,
            describe_exception(error),
            more,
            exc_info=error,
        )


@functools.cache
def _maker(hook: str, offered: tuple[str, ...]) -> Callable[..., HookFunction]:
    """Generate what observes hooks that are offered these arguments."""
    # The names are Python identifiers that pluggy checked against the hookspec.
    given = ", ".join(offered)
    source = _OBSERVED.format(
        offered=given,
        pod=_given(offered, {"pod": "pod", "queued": "queued.pod"}, "None"),
        node=_given(offered, {"node": "node.name", "node_name": "node_name"}, "''"),
        nodes=_given(offered, {"nodes": "nodes"}, "None"),
        rows=_given(offered, {"rows": "rows", "tied": "tied"}, "None"),
    )
    names: dict[str, Any] = {"__name__": __name__}  # the module that tracebacks show
    exec(compiled(source, f"observed hook with ({given}): {hook}"), names)
    make: Callable[..., HookFunction] = names["make"]
    return make


def _given(offered: Sequence[str], found: dict[str, str], otherwise: str) -> str:
    """Return the expression for the first argument that there is."""
    return next((found[name] for name in found if name in offered), otherwise)
