"""Makes all runs of an experiment, and writes the tables of the results."""

import hashlib
import importlib.util
import math
import time
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import closing
from datetime import UTC, datetime
from importlib import metadata
from os import PathLike
from pathlib import Path
from typing import TypeAlias

import attrs

from quaymaster._base.displayed import Tabular
from quaymaster._base.errors import Problem
from quaymaster._base.files import write_whole
from quaymaster._base.missing_packages import not_installed
from quaymaster._studies.experiments.claims import Claims
from quaymaster._studies.experiments.ended import Ended, RunFailure, try_cell
from quaymaster._studies.experiments.errors import ExperimentErrors
from quaymaster._studies.experiments.experiment import Cell, Experiment
from quaymaster._studies.experiments.fingerprints import Fingerprints
from quaymaster._studies.experiments.offers import METRICS
from quaymaster._studies.experiments.provenance import provenance
from quaymaster._studies.experiments.repeating import differing_repetitions
from quaymaster._studies.experiments.running import RunResult
from quaymaster._studies.experiments.store import ResultStore, write_csv
from quaymaster._studies.experiments.used_files import UsedFiles
from quaymaster._studies.experiments.workers import run_in_processes, usable_processors

__all__ = ["FailedRun", "SweepProgress", "SweepProgressFn", "SweepResult", "sweep"]


@attrs.frozen(kw_only=True)
class SweepProgress:
    """The progress of a sweep.

    Attributes:
        done: How many runs are done, including those of earlier sweeps.
        failed: How many runs have failed.
        total: The number of runs.
        seconds_left: The estimated time of the remaining runs; None before the first
            run has ended.
    """

    done: int
    failed: int
    total: int
    seconds_left: float | None


SweepProgressFn: TypeAlias = Callable[[SweepProgress], None]
"""Called before the first run, and after each."""


@attrs.frozen(kw_only=True)
class FailedRun:
    """A run that has no result.

    Attributes:
        cell: The run.
        cause: The cause.
        traceback: The traceback of an exception that is not the framework's own.
    """

    cell: Cell
    cause: str
    traceback: str = attrs.field(default="", repr=False)


@attrs.frozen(kw_only=True)
class SweepResult(Tabular):
    """The result of a sweep.

    Attributes:
        folder: The folder of the results.
        runs: The runs with a result, in order, and their results.
        total: How many runs there are.
        made: How many runs were made now, and have not failed.
        failed: The failed runs.
        missing: How many were not tried because the sweep stopped at a failure, or
            because other shards make them.
        seconds: The duration of this sweep.
        cpu_seconds: The processor time of all runs with a result, whenever they were
            made.
        partial_metrics: The metrics that have statistics without pods which never got a
            node or have not ended, by `Column.leaves_out`.
    """

    folder: Path
    runs: tuple[tuple[Cell, RunResult], ...] = attrs.field(repr=False)
    total: int
    made: int
    failed: tuple[FailedRun, ...]
    missing: int
    seconds: float
    cpu_seconds: float
    partial_metrics: tuple[str, ...] = ()


def sweep(
    experiment: Experiment,
    folder: str | PathLike[str],
    *,
    workers: int | None = None,
    scheduler: str = "",
    verify: int = 0,
    stop_at_failure: bool = False,
    shard: tuple[int, int] | None = None,
    on_progress: SweepProgressFn | None = None,
) -> SweepResult:
    """Make all runs of an experiment that are not done yet, and write the tables.

    It may be ended at any moment and called again: finished runs are not repeated, and
    the tables are the same in the end. A script that calls it needs the line ``if
    __name__ == "__main__":``, since runs are made in separate processes.

    It writes ``results.parquet`` and ``results.csv``, with one row for each run;
    ``curves.parquet`` and ``curves.csv``, if a metric returns curves, with one row for
    each point; ``runs.csv`` with the times of the runs and the causes of failures; and
    ``provenance.json``.

    Args:
        experiment: The experiment.
        folder: The folder of the results.
        workers: How many processes to use on this machine; by default one per
            processor. A single run is made in this process.
        scheduler: The address of a Dask scheduler, whose workers make the runs instead;
            empty for none.
        verify: Repeat every Nth decision with the plain algorithm; a run in which one
            differs fails. 0 for none. Finished runs are not repeated.
        stop_at_failure: Whether the first failed run ends the sweep.
        shard: ``(2, 8)`` makes every eighth run, from the second on, unless another
            process is making it; None makes all. The tables have all finished runs.
        on_progress: Called with the progress.

    Raises:
        ExperimentErrors: A library is missing, a file cannot be read, or the scheduler
            cannot be reached. If it is lost later, the tables of the finished runs are
            written first.
        ValueError: The number of the shard is not from 1 to that of all shards.
    """
    if shard is not None and not 1 <= shard[0] <= shard[1]:
        raise ValueError(
            f"shard: expected a number from 1 to {shard[1]}, got {shard[0]}"
        )
    return _Sweep(experiment, Path(folder)).play(
        workers=usable_processors() if workers is None else workers,
        scheduler=scheduler,
        verify=verify,
        stop_at_failure=stop_at_failure,
        shard=shard,
        on_progress=on_progress,
    )


