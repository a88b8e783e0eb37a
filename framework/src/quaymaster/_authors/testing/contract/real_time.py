"""Watches which calls of a plugin use real time, threads, event loops, or block."""

import socket
import sys
import threading
import time
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager
from datetime import date, datetime
from pathlib import PurePath
from types import FrameType
from typing import Any, Final, TypeVar

import attrs

from quaymaster._authors.testing.contract.subject import HOOKS

__all__ = ["RealTimeUse", "RealTimeWatch"]

T = TypeVar("T")

_CLOCK: Final = "read handle.clock.now(), which is virtual in simulations and tests"
_TIMER: Final = "set a timer with handle.clock.call_later"
_TASK: Final = "make calls that block with handle.run_in_background"
_FILE: Final = "read files when the plugin is built, or with handle.run_in_background"
_CLUSTER: Final = (
    "all pods wait meanwhile, so read handle.informers, and make calls with "
    "handle.run_in_background; preemption.Evictions does so for evictions"
)

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

_CLUSTER_PORTS: Final = frozenset(
    {
        "quaymaster._authors.testing.contract.stored_objects",
        "quaymaster._authors.testing.declared_writes",
    }
)
"""The modules of what plugins have as ``handle.cluster``."""

_CLUSTER_CALLS: Final = frozenset(
    {"list", "get", "create", "update", "delete", "patch_pod_status", "patch_status"}
)
_BINDING_HOOKS: Final = frozenset(
    {"pre_bind_pre_flight", "pre_bind", "bind", "post_bind"}
)
"""These do not run on the scheduling thread, or after the decision."""

_ATTEMPT_HOOKS: Final = (
    frozenset(HOOKS) - _BINDING_HOOKS - {"start", "close", "events_to_register"}
)
"""While one of these runs, all pods wait for it."""

_FILE_READERS: Final = frozenset({"io", "_io"})
_NOT_BY_PLUGINS: Final = frozenset(
    {"importlib", "_frozen_importlib_external", "linecache", "tokenize", "inspect"}
)
"""What reads the sources of modules, which Python needs only once."""

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
        self._thread = threading.get_ident()
        self._is_task = False
        self.uses: list[RealTimeUse] = []

    @contextmanager
    def watching(self, *, is_offline: bool = False) -> Iterator[None]:
        """Watch the block.

        Args:
            is_offline: Whether connections to servers fail, as without a network.
        """
        before, self._is_task = sys.getprofile(), False
        with self._watching_connections(is_offline):
            sys.setprofile(self._see)
            try:
                yield
            finally:
                sys.setprofile(before)

    @contextmanager
    def _watching_connections(self, is_offline: bool) -> Iterator[None]:
        """Note connections in the block, which profilers see too late to stop them."""
        connect, resolve = socket.socket.connect, socket.getaddrinfo

        def connect_here(own: socket.socket, address: Any) -> None:  # noqa: ANN401 - socket's
            self._note_connection(sys._getframe(1))
            if is_offline:
                raise ConnectionRefusedError("the contract suite has no network")
            connect(own, address)

        def resolve_here(*args: Any, **options: Any) -> Any:  # noqa: ANN401 - socket's
            self._note_connection(sys._getframe(1))
            if is_offline:
                raise socket.gaierror("the contract suite has no network")
            return resolve(*args, **options)

        with (
            _replacing(socket.socket, "connect", connect_here),
            _replacing(socket, "getaddrinfo", resolve_here),
        ):
            yield

    def _note_connection(self, frame: FrameType) -> None:
        if not self._is_task and threading.get_ident() == self._thread:
            problem = "connects to a server on the scheduling thread"
            self._note(self._own(frame), problem, _TASK)

    def submit(
        self,
        task: Callable[[], T],
        done: Callable[[T], None],
        *,
        blocks: bool = True,  # noqa: ARG002 - all tasks run alike
    ) -> None:
        """Run a background task, which may use real time, as an executor does."""
        before, self._is_task = sys.getprofile(), True
        sys.setprofile(None)
        try:
            result = task()
        finally:
            sys.setprofile(before)
            self._is_task = False
        done(result)

    def close(self) -> None:
        """Do nothing: no task is running."""

    def _see(self, frame: FrameType, event: str, called: object) -> None:
        if event == "c_call":
            self._see_builtin(frame, called)
        elif event == "call":
            self._see_loop(frame)
            self._see_cluster(frame)

    def _see_builtin(self, frame: FrameType, called: object) -> None:
        name, module = (
            getattr(called, attribute, None) for attribute in ("__name__", "__module__")
        )
        if module == "_thread" and name in _THREAD_STARTS:
            self._note(self._own(frame), "starts a thread", f"{_TIMER}, and {_TASK}")
        elif module == "time" and name == "sleep":
            problem = "blocks the scheduling thread with time.sleep()"
            self._note(self._own(frame), problem, _TIMER)
        elif name == "open" and module in _FILE_READERS:
            self._note_in_attempt(self._reader(frame), "opens a file", _FILE)
        elif name in _READING_NAMES and self._is_own(frame):
            reading = _reading(called)
            if reading:
                self._note(frame, f"reads a real clock with {reading}", _CLOCK)

    def _see_loop(self, frame: FrameType) -> None:
        """Note a function of an event loop that the plugin itself calls."""
        module = _module_of(frame).partition(".")[0]
        caller = frame.f_back
        if module in _LOOPS and caller is not None and self._is_own(caller):
            self._note(caller, f"uses {module}", f"{_TIMER}, and {_TASK}")

    def _see_cluster(self, frame: FrameType) -> None:
        """Note a call of ``handle.cluster`` that the plugin itself makes in a hook."""
        name = frame.f_code.co_name
        if name not in _CLUSTER_CALLS or _module_of(frame) not in _CLUSTER_PORTS:
            return
        caller = frame.f_back
        if caller is not None and self._is_own(caller):
            what = f"calls handle.cluster.{name}() on the scheduling thread"
            self._note_in_attempt(caller, what, _CLUSTER)

    def _note_in_attempt(self, frame: FrameType | None, what: str, remedy: str) -> None:
        if frame is not None and self._entry(frame) in _ATTEMPT_HOOKS:
            self._note(frame, what, remedy)

    def _reader(self, frame: FrameType | None) -> FrameType | None:
        """Return the function of the plugin that reads a file, as `_own` does."""
        own, above = self._own(frame), frame
        # Identity: frames are compared, not what they contain.
        while above is not None and above is not own:
            if _module_of(above).partition(".")[0] in _NOT_BY_PLUGINS:
                return None
            above = above.f_back
        return own

    def _is_own(self, frame: FrameType) -> bool:
        return _module_of(frame).partition(".")[0] in self._packages

    def _own(self, frame: FrameType | None) -> FrameType | None:
        """Return the nearest function of the plugin, unless the framework is nearer."""
        while frame is not None and not self._is_own(frame):
            if _module_of(frame).partition(".")[0] == "quaymaster":
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


@contextmanager
def _replacing(owner: object, name: str, value: object) -> Iterator[None]:
    """Replace an attribute, which may be inherited, in the block."""
    own = vars(owner)
    before = {name: own[name]} if name in own else {}
    setattr(owner, name, value)
    try:
        yield
    finally:
        delattr(owner, name)
        for each, original in before.items():
            setattr(owner, each, original)


def _module_of(frame: FrameType) -> str:
    return str(frame.f_globals.get("__name__", ""))


def _reading(called: object) -> str:
    """Return how a function that reads a clock is written, or empty."""
    try:
        return _READINGS.get(called, "")
    except TypeError:
        return ""  # a method of an object without a hash
