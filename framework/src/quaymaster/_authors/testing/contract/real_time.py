"""Watches which calls of a plugin use real time, threads or event loops."""

import sys
import time
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager
from datetime import date, datetime
from pathlib import PurePath
from types import FrameType
from typing import Final, TypeVar

import attrs

__all__ = ["RealTimeUse", "RealTimeWatch"]

T = TypeVar("T")

_CLOCK: Final = "read handle.clock.now(), which is virtual in simulations and tests"
_TIMER: Final = "set a timer with handle.clock.call_later"
_TASK: Final = "make calls that block with handle.run_in_background"

_READINGS: Final[Mapping[object, str]] = {
    time.time: "time.time()",
    time.time_ns: "time.time_ns()",
    time.monotonic: "time.monotonic()",
    time.monotonic_ns: "time.monotonic_ns()",
    datetime.now: "datetime.now()",
    datetime.utcnow: "datetime.utcnow()",
    datetime.today: "datetime.today()",
    date.today: "date.today()",
}
"""Functions that read a real clock. Those that measure how long something took, such as
`time.perf_counter`, decide nothing."""

_THREAD_STARTS: Final = frozenset({"start_new_thread", "start_joinable_thread"})
_LOOPS: Final = frozenset({"asyncio", "sched"})


@attrs.frozen
class RealTimeUse:
    """One use of real time by a plugin.

    Attributes:
        function: The function of the plugin that the suite has called.
        problem: What it did, where, and what to do instead.
    """

    function: str
    problem: str


class RealTimeWatch:
    """Records the uses of real time while a plugin runs on this thread.

    It sees calls as a profiler does, so it also sees functions that the plugin has
    imported by name.

    Args:
        packages: The plugin's packages or modules, without parents or children.

    Attributes:
        uses: What it has seen.
    """

    def __init__(self, packages: Collection[str]) -> None:
        self._packages = packages
        self.uses: list[RealTimeUse] = []

    @contextmanager
    def watching(self) -> Iterator[None]:
        """Watch the block."""
        before = sys.getprofile()
        sys.setprofile(self._see)
        try:
            yield
        finally:
            sys.setprofile(before)

    def submit(
        self,
        task: Callable[[], T],
        done: Callable[[T], None],
        *,
        blocks: bool = True,  # noqa: ARG002 - all tasks run alike
    ) -> None:
        """Run a background task, which may use real time, as an executor does."""
        before = sys.getprofile()
        sys.setprofile(None)
        try:
            result = task()
        finally:
            sys.setprofile(before)
        done(result)

    def close(self) -> None:
        """Do nothing: no task is running."""

    def _see(self, frame: FrameType, event: str, called: object) -> None:
        if event == "c_call":
            self._see_builtin(frame, called)
        elif event == "call":
            self._see_loop(frame)

    def _see_builtin(self, frame: FrameType, called: object) -> None:
        name, module = (
            getattr(called, attribute, None) for attribute in ("__name__", "__module__")
        )
        if module == "_thread" and name in _THREAD_STARTS:
            self._note(self._own(frame), "starts a thread", f"{_TIMER}, and {_TASK}")
        elif module == "time" and name == "sleep":
            problem = "blocks the scheduling thread with time.sleep()"
            self._note(self._own(frame), problem, _TIMER)
        elif name in _READING_NAMES and self._is_own(frame):
            reading = _reading(called)
            if reading:
                self._note(frame, f"reads a real clock with {reading}", _CLOCK)

    def _see_loop(self, frame: FrameType) -> None:
        """Note a function of an event loop that the plugin itself calls."""
        module = str(frame.f_globals.get("__name__", "")).partition(".")[0]
        caller = frame.f_back
        if module in _LOOPS and caller is not None and self._is_own(caller):
            self._note(caller, f"uses {module}", f"{_TIMER}, and {_TASK}")

    def _is_own(self, frame: FrameType) -> bool:
        name = str(frame.f_globals.get("__name__", ""))
        return name.partition(".")[0] in self._packages

    def _own(self, frame: FrameType | None) -> FrameType | None:
        """Return the nearest function of the plugin, unless the framework is nearer."""
        while frame is not None and not self._is_own(frame):
            name = str(frame.f_globals.get("__name__", ""))
            if name.partition(".")[0] == "quaymaster":
                return None
            frame = frame.f_back
        return frame

    def _note(self, frame: FrameType | None, what: str, remedy: str) -> None:
        if frame is None:
            return
        code = frame.f_code
        where = f"{PurePath(code.co_filename).name}:{frame.f_lineno}"
        problem = f"{code.co_name} ({where}) {what}: {remedy}"
        self.uses.append(RealTimeUse(self._entry(frame), problem))

    def _entry(self, frame: FrameType) -> str:
        """Return the name of the function of the plugin that the suite has called."""
        while frame.f_back is not None and self._is_own(frame.f_back):
            frame = frame.f_back
        return frame.f_code.co_name


_READING_NAMES: Final = frozenset(
    text.removesuffix("()").rpartition(".")[2] for text in _READINGS.values()
)


def _reading(called: object) -> str:
    """Return how a function that reads a clock is written, or empty."""
    try:
        return _READINGS.get(called, "")
    except TypeError:
        return ""  # a method of an object without a hash