def _partial_metrics(experiment: Experiment) -> tuple[str, ...]:
    return tuple(
        name
        for name, used in experiment.metrics.items()
        if any(column.leaves_out for column in METRICS.columns(used))
    )


class _Sweep:
    """A sweep in progress."""

    def __init__(self, experiment: Experiment, folder: Path) -> None:
        _check_libraries()
        self._experiment = experiment
        self._folder = folder
        try:
            self._fingerprints = Fingerprints(experiment)
            self._store = ResultStore(folder, UsedFiles(experiment.folder))
        except OSError as error:
            where = str(error.filename or experiment.file)
            message = error.strerror or str(error)
            problem = Problem(where=where, message=message.lower())
            raise ExperimentErrors([problem]) from error
        self._cells = experiment.cells
        self._is_single = len(self._cells) == 1
        self._keys = [self._fingerprints.of(cell) for cell in self._cells]
        self._failed: dict[int, RunFailure] = {}
        self._claims: Claims | None = None
        self._made: set[int] = set()
        self._began = time.perf_counter()
        self._began_at = datetime.now(UTC)

    def play(
        self,
        *,
        workers: int,
        scheduler: str,
        verify: int,
        stop_at_failure: bool,
        shard: tuple[int, int] | None,
        on_progress: SweepProgressFn | None,
    ) -> SweepResult:
        missing = [
            number for number, key in enumerate(self._keys) if not self._store.has(key)
        ]
        if shard is not None:
            with closing(Claims(self._store.folder)) as claims:
                missing = [
                    number
                    for number in missing
                    if number % shard[1] == shard[0] - 1
                    # Last, so that runs of other shards are not claimed.
                    and claims.take(self._keys[number])
                ]
                self._claims = claims
                return self._make(
                    missing, workers, scheduler, verify, stop_at_failure, on_progress
                )
        return self._make(
            missing, workers, scheduler, verify, stop_at_failure, on_progress
        )

    def _make(
        self,
        missing: Sequence[int],
        workers: int,
        scheduler: str,
        verify: int,
        stop_at_failure: bool,
        on_progress: SweepProgressFn | None,
    ) -> SweepResult:
        """Make the missing runs, and write the tables of all that are done."""
        report = on_progress or (lambda _: None)
        report(self._progress(len(missing)))
        if missing:
            cells = [self._cells[number] for number in missing]
            runs = self._run(cells, workers, scheduler, verify)
            try:
                for run in runs:
                    self._note(missing[run.number], run)
                    report(self._progress(len(missing)))
                    if self._failed and stop_at_failure:
                        break
            except ExperimentErrors:
                self._finish(scheduler, workers)
                raise
            finally:
                # A generator that is left early ends its processes only when it is
                # closed.
                runs.close()
        return self._finish(scheduler, workers)

    def _run(
        self, cells: Sequence[Cell], workers: int, scheduler: str, verify: int
    ) -> Generator[Ended]:
        if not scheduler:
            # Starting a process takes a second.
            if self._is_single:
                return self._run_here(verify)
            return run_in_processes(
                self._experiment, cells, workers=workers, verify=verify
            )
        # Part of the extra `dask`, which may not be installed.
        from quaymaster._studies.experiments.dask_workers import run_on_dask  # noqa: PLC0415

        return run_on_dask(
            self._experiment,
            cells,
            scheduler=scheduler,
            surroundings=self._fingerprints.surroundings,
            verify=verify,
        )

    def _run_here(self, verify: int) -> Generator[Ended]:
        """Make the only run in this process."""
        yield Ended(0, try_cell(self._experiment, self._cells[0], verify))

    def _note(self, number: int, ended: Ended) -> None:
        outcome = ended.outcome
        if isinstance(outcome, RunFailure):
            self._failed[number] = outcome
            return
        # A file may have been edited during the sweep, or differ on that machine: under
        # this key, the result would count as one of the files here.
        changed = self._store.changed(outcome.used)
        if changed:
            cause = f"its process on {outcome.host} used another version of {changed}"
            self._failed[number] = RunFailure(cause=cause)
            return
        # Before the claim ends: otherwise another shard might find neither claim nor
        # result, and make the run again.
        self._store.write(self._keys[number], outcome)
        if self._claims is not None:
            self._claims.release(self._keys[number])
        self._made.add(number)

    def _progress(self, missing: int) -> SweepProgress:
        over = len(self._made) + len(self._failed)
        seconds = time.perf_counter() - self._began
        total = len(self._cells)
        return SweepProgress(
            done=total - missing + len(self._made),
            failed=len(self._failed),
            total=total,
            # Elapsed time for each ended run: the number of processes is in it already.
            seconds_left=seconds / over * (missing - over) if over else None,
        )

    def _finish(self, scheduler: str, workers: int) -> SweepResult:
        """Write the tables, and return the result."""
        # Needs the extra `sweep`, which was checked at the beginning.
        from quaymaster._studies.experiments.tables import write_results  # noqa: PLC0415

        every = range(len(self._cells))
        results = {
            number: self._store.read(key)
            for number, key in enumerate(self._keys)
            if self._store.has(key)
        }
        self._reject_differing(results)
        runs = [(self._cells[number], result) for number, result in results.items()]
        rows = [(cell.labels, result) for cell, result in runs]
        labels = self._experiment.labels
        write_results(self._folder, labels, rows, self._metadata())
        write_csv(
            self._folder / "runs.csv",
            ["run", *labels, "status", "seconds", "cpu_seconds", "host", "cause"],
            (self._line(number, results.get(number)) for number in every),
        )
        sweep = SweepResult(
            folder=self._folder,
            runs=tuple(runs),
            total=len(self._cells),
            # A run whose repetition differs was made, but counts as failed.
            made=len(self._made - self._failed.keys()),
            failed=tuple(
                FailedRun(
                    cell=self._cells[number],
                    cause=failure.cause,
                    traceback=failure.traceback,
                )
                for number, failure in sorted(self._failed.items())
            ),
            missing=len(self._cells) - len(results) - len(self._failed),
            seconds=time.perf_counter() - self._began,
            cpu_seconds=math.fsum(result.cpu_seconds for result in results.values()),
            partial_metrics=_partial_metrics(self._experiment),
        )
        here = "one process" if self._is_single else f"{workers} processes"
        self._write_provenance(sweep, scheduler or here)
        return sweep

    def _metadata(self) -> Mapping[str, str]:
        """Return the facts for Parquet files: the same for all who make the runs."""
        experiment = self._experiment
        runs = hashlib.sha256("\n".join(self._keys).encode()).hexdigest()
        return {
            "quaymaster.version": metadata.version("quaymaster"),
            "quaymaster.experiment": experiment.name,
            "quaymaster.experiment.sha256": experiment.sha256,
            "quaymaster.runs.sha256": runs,
            "quaymaster.kubernetes": experiment.kubernetes.version,
        }

    def _reject_differing(self, results: dict[int, RunResult]) -> None:
        """Count repetitions as failed whose results differ from the first one's."""
        runs = [(self._cells[number], result) for number, result in results.items()]
        numbers = {id(self._cells[number]): number for number in results}
        for cell, cause in differing_repetitions(self._experiment, runs):
            number = numbers[id(cell)]
            self._failed[number] = RunFailure(cause=cause)
            del results[number]

    def _line(self, number: int, result: RunResult | None) -> Sequence[object]:
        """Return the columns of a run in ``runs.csv``."""
        labels = self._cells[number].labels
        named = [labels.get(name) for name in self._experiment.labels]
        facts: Sequence[object] = ("missing", None, None, None, None)
        failure = self._failed.get(number)
        if result is not None:
            facts = ("done", result.seconds, result.cpu_seconds, result.host, None)
        elif failure is not None:
            facts = ("failed", None, None, None, failure.cause)
        return [self._keys[number], *named, *facts]

    def _write_provenance(self, result: SweepResult, made_by: str) -> None:
        session = {
            "runs": result.total,
            "failed": len(result.failed),
            "cpuSeconds": result.cpu_seconds,
            "usedFiles": dict(
                sorted(item for _, run in result.runs for item in run.used.items())
            ),
            "lastSession": {
                "began": self._began_at.isoformat(timespec="seconds"),
                "seconds": result.seconds,
                "runs": result.made,
                "madeBy": made_by,
            },
        }
        text = provenance(self._experiment, self._fingerprints, session)
        write_whole(self._folder / "provenance.json", text)


def _check_libraries() -> None:
    if importlib.util.find_spec("pyarrow") is None:
        message = not_installed(["pyarrow"], "sweep")
        raise ExperimentErrors([Problem(where="sweep", message=message)])
