"""Programs that run while a test needs them, and never longer."""

import contextlib
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Final, Self

__all__ = ["ProcessError", "Program", "eventually"]

# The kernel kills the program when the thread that started it ends, for any reason. So
# all programs are started by one thread, which lives as long as this process.
_starter: Final = ThreadPoolExecutor(1, thread_name_prefix="starter")
_LAUNCH: Final = """
import ctypes, os, signal, sys
if sys.platform == "linux":
    ctypes.CDLL(None).prctl(1, signal.SIGKILL)
    if os.getppid() != int(sys.argv[1]):
        os._exit(1)
os.execv(sys.argv[2], sys.argv[2:])
"""


class ProcessError(Exception):
    """A program did not start, or a condition did not hold in time."""


def eventually(
    holds: Callable[[], object],
    *,
    within: float = 30.0,
    what: str | Callable[[], str] = "it",
) -> None:
    """Wait until a condition holds.

    Args:
        holds: The condition, which is called repeatedly.
        within: The seconds to wait.
        what: The condition in words, for the message; or what is called then.

    Raises:
        ProcessError: The condition does not hold in time.
    """
    end = time.monotonic() + within
    pause = 0.005
    while not holds():
        if time.monotonic() > end:
            words = what if isinstance(what, str) else what()
            raise ProcessError(f"{words} did not come within {within:g} s")
        time.sleep(pause)
        pause = min(pause * 1.5, 0.25)


class Program:
    """A program in its own process group, which ends when this process does.

    As a context manager it is started and stopped.

    Args:
        command: Its path and arguments.
        log: The file to which its output is appended.
        is_ready: Whether it can be used; without this it is ready at once.
        environment: Further variables of its environment.
        within: The seconds until it must be ready.
    """

    def __init__(
        self,
        command: Sequence[str | Path],
        log: Path,
        *,
        is_ready: Callable[[], bool] | None = None,
        environment: Mapping[str, str] | None = None,
        within: float = 60.0,
    ) -> None:
        self.command = [str(word) for word in command]
        self.log = log
        self.name = Path(self.command[0]).name
        self._is_ready = is_ready
        self._environment = {**os.environ, **(environment or {})}
        self._within = within
        self._process: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    @property
    def pid(self) -> int:
        """The process id."""
        return self._running().pid

    @property
    def is_running(self) -> bool:
        """Whether it was started and has not ended."""
        return self._process is not None and self._process.poll() is None

    def start(self, *, wait: bool = True) -> None:
        """Start it, and wait until it is ready.

        Raises:
            ProcessError: It ends, or is not ready in time; the message has its last
            lines.
        """
        launch = [sys.executable, "-SEc", _LAUNCH, str(os.getpid()), *self.command]
        with self.log.open("ab") as log:
            self._process = _starter.submit(
                subprocess.Popen,
                launch,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                env=self._environment,
                start_new_session=True,
            ).result()
        if wait:
            self.wait_ready()

    def wait_ready(self) -> None:
        """Wait until it can be used.

        Raises:
            ProcessError: It ends, or is not ready in time; the message has its last
            lines.
        """
        try:
            eventually(self._ready_or_ended, within=self._within, what=self.name)
        except ProcessError as error:
            self.kill()
            raise ProcessError(f"{error}\n{self._last_lines()}") from None
        if not self.is_running:
            code = self._running().returncode
            raise ProcessError(f"{self.name} ended: {code}\n{self._last_lines()}")

    def stop(self, *, within: float = 15.0) -> int | None:
        """Send SIGTERM; kill it if it has not ended after some seconds.

        Returns:
            Its exit code; None if it was not started.
        """
        if self._process is None:
            return None
        self.send(signal.SIGTERM)
        self.send(signal.SIGCONT)
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(within)
        self.kill()
        return self._process.returncode

    def kill(self) -> None:
        """Kill it at once."""
        self.send(signal.SIGKILL)
        if self._process is not None:
            self._process.wait()

    def restart(self) -> None:
        """Stop it and start it again."""
        self.stop()
        self.start()

    def pause(self) -> None:
        """Stop it (SIGSTOP)."""
        self.send(signal.SIGSTOP)

    def resume(self) -> None:
        """Continue it (SIGCONT)."""
        self.send(signal.SIGCONT)

    def send(self, number: signal.Signals) -> None:
        """Send a signal to it and its children; do nothing if it has ended."""
        if self._process is not None:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self._process.pid, number)

    def wait(self, *, within: float = 30.0) -> int:
        """Wait for its end.

        Returns:
            Its exit code.
        """
        return self._running().wait(within)

    def cpu_seconds(self) -> float:
        """Return the CPU seconds of it and its children so far."""
        ticks = 0
        for path in Path("/proc").glob("[0-9]*/stat"):
            with contextlib.suppress(OSError):
                fields = path.read_text().rpartition(")")[2].split()
                if int(fields[2]) == self.pid:  # of its process group
                    ticks += sum(map(int, fields[11:15]))
        return ticks / os.sysconf("SC_CLK_TCK")

    def _running(self) -> "subprocess.Popen[bytes]":
        if self._process is None:
            raise ProcessError(f"{self.name} was not started")
        return self._process

    def _ready_or_ended(self) -> bool:
        return not self.is_running or self._is_ready is None or self._is_ready()

    def _last_lines(self) -> str:
        lines = self.log.read_text(errors="replace").splitlines()
        return "\n".join(lines[-12:])
