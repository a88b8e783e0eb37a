"""Makes runs on the workers of a Dask cluster."""

import platform
import threading
from collections.abc import Generator, Sequence
from concurrent.futures import CancelledError
from pathlib import Path
from typing import Final

import attrs
from distributed import Client, Future, KilledWorker, as_completed

from quaymaster._base.errors import Problem
from quaymaster._studies.experiments.ended import Ended, RunFailure, try_cell
from quaymaster._studies.experiments.errors import ExperimentErrors
from quaymaster._studies.experiments.experiment import Cell, Experiment
from quaymaster._studies.experiments.fingerprints import Code, code_of
from quaymaster._studies.experiments.running import RunResult

__all__ = ["run_on_dask"]

_SECONDS_TO_CONNECT: Final = 10

_ONE_AT_A_TIME: Final = threading.Lock()
"""A second busy thread slows an engine down many times: see docs/explanation/speed."""


def run_on_dask(
    experiment: Experiment,
    cells: Sequence[Cell],
    *,
    scheduler: str,
    code: Sequence[Code],
    verify: int = 0,
) -> Generator[Ended]:
    """Make runs on a Dask cluster, and yield each when it has ended.

    Dask makes what is lost with a worker again, on another one; a run that several
    workers have died of is a failure. The workers need the same packages, and the
    experiment's files under the same paths.

    Args:
        experiment: The experiment.
        cells: Its runs that are to be made.
        scheduler: The address of the scheduler.
        code: The packages that take part, which have to be the same on the workers.
        verify: As for `run_cell`.

    Raises:
        ExperimentErrors: The scheduler cannot be reached, or is gone.
    """
    with _connected(scheduler) as client:
        # It is a task itself, so that it is not lost with a worker.
        placed = attrs.evolve(experiment, file=str(Path(experiment.file).absolute()))
        shared = client.submit(_same, placed, pure=False)
        futures = {
            client.submit(_make, shared, cell, code, verify, pure=False): number
            for number, cell in enumerate(cells)
        }
        for future in as_completed(futures, loop=client.loop):  # type: ignore[no-untyped-call]  # distributed is
            yield Ended(futures[future], _told(future, scheduler))
            # The caller keeps it; the workers need not keep it as well.
            future.release()


def _connected(scheduler: str) -> Client:
    try:
        return Client(  # type: ignore[no-untyped-call]  # distributed is
            scheduler, timeout=_SECONDS_TO_CONNECT, set_as_default=False
        )
    except (OSError, ValueError) as error:
        cause = " ".join(str(error).split())
        problem = Problem(where=f"--scheduler {scheduler}", message=cause)
        raise ExperimentErrors([problem]) from error


def _told(future: Future[object], scheduler: str) -> RunResult | RunFailure:
    """What came of a run.

    Raises:
        ExperimentErrors: The scheduler is gone.
    """
    try:
        told = future.result()
    except KilledWorker as error:
        return RunFailure(cause=f"its workers ended: {' '.join(str(error).split())}")
    # Runs catch what they raise themselves, so these are of the connection.
    except (CancelledError, OSError) as error:
        message = "the scheduler is gone; what was done stays done"
        problem = Problem(where=f"--scheduler {scheduler}", message=message)
        raise ExperimentErrors([problem]) from error
    assert isinstance(told, RunResult | RunFailure)
    return told


def _same(experiment: Experiment) -> Experiment:
    return experiment


def _make(
    experiment: Experiment, cell: Cell, code: Sequence[Code], verify: int
) -> RunResult | RunFailure:
    """Make a run on a worker, if its packages are those of the sweep."""
    for one in code:
        if code_of(one.package).sha256 != one.sha256:
            host = platform.node()
            cause = f"worker on {host}: has another version of package {one.package!r}"
            return RunFailure(cause=cause)
    with _ONE_AT_A_TIME:
        return try_cell(experiment, cell, verify)
