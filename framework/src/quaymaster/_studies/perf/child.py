"""Runs a workload in a separate process.

So no workload affects another's peak memory or the work of its garbage collector.
"""

import multiprocessing
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from multiprocessing.connection import Connection

import attrs

from quaymaster._base.errors import QuaymasterError
from quaymaster._base.garbage import collector_calmed
from quaymaster._base.versions.kubernetes import DEFAULT_KUBERNETES, Kubernetes
from quaymaster._studies.perf.load import Workload
from quaymaster._studies.perf.runner import (
    FAILED,
    Outcome,
    outcome_if_left_out,
    run_workload,
)

__all__ = ["run_apart"]


@attrs.frozen
class _Mistake:
    """A mistake in the user's input, as text."""

    text: str


def run_apart(
    workload: Workload,
    *,
    config_file: str | None = None,
    kubernetes: Kubernetes = DEFAULT_KUBERNETES,
    seed: int = 0,
    verify: int = 0,
    on_progress: Callable[[int], None] | None = None,
) -> Outcome:
    """Run a workload in a new process; the arguments are those of `run_workload`.

    Raises:
        QuaymasterError: The input is wrong.
    """
    left_out = outcome_if_left_out(workload, kubernetes)
    if left_out is not None:
        return left_out
    # A forked process would begin with the memory of this one.
    context = multiprocessing.get_context("spawn")
    ours, theirs = context.Pipe(duplex=False)
    process = context.Process(
        target=_run,
        args=(theirs, workload, config_file, kubernetes, seed, verify),
        daemon=True,
    )
    with _deaf_to_interrupts():
        process.start()
    # Open in the parent, it would keep `recv` waiting when the process dies.
    theirs.close()
    try:
        return _listen(ours, workload, on_progress)
    finally:
        process.kill()
        process.join()


@contextmanager
def _deaf_to_interrupts() -> Iterator[None]:
    """Ignore Ctrl-C inside the block; a process that starts there ignores it for good.

    A terminal interrupts the child, too, which would print a traceback. Its parent
    ends it instead.
    """
    previous = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, previous)


def _listen(
    connection: "Connection[object, object]",
    workload: Workload,
    on_progress: Callable[[int], None] | None,
) -> Outcome:
    while True:
        try:
            message = connection.recv()
        except EOFError:
            return Outcome(
                workload=workload.name,
                topic=workload.topic,
                threshold=workload.threshold,
                status=FAILED,
                reason="its process ended without a result",
            )
        if isinstance(message, Outcome):
            return message
        if isinstance(message, _Mistake):
            raise QuaymasterError(message.text)
        if isinstance(message, int) and on_progress is not None:
            on_progress(message)


def _run(
    connection: "Connection[object, object]",
    workload: Workload,
    config_file: str | None,
    kubernetes: Kubernetes,
    seed: int,
    verify: int,
) -> None:
    try:
        with collector_calmed():
            outcome: object = run_workload(
                workload,
                config_file=config_file,
                kubernetes=kubernetes,
                seed=seed,
                verify=verify,
                on_progress=connection.send,
            )
    except QuaymasterError as error:
        outcome = _Mistake(str(error))
    connection.send(outcome)
