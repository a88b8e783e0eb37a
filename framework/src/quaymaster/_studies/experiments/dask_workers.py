"""Makes runs on the workers of a Dask cluster."""

import logging
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
from quaymaster._studies.experiments.fingerprints import Surroundings
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
    surroundings: Surroundings,
    verify: int = 0,
) -> Generator[Ended]:
    """Make runs on a Dask cluster, and yield each when it has ended.

    If a worker is lost, Dask makes its run again on another one. A run during which
    several workers died is a failure. The workers need the same packages, and the
    experiment's files under the same paths.

    Args:
        experiment: The experiment.
        cells: The runs to make.
        scheduler: The address of the scheduler.
        surroundings: The code and the versions in use, which must be the same on the
            workers.
        verify: As for `run_cell`.

    Raises:
        ExperimentErrors: The scheduler cannot be reached, or is gone.
    """
    # Its messages about a lost scheduler are long, and the error says the same.
    logging.getLogger("distributed").setLevel(logging.CRITICAL)
    with _connected(scheduler) as client:
        # The experiment is a task of its own, so that it is not lost with a worker.
        placed = attrs.evolve(experiment, file=str(Path(experiment.file).absolute()))
        shared = client.submit(_same, placed, pure=False)
        futures = {
            client.submit(_make, shared, cell, surroundings, verify, pure=False): number
            for number, cell in enumerate(cells)
        }
        for future in as_completed(futures, loop=client.loop):  # type: ignore[no-untyped-call]  # distributed is
            yield Ended(futures[future], _outcome_of(future, scheduler))
            # The caller keeps the result; the workers need not keep it as well.
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


def _outcome_of(future: Future[object], scheduler: str) -> RunResult | RunFailure:
    """Return the outcome of a run.

    Raises:
        ExperimentErrors: The scheduler is gone.
    """
    try:
        outcome = future.result()
    except KilledWorker as error:
        return RunFailure(cause=f"its workers ended: {' '.join(str(error).split())}")
    # Runs catch their own exceptions, so these come from the connection.
    except (CancelledError, OSError) as error:
        message = "the scheduler is gone; what was done stays done"
        problem = Problem(where=f"--scheduler {scheduler}", message=message)
        raise ExperimentErrors([problem]) from error
    assert isinstance(outcome, RunResult | RunFailure)
    return outcome


def _same(experiment: Experiment) -> Experiment:
    return experiment


def _make(
    experiment: Experiment, cell: Cell, surroundings: Surroundings, verify: int
) -> RunResult | RunFailure:
    """Make a run on a worker, if its code and versions are those of the sweep."""
    difference = surroundings.difference()
    if difference:
        return RunFailure(cause=f"worker on {platform.node()}: {difference}")
    with _ONE_AT_A_TIME:
        return try_cell(experiment, cell, verify)
