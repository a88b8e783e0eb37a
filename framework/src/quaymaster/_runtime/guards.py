"""What goes around each call of a hook, so that it can harm no more than an attempt.

A guard looks at what came back, takes the time, answers for hooks that miss what an
earlier one should have written, and turns ``sys.exit()`` in a plugin into a failure of
that plugin. It is generated for each hook when the profile is built
(measured: 0.1 us for a call, against 0.3 us with arguments packed and unpacked).
"""

import functools
import math
import signal
import threading
from collections.abc import Callable, Sequence
from types import CodeType, FunctionType, MethodType
from typing import Any, Final, Protocol, TypeAlias

import numpy as np

from quaymaster._runtime.answers import checked_answer
from quaymaster._runtime.generated import compiled
from quaymaster._runtime.profile import HookFunction
from quaymaster.cycle_state import StateNotFoundError
from quaymaster.errors import PluginError
from quaymaster.status import Status

__all__ = ["Guard", "HookGuards", "MissingStates"]

Failed: TypeAlias = Callable[[str, str, str, BaseException], None]

_MAY_WAIT: Final = frozenset({"pre_bind", "bind"})
"""The hooks that run off the engine's thread, and may wait for a server there."""

_UNCHECKED: Final = frozenset({"queue_sort"})
"""Hooks whose answers are looked at elsewhere."""

_SAY_NOTHING: Final = frozenset({"unreserve", "post_bind"})
"""Hooks with a state whose answers nobody reads."""

_NOTHING_INSIDE: Final = frozenset({int, np.ndarray})
"""Answers that the stations judge as they are."""

_GUARDED = """
def guard(function, plugin, hook, now, limit, slow, failed, checked):
    def guarded({offered}):
        start = now()
        try:
            answer = function({wanted})
            if answer is None or answer is SKIP or type(answer) in NOTHING_INSIDE:
                return answer
            return checked(plugin, hook, answer)
        except Exception as error:
            said = missing(hook, error)
            if said is not None:
                return said
            failed(plugin, hook, {pod}, error)
            raise
        except BaseException as error:
            end(plugin, hook, {pod}, error, failed)
            raise
        finally:
            seconds = now() - start
            if seconds > limit:
                slow(plugin, hook, {pod}, seconds)
    return guarded
"""


_ANSWERING = """
def guard(function, hook):
    def guarded({offered}):
        try:
            return function({wanted})
        except Exception as error:
            said = missing(hook, error)
            if said is not None:
                return said
            raise
    return guarded
"""


class Guard(Protocol):
    """Puts something around the calls of hooks."""

    def around(
        self,
        plugin: str,
        hook: str,
        offered: Sequence[str],
        wanted: Sequence[str],
        function: HookFunction,
    ) -> HookFunction:
        """The function to call instead of a plugin's hook.

        Args:
            plugin: The plugin's name.
            hook: The hook.
            offered: The names of the arguments that the new function gets.
            wanted: Those of them that ``function`` takes, in its order.
            function: The hook.
        """


class MissingStates:
    """Answers for hooks that read a key of the state which nobody wrote; no more.

    What is behind a key with a text for that, see `StateKey`, is an Error with it.
    """

    def around(
        self,
        plugin: str,
        hook: str,
        offered: Sequence[str],
        wanted: Sequence[str],
        function: HookFunction,
    ) -> HookFunction:
        """See `Guard.around`."""
        del plugin  # whoever it is
        guard = _guard(_ANSWERING, tuple(offered), tuple(wanted))
        return guard(function, hook)


class HookGuards:
    """Checks answers, takes the time, and tells of exceptions.

    Args:
        now: A time in seconds that only differences are taken of.
        limit_seconds: How long a hook may take.
        slow: Told plugin, hook, the pod's key and the seconds when one takes longer.
        failed: Told plugin, hook, the pod's key and the exception when one fails, on
            whatever thread that was.
    """

    def __init__(
        self,
        now: Callable[[], float],
        limit_seconds: float,
        slow: Callable[[str, str, str, float], None],
        failed: Failed,
    ) -> None:
        self._now = now
        self._limit = limit_seconds
        self._slow = slow
        self._failed = failed

    def around(
        self,
        plugin: str,
        hook: str,
        offered: Sequence[str],
        wanted: Sequence[str],
        function: HookFunction,
    ) -> HookFunction:
        """See `Guard.around`."""
        checked = _as_it_is if hook in _UNCHECKED else checked_answer
        limit = math.inf if hook in _MAY_WAIT else self._limit
        guard = _guard(_GUARDED, tuple(offered), tuple(wanted))
        told = self._slow, self._failed
        return guard(function, plugin, hook, self._now, limit, *told, checked)


def _answer_for_missing(hook: str, error: Exception) -> Status | None:
    """What a hook answers that reads a key of the state which nobody wrote.

    Args:
        hook: The hook.
        error: What it raised.

    Returns:
        An Error with the text that the key has for that; None if it was another
        exception, if there is no text, or if nobody would read the answer.
    """
    if not isinstance(error, StateNotFoundError) or not error.missing:
        return None
    return None if hook in _SAY_NOTHING else Status.from_error(error)


@functools.cache
def _guard(
    template: str, offered: tuple[str, ...], wanted: tuple[str, ...]
) -> Callable[..., HookFunction]:
    """Makes guards for hooks that are offered these arguments, and take some."""
    pod = "pod" if "pod" in offered else "queued.pod"
    names: dict[str, Any] = {
        "__name__": __name__,  # whose lines these are, for tracebacks
        "SKIP": Status.skip(),
        "NOTHING_INSIDE": _NOTHING_INSIDE,
        "end": _fail_plugin,
        "missing": _answer_for_missing,
    }
    source = template.format(
        offered=", ".join(offered), wanted=", ".join(wanted), pod=f"{pod}.key"
    )
    kind = "timed guard" if template is _GUARDED else "guard"
    name = f"{kind} of a hook with ({', '.join(wanted)}) of ({', '.join(offered)})"
    exec(compiled(source, name, "exec"), names)
    guard: Callable[..., HookFunction] = names["guard"]
    return guard


def _as_it_is(_plugin: str, _hook: str, answer: object) -> object:
    return answer


def _fail_plugin(
    plugin: str, hook: str, pod: str, error: BaseException, failed: Failed
) -> None:
    """Take what a plugin throws to end more than its attempt for its failure.

    Raises:
        PluginError: It was the plugin's own. What comes from outside (Ctrl-C, the
            handler of a signal, a test framework) is left to go its way.
    """
    if isinstance(error, SystemExit):
        if _is_from_signal(error):
            return
        problem = f"called sys.exit({error.code!r})"
    elif type(error).__name__ == "CancelledError":  # importing asyncio takes 30 ms
        problem = "raised CancelledError"
    else:
        return
    failure = PluginError(plugin, hook, problem)
    failed(plugin, hook, pod, failure)
    raise failure


def _is_from_signal(error: SystemExit) -> bool:
    """Whether a signal's handler raised this, while a plugin happened to run."""
    if threading.current_thread() is not threading.main_thread():
        return False
    handlers = {_code(signal.getsignal(one)) for one in signal.valid_signals()}
    traceback = error.__traceback__
    while traceback is not None:
        if traceback.tb_frame.f_code in handlers:
            return True
        traceback = traceback.tb_next
    return False


def _code(handler: object) -> CodeType | None:
    if isinstance(handler, MethodType):
        handler = handler.__func__
    return handler.__code__ if isinstance(handler, FunctionType) else None
