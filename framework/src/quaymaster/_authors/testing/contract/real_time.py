"""Watches which calls of a plugin use real time, threads or event loops, or block.

It also sees workers that use what belongs to the scheduling thread.
"""

import socket
import sys
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from datetime import date, datetime
from pathlib import PurePath
from types import FrameType
from typing import Any, Final

import attrs

from quaymaster._authors.testing.contract.blocking import stopping_blocking_calls
from quaymaster._authors.testing.contract.own_frames import (
    OwnFrames,
    module_of,
    packages_of,
)
from quaymaster._authors.testing.contract.replacing import replacing
from quaymaster._authors.testing.hook_arguments import HOOKS
from quaymaster._core.engine.handle import EngineHandle
from quaymaster._core.engine.object_callbacks import PluginInformers
from quaymaster._core.state.node_info import NodeInfo
from quaymaster._core.state.snapshot import Snapshot

__all__ = ["RealTimeUse", "RealTimeWatch"]

_CLOCK: Final = "read handle.clock.now(), which is virtual in simulations and tests"
_TIMER: Final = "set a timer with handle.clock.call_later"
_TASK: Final = "make calls that block with handle.run_in_background"
_FILE: Final = "read files when the plugin is built, or with handle.run_in_background"
_CLUSTER: Final = (
    "all pods wait meanwhile, so read handle.informers, and make calls with "
    "handle.run_in_background; preemption.Evictions does so for evictions"
)

