"""Compiles hooks into functions that never raise: a faulty hook fails only one attempt.

A *compiled hook* takes all of the hook's arguments by position. It returns either

- an answer that the hook allows, with all its parts checked (`checked_answer`); or
- a `Status` with an Error, if the hook raised or its answer is not allowed. So a caller
  only has to distinguish a `Status` from the other answers of the hook.

Only errors from outside are raised: Ctrl-C, and the exceptions of signal handlers and
test frameworks. ``__wrapped__`` is the plugin's own function, which is not guarded; see
`unguarded`.

The code of a compiled hook is generated when the profile is built (measured: 0.1 us for
a call, against 0.3 us with arguments packed and unpacked; a multicall of pluggy takes
12 to 18 times as long as a direct call).
"""

import functools
import inspect
import math
from collections.abc import Callable, Sequence
from types import CodeType, FunctionType
from typing import Any, Final, Protocol, TypeAlias

import msgspec

from quaymaster._core.contract.cycle_state import StateNotFoundError
from quaymaster._core.contract.status import Status
from quaymaster._core.runtime.answers import EXPECTED, NAMES_IN_GOOD, checked_answer
from quaymaster._core.runtime.failures import failure_of, raised
from quaymaster._core.runtime.generated import compiled
from quaymaster._core.runtime.profile import HookFunction

__all__ = [
    "MAY_WAIT",
    "Failed",
    "HookGuards",
    "HookListener",
    "HookTimer",
    "TimeLimit",
    "Watch",
    "unguarded",
]

Failed: TypeAlias = Callable[[str, str, str, BaseException], None]
"""Takes the plugin, the hook, the pod's key or "", and the exception of the hook."""

MAY_WAIT: Final = frozenset({"pre_bind", "bind"})
"""Hooks that run off the engine's thread, where they may wait for a server."""

_GUARDED: Final = """
def make(function, plugin, hook, failed, checked, now, limit, slow):
    def guarded({offered}):{start}
        try:
            answer = function({taken})
            if {good}:
                return answer
            return checked(plugin, hook, answer{size})
        except BaseException as error:
            failure = failed({pod}, error)
            if failure is None:
                raise{note}
            return failure{end}
    def raw({offered}):
        return function({taken})
    guarded.__wrapped__ = raw
    return guarded
"""

_START: Final = """
        start = now()"""

_END: Final = """
        finally:
            seconds = now() - start
            if seconds > limit:
                slow(plugin, hook, {pod}, seconds)"""

# The same with a limit that may change, and with the answer for a listener.
_START_HEARD: Final = """
        answer = None
        start = now()"""

_NOTE_HEARD: Final = """
            answer = failure"""

_END_HEARD: Final = """
        finally:
            seconds = now() - start
            if seconds > limit.seconds:
                slow(plugin, hook, {pod}, seconds, answer)"""


class TimeLimit(Protocol):
    """A time limit that may change."""

    @property
    def seconds(self) -> float:
        """How long a hook may take; below 0, any takes longer."""


class HookListener(Protocol):
    """Receives the slow calls of hooks, and during sampling all calls."""

    @property
    def limit(self) -> TimeLimit:
        """It receives the calls that take longer than this."""

    def heard(
        self, plugin: str, hook: str, pod: str, seconds: float, answer: object, /
    ) -> None:
        """Handle a call that took longer than the limit.

        Args:
            plugin: The plugin's name.
            hook: The hook.
            pod: The pod's key.
            seconds: How long it took.
            answer: The plugin's answer, or an Error status.
        """


class Watch(Protocol):
    """Observes the calls of compiled hooks."""

    def around(
        self, plugin: str, hook: str, offered: Sequence[str], function: HookFunction
    ) -> HookFunction:
        """Return a function to call instead of a compiled hook; it must not raise.

        Args:
            plugin: The plugin's name.
            hook: The hook.
            offered: The names of the arguments that both functions take.
            function: The compiled hook.
        """


class HookTimer(msgspec.Struct, frozen=True):
    """The time limit of hooks, and the function that receives slow calls.

    Attributes:
        now: Returns a time in seconds; only differences of it are used.
        limit_seconds: How long a hook may take.
        slow: Called with plugin, hook, the pod's key and the seconds of a slow call.
        listener: Receives calls of hooks that may not wait, instead of ``slow``, by
            its own limit.
    """

    now: Callable[[], float]
    limit_seconds: float
    slow: Callable[[str, str, str, float], None]
    listener: HookListener | None = None


def _ignore(_plugin: str, _hook: str, _pod: str, _error: BaseException) -> None:
    pass


