"""Stops calls of a plugin that would block the scheduling thread."""

import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from functools import wraps
from types import FrameType, ModuleType
from typing import Any, Final, TypeAlias

from quaymaster._authors.testing.contract.own_frames import OwnFrames, packages_of
from quaymaster._authors.testing.contract.replacing import replacing
from quaymaster._base.errors import QuaymasterError
from quaymaster._core.contract.declarations import may_block

__all__ = ["BlockingCallError", "Note", "stopping_blocking_calls"]

Note: TypeAlias = Callable[[FrameType, str, str], None]
"""Takes the plugin's frame, the problem and the remedy."""

_SLEEP: Final = "time.sleep()"
_CALLS: Final = (
    (time, "sleep", _SLEEP),
    # Events, queues and futures wait for a condition.
    (threading.Condition, "wait", "a wait for another thread"),
    (subprocess.Popen, "__init__", "another process"),
)
_MAY_WAIT: Final = frozenset({"__init__", "start", "close"})
"""Here a plugin may wait for others than the clock: no pod waits for these."""

_THREAD: Final = (
    "set a timer with handle.clock.call_later, and make calls that block with "
    "handle.run_in_background"
)
_WORKER: Final = (
    "return a PreBindWait from pre_bind to wait for the cluster, or remove the "
    "declaration"
)


class BlockingCallError(QuaymasterError):
    """A call of a plugin would block the thread on which it runs."""


def _ignore(_frame: FrameType, _problem: str, _remedy: str) -> None:
    """Take no notes: another check does."""


@contextmanager
def stopping_blocking_calls(plugin: type, note: Note = _ignore) -> Iterator[None]:
    """Let calls of a plugin that block its thread fail at once in the block.

    Where its class allows them, in PreBind, Bind and background tasks, a sleep ends at
    once. Calls of other threads, and of others on this one, are as usual.

    Args:
        plugin: Its class.
        note: Gets each call.
    """
    stops = _Stops(plugin, note)
    with ExitStack() as stack:
        for owner, name, what in _CALLS:
            original = getattr(owner, name)
            replacement = stops.instead_of(original, what)
            stack.enter_context(replacing(owner, name, replacement))
            for module, imported in _imports(stops.frames, original):
                stack.enter_context(replacing(module, imported, replacement))
        yield


class _Stops:
    """Decides about blocking calls on this thread.

    Args:
        plugin: The plugin's class.
        note: Gets each call that is stopped.
    """

    def __init__(self, plugin: type, note: Note) -> None:
        self.frames = OwnFrames(packages_of(plugin))
        self._may_block = may_block(plugin)
        self._note = note
        self._thread = threading.get_ident()

    def instead_of(self, original: Callable[..., Any], what: str) -> Callable[..., Any]:
        """Return a function to be called instead of one that blocks."""

        @wraps(original)
        def call(*args: Any, **options: Any) -> Any:  # noqa: ANN401 - as the original
            if threading.get_ident() == self._thread:
                frame = self.frames.nearest(sys._getframe(1))
                if frame is not None and self._is_left_out(frame, what):
                    return None
            return original(*args, **options)

        return call

    def _is_left_out(self, frame: FrameType, what: str) -> bool:
        """Return whether to leave out a call that may block.

        Raises:
            BlockingCallError: It must not block there.
        """
        is_on_worker = self.frames.is_on_worker(frame)
        if is_on_worker and self._may_block:
            return what == _SLEEP
        if what != _SLEEP and self.frames.entry(frame) in _MAY_WAIT:
            return False
        problem, remedy = f"blocks the scheduling thread with {what}", _THREAD
        if is_on_worker:
            problem = f"blocks with {what}, but its class declares blocks = False"
            remedy = _WORKER
        self._note(frame, problem, remedy)
        raise BlockingCallError(f"{problem}: {remedy}")


def _imports(frames: OwnFrames, function: object) -> list[tuple[ModuleType, str]]:
    """Return the names by which the plugin's modules have imported a function."""
    return [
        (module, name)
        for key, module in tuple(sys.modules.items())
        if key.partition(".")[0] in frames.packages and isinstance(module, ModuleType)
        for name, value in tuple(vars(module).items())
        # Identity: a comparison could run code of any object.
        if value is function
    ]