_SCHEDULER: Final = (
    "that belongs to the scheduling thread: read it in reserve and keep the result in "
    "the CycleState, or call handle.cluster; what only reads and changes the "
    "scheduler, such as its waiting pods, needs no background task"
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
        "quaymaster._authors.testing.contract.bench_cluster",
        "quaymaster._authors.testing.contract.stored_objects",
        "quaymaster._authors.testing.declared_writes",
        "quaymaster._authors.testing.faults",
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

_NOT_ON_WORKERS: Final[Mapping[str, str]] = {
    f"{owner.__name__}.{method}": f"handle.{used}"
    for owner, methods in {
        EngineHandle: {
            name: name
            for name in (
                "informers",
                "nominated_pods",
                "pod_groups",
                "random",
                "snapshot",
                "trial",
                "waiting_pod",
                "waiting_pods",
            )
        },
        # A plugin may have kept these from its constructor.
        PluginInformers: dict.fromkeys(("get", "list", "changes"), "informers"),
        Snapshot: dict.fromkeys(("get", "__iter__", "__len__"), "snapshot"),
    }.items()
    for method, used in methods.items()
}
"""What belongs to the scheduling thread: a method -> what a plugin uses by it."""

_NODE_DATA: Final = ("node", "pods")
"""The attributes of `NodeInfo` that a plugin reads most."""

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
        plugin: The plugin's class.

    Attributes:
        uses: What it has seen.
    """

    def __init__(self, plugin: type) -> None:
        self._plugin = plugin
        self._frames = OwnFrames(packages_of(plugin))
        self._thread = threading.get_ident()
        self.uses: list[RealTimeUse] = []

    @contextmanager
    def watching(self, *, is_offline: bool = False) -> Iterator[None]:
        """Watch the block.

        Args:
            is_offline: Whether connections to servers fail, as without a network.
        """
        before = sys.getprofile()
        with (
            self._watching_connections(is_offline),
            self._watching_nodes(),
            stopping_blocking_calls(self._plugin, self._note),
        ):
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
            replacing(socket.socket, "connect", connect_here),
            replacing(socket, "getaddrinfo", resolve_here),
        ):
            yield

    @contextmanager
    def _watching_nodes(self) -> Iterator[None]:
        """Note workers that read a node which a hook has kept from the snapshot."""
        with ExitStack() as stack:
            for name in _NODE_DATA:
                stack.enter_context(replacing(NodeInfo, name, self._noted(name)))
            yield

    def _noted(self, name: str) -> property:
        """Return an attribute of nodes that notes the workers which read it."""
        slot = vars(NodeInfo)[name]

        def read(info: NodeInfo) -> object:
            frame: FrameType | None = sys._getframe(1)
            while frame is not None and module_of(frame) == NodeInfo.__module__:
                frame = frame.f_back
            own = frame if frame is not None and self._frames.is_own(frame) else None
            if own is not None and self._frames.is_on_worker(own):
                self._note(own, f"uses NodeInfo.{name} on a worker", _SCHEDULER)
            value: object = slot.__get__(info)
            return value

        return property(read, slot.__set__)

    def _note_connection(self, frame: FrameType) -> None:
        if threading.get_ident() == self._thread:
            problem = "connects to a server on the scheduling thread"
            self._note_here(self._frames.nearest(frame), problem, _TASK)

    def _see(self, frame: FrameType, event: str, called: object) -> None:
        if event == "c_call":
            self._see_builtin(frame, called)
        elif event == "call":
            self._see_loop(frame)
            self._see_cluster(frame)
            self._see_scheduler(frame)

    def _see_builtin(self, frame: FrameType, called: object) -> None:
        name, module = (
            getattr(called, attribute, None) for attribute in ("__name__", "__module__")
        )
        if module == "_thread" and name in _THREAD_STARTS:
            own = self._frames.nearest(frame)
            self._note_here(own, "starts a thread", f"{_TIMER}, and {_TASK}")
        elif name == "open" and module in _FILE_READERS:
            self._note_in_attempt(self._reader(frame), "opens a file", _FILE)
        elif name in _READING_NAMES and self._frames.is_own(frame):
            reading = _reading(called)
            if reading:
                self._note_here(frame, f"reads a real clock with {reading}", _CLOCK)

    def _see_loop(self, frame: FrameType) -> None:
        """Note a function of an event loop that the plugin itself calls."""
        module = module_of(frame).partition(".")[0]
        caller = frame.f_back
        if module in _LOOPS and caller is not None and self._frames.is_own(caller):
            self._note_here(caller, f"uses {module}", f"{_TIMER}, and {_TASK}")

    def _see_cluster(self, frame: FrameType) -> None:
        """Note a call of ``handle.cluster`` that the plugin itself makes in a hook."""
        name = frame.f_code.co_name
        if name not in _CLUSTER_CALLS or module_of(frame) not in _CLUSTER_PORTS:
            return
        caller = frame.f_back
        if caller is not None and self._frames.is_own(caller):
            what = f"calls handle.cluster.{name}() on the scheduling thread"
            self._note_in_attempt(caller, what, _CLUSTER)

    def _see_scheduler(self, frame: FrameType) -> None:
        """Note a worker of the plugin that uses what belongs to another thread."""
        used = _NOT_ON_WORKERS.get(frame.f_code.co_qualname)
        if used is None or not module_of(frame).startswith("quaymaster."):
            return
        caller = frame.f_back
        if caller is None or not self._frames.is_own(caller):
            return
        if self._frames.is_on_worker(caller):
            self._note(caller, f"uses {used} on a worker", _SCHEDULER)

    def _note_here(self, frame: FrameType | None, what: str, remedy: str) -> None:
        """Note a use on the scheduling thread; workers may use it."""
        if frame is not None and not self._frames.is_on_worker(frame):
            self._note(frame, what, remedy)

    def _note_in_attempt(self, frame: FrameType | None, what: str, remedy: str) -> None:
        if frame is not None and self._frames.entry(frame) in _ATTEMPT_HOOKS:
            self._note(frame, what, remedy)

    def _reader(self, frame: FrameType | None) -> FrameType | None:
        """Return the function of the plugin that reads a file, as `_own` does."""
        own, above = self._frames.nearest(frame), frame
        # Identity: frames are compared, not what they contain.
        while above is not None and above is not own:
            if module_of(above).partition(".")[0] in _NOT_BY_PLUGINS:
                return None
            above = above.f_back
        return own

    def _note(self, frame: FrameType, what: str, remedy: str) -> None:
        code = frame.f_code
        where = f"{PurePath(code.co_filename).name}:{frame.f_lineno}"
        problem = f"{code.co_name} ({where}) {what}: {remedy}"
        self.uses.append(RealTimeUse(self._frames.entry(frame), problem))


_READING_NAMES: Final = frozenset(
    text.removesuffix("()").rpartition(".")[2] for text in _READINGS.values()
)


def _reading(called: object) -> str:
    """Return how a function that reads a clock is written, or empty."""
    try:
        return _READINGS.get(called, "")
    except TypeError:
        return ""  # a method of an object without a hash