class HookGuards(msgspec.Struct, frozen=True):
    """Compiles hooks.

    Attributes:
        timer: Measures each call, if set.
        failed: Called with plugin, hook, the pod's key and the exception when a hook
            fails, on the thread of the hook. It is not called if the hook does not
            allow the answer as a whole: the status of the attempt reports that.
        watches: Observe each compiled hook, each around those before it.
    """

    timer: HookTimer | None = None
    failed: Failed = _ignore
    watches: Sequence[Watch] = ()

    def compile(
        self,
        plugin: str,
        hook: str,
        offered: Sequence[str],
        taken: Sequence[str],
        function: HookFunction,
    ) -> HookFunction:
        """Compile a hook; see the module.

        Args:
            plugin: The plugin's name.
            hook: The hook.
            offered: The names of the arguments that the new function takes.
            taken: The names that ``function`` takes of them, in its order.
            function: The plugin's own function.
        """
        failures = _Failures(plugin, hook, self.failed)
        timer, is_heard = self.timer, False
        now: object = None
        limit: object = math.inf
        slow: object = None
        if timer is not None:
            now, slow = timer.now, timer.slow
            if hook not in MAY_WAIT:
                limit = timer.limit_seconds
                if timer.listener is not None:
                    # One pair of clock readings serves the slow limit and the metrics:
                    # the listener's limit falls below 0 while an attempt is sampled.
                    is_heard = True
                    limit, slow = timer.listener.limit, timer.listener.heard
        make = _maker_for(
            plugin, hook, tuple(offered), tuple(taken), timer is not None, is_heard
        )
        guarded = make(
            function, plugin, hook, failures.answer, checked_answer, now, limit, slow
        )
        for watch in self.watches:
            # Outside of the guard, so that a watch sees the checked answer, never an
            # exception of the plugin.
            guarded = watch.around(plugin, hook, offered, guarded)
        return guarded


def unguarded(function: HookFunction) -> HookFunction:
    """Return the plugin's own function of a compiled hook.

    It takes the hook's arguments, and returns and raises as the plugin does.
    """
    own: HookFunction = inspect.unwrap(function)
    return own


class _Failures(msgspec.Struct, frozen=True):
    """Converts the exceptions of one hook of one plugin into answers."""

    plugin: str
    hook: str
    report: Failed

    def answer(self, pod: str, error: BaseException) -> object:
        """Return the answer that replaces an exception.

        Args:
            pod: The pod's key.
            error: The exception.

        Returns:
            An Error status; None if the exception is not the hook's own failure.
        """
        has_text = isinstance(error, StateNotFoundError) and error.missing
        if has_text and not EXPECTED[self.hook].says_nothing:
            # Not a failure: a `StateKey` with `missing` has a status for this case.
            answer = Status.from_error(error)
            return checked_answer(self.plugin, self.hook, answer)
        failure = failure_of(self.plugin, self.hook, error)
        if failure is None:
            return None
        self.report(self.plugin, self.hook, pod, failure)
        return raised(failure)


@functools.cache
def _maker_for(
    plugin: str,
    hook: str,
    offered: tuple[str, ...],
    taken: tuple[str, ...],
    is_timed: bool,
    is_heard: bool,
) -> Callable[..., HookFunction]:
    """Return a function that guards a hook of a plugin; profiles share it.

    The code of its guards has the name of the hook and the plugin, which stacks show,
    also to a process that watches this one. A profile has some 160 guards, so their
    code is named once, and not in each guard.

    Args:
        plugin: The plugin's name.
        hook: The hook.
        offered: As for `_maker`.
        taken: As for `_maker`.
        is_timed: As for `_maker`.
        is_heard: As for `_maker`.
    """
    make = _maker(hook, offered, taken, is_timed, is_heard)
    code = make.__code__
    constants = tuple(
        constant.replace(co_name=f"{hook} of {plugin}")
        if isinstance(constant, CodeType) and constant.co_name == "guarded"
        else constant
        for constant in code.co_consts
    )
    return FunctionType(code.replace(co_consts=constants), make.__globals__)


@functools.cache
def _maker(
    hook: str,
    offered: tuple[str, ...],
    taken: tuple[str, ...],
    is_timed: bool,
    is_heard: bool,
) -> FunctionType:
    """Generate a function that guards hooks with these arguments.

    Args:
        hook: The hook.
        offered: The names of the arguments that the guard takes.
        taken: The names that the plugin's function takes of them.
        is_timed: Whether calls are timed.
        is_heard: Whether a listener receives calls.
    """
    expected, pod = EXPECTED[hook], _pod_key(offered)
    # The names are Python identifiers that pluggy checked against the hookspec.
    arguments, parameters = ", ".join(taken), ", ".join(offered)
    start, note, end = (_START, "", _END) if is_timed else ("", "", "")
    if is_heard:
        start, note, end = _START_HEARD, _NOTE_HEARD, _END_HEARD
    source = _GUARDED.format(
        offered=parameters,
        taken=arguments,
        good=expected.good,
        size=f", {expected.size}" if expected.size else "",
        pod=pod,
        start=start,
        note=note,
        end=end.format(pod=pod),
    )
    kind = "timed guard" if is_timed else "guard"
    kind = f"heard {kind}" if is_heard else kind
    names: dict[str, Any] = {
        "__name__": __name__,  # the module that tracebacks show
        **NAMES_IN_GOOD,
    }
    name = f"{kind} of a hook with ({arguments}) of ({parameters}): {hook}"
    exec(compiled(source, name), names)
    make: FunctionType = names["make"]
    return make


def _pod_key(offered: Sequence[str]) -> str:
    if "pod" in offered:
        return "pod.key"
    return "queued.pod.key" if "queued" in offered else "''"
