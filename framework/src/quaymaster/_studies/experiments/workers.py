"""Makes runs in several processes on this machine."""

import contextlib
import multiprocessing
import os
import signal
import threading
from collections import Counter, deque
from collections.abc import Generator, Sequence
from multiprocessing.connection import Connection, wait
from multiprocessing.context import ForkServerContext, SpawnContext
from typing import Final, TypeAlias, cast

import attrs

from quaymaster._studies.experiments.ended import (
    MOST_TRIES,
    Ended,
    RunFailure,
    try_cell,
)
from quaymaster._studies.experiments.experiment import Cell, Experiment
from quaymaster._studies.experiments.running import RunResult

__all__ = ["run_in_processes", "usable_processors"]

_Outcome: TypeAlias = RunResult | RunFailure
_Pipe: TypeAlias = "Connection[object, object]"

_FORK_SERVER: Final = "forkserver"
_PRELOADED: Final = "quaymaster._studies.experiments.running"


def usable_processors() -> int:
    """Return how many processors this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def run_in_processes(
    experiment: Experiment, cells: Sequence[Cell], *, workers: int, verify: int = 0
) -> Generator[Ended]:
    """Make runs in separate processes, and yield each when it has ended.

    A process that dies is replaced, and its run is made again, up to three times.

    Args:
        experiment: The experiment.
        cells: The runs to make.
        workers: How many processes.
        verify: As for `run_cell`.
    """
    pool = _Pool(experiment, cells, verify)
    try:
        yield from pool.play(min(workers, len(cells)))
    finally:
        pool.close()


@attrs.define(eq=False)
class _Worker:
    """A process, and the number of its run."""

    process: multiprocessing.process.BaseProcess
    pipe: _Pipe
    number: int


class _Pool:
    """The processes of a sweep."""

    def __init__(
        self, experiment: Experiment, cells: Sequence[Cell], verify: int
    ) -> None:
        self._experiment = experiment
        self._cells = cells
        self._verify = verify
        self._waiting = deque(range(len(cells)))
        self._deaths: Counter[int] = Counter()
        self._busy: dict[_Pipe, _Worker] = {}
        self._context = _context()

    def play(self, workers: int) -> Generator[Ended]:
        """Make all runs."""
        while self._waiting or self._busy:
            while self._waiting and len(self._busy) < workers:
                self._start()
            for pipe in wait(list(self._busy)):
                ended = self._hear(self._busy[cast(_Pipe, pipe)])
                if ended is not None:
                    yield ended

    def close(self) -> None:
        """End all processes."""
        for worker in self._busy.values():
            worker.process.kill()
        # A second loop, so that all processes end at the same time.
        for worker in self._busy.values():
            worker.process.join()
            worker.pipe.close()
        self._busy.clear()

    def _start(self) -> None:
        """Start a process with the next run."""
        ours, theirs = self._context.Pipe()
        process = self._context.Process(
            target=_serve, args=(theirs, self._experiment, self._verify), daemon=True
        )
        process.start()
        # Open in the parent, it would keep `recv` waiting when the process dies.
        theirs.close()
        worker = _Worker(process, ours, self._waiting.popleft())
        self._busy[ours] = worker
        self._ask(worker)

    def _ask(self, worker: _Worker) -> None:
        # If the process is dead, reading from its pipe fails next.
        with contextlib.suppress(OSError):
            worker.pipe.send(self._cells[worker.number])

    def _hear(self, worker: _Worker) -> Ended | None:
        """Read from a process: its run or the process itself has ended."""
        number = worker.number
        try:
            outcome = cast(_Outcome, worker.pipe.recv())
        except (EOFError, OSError):
            return self._bury(worker)
        if self._waiting:
            worker.number = self._waiting.popleft()
            self._ask(worker)
        else:
            self._dismiss(worker)
        return Ended(number, outcome)

    def _dismiss(self, worker: _Worker) -> None:
        del self._busy[worker.pipe]
        # A process ends by itself when its pipe is closed.
        worker.pipe.close()
        worker.process.join()

    def _bury(self, worker: _Worker) -> Ended | None:
        """Requeue the run of a dead process, unless several processes died of it."""
        self._dismiss(worker)
        number = worker.number
        self._deaths[number] += 1
        if self._deaths[number] < MOST_TRIES:
            # First, so that a run that ends processes is found early.
            self._waiting.appendleft(number)
            return None
        code = worker.process.exitcode
        cause = f"its process ended {MOST_TRIES} times, at last with exit code {code}"
        return Ended(number, RunFailure(cause=cause))


def _serve(pipe: _Pipe, experiment: Experiment, verify: int) -> None:
    """Make the requested runs until the parent closes the pipe."""
    # Ctrl-C in a terminal reaches this process too; the parent ends it instead.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with_parent, daemon=True).start()
    try:
        while True:
            cell = cast(Cell, pipe.recv())
            pipe.send(try_cell(experiment, cell, verify))
    except (EOFError, BrokenPipeError, ConnectionResetError):
        return


def _end_with_parent() -> None:
    """End this process when the sweep is killed: its result would not be read.

    The thread only waits, so it does not slow the engine down.
    """
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)


def _context() -> SpawnContext | ForkServerContext:
    """Return the way to start processes that share nothing with this one.

    A server that has imported the engine forks them, which takes a few milliseconds
    instead of a second or two. Without such a server, each process imports everything.
    """
    if _FORK_SERVER not in multiprocessing.get_all_start_methods():
        return multiprocessing.get_context("spawn")
    context = multiprocessing.get_context(_FORK_SERVER)
    context.set_forkserver_preload([_PRELOADED])
    return context
