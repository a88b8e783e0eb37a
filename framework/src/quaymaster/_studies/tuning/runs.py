"""Makes the runs of a tuning, each once."""

from collections.abc import Generator, Mapping, Sequence
from contextlib import AbstractContextManager, closing
from pathlib import Path

import attrs

from quaymaster._base.errors import Problem, QuaymasterError
from quaymaster._studies.experiments.ended import RunFailure
from quaymaster._studies.experiments.errors import ExperimentErrors
from quaymaster._studies.experiments.experiment import Cell
from quaymaster._studies.experiments.fingerprints import Fingerprints
from quaymaster._studies.experiments.metrics import Value
from quaymaster._studies.experiments.store import ResultStore
from quaymaster._studies.experiments.used_files import UsedFiles
from quaymaster._studies.experiments.workers import run_in_processes
from quaymaster._studies.tuning.left_out import LeftOutPods
from quaymaster._studies.tuning.tuning import Tuning

__all__ = ["FailedRunError", "Runs"]


class FailedRunError(QuaymasterError):
    """A run of a configuration has failed."""


class Runs:
    """The runs of a tuning; finished runs are stored and not repeated.

    Args:
        tuning: The tuning.
        folder: The folder of stored results.
        workers: How many processes make runs.

    Attributes:
        made: How many runs were made now.
        leaving_out: What the objectives leave out, over all runs.

    Raises:
        ExperimentErrors: A file cannot be read, or the folder not be written to.
    """

    def __init__(self, tuning: Tuning, folder: Path, workers: int) -> None:
        self._tuning = tuning
        self._workers = workers
        self.made = 0
        self.leaving_out = LeftOutPods(tuning)
        try:
            self._store = ResultStore(folder, UsedFiles(tuning.experiment.folder))
            self._fingerprints = Fingerprints(tuning.experiment)
        except OSError as error:
            where = str(error.filename or tuning.file)
            message = (error.strerror or str(error)).lower()
            raise ExperimentErrors([Problem(where=where, message=message)]) from error

    def in_order(self, cells: Sequence[Cell]) -> Generator[Sequence[float]]:
        """Make runs; yield the value of each objective for each run, in order.

        The caller may close it; then no more runs start.

        Args:
            cells: The runs.

        Raises:
            FailedRunError: A run failed.
            ExperimentErrors: The experiment does not measure an objective.
        """
        keys = [self._key(cell) for cell in cells]
        missing = [n for n, key in enumerate(keys) if not self._store.has(key)]
        requested = [cells[n] for n in missing]
        runs = run_in_processes(
            self._tuning.experiment, requested, workers=self._workers
        )
        done = set(range(len(cells))) - set(missing)
        with closing(runs):
            for number, cell in enumerate(cells):
                # Runs end in another order than that of the cells.
                while number not in done:
                    run = next(runs)
                    if isinstance(run.outcome, RunFailure):
                        failed = cells[missing[run.number]]
                        raise FailedRunError(f"{failed}: {run.outcome.cause}")
                    self._store.write(keys[missing[run.number]], run.outcome)
                    done.add(missing[run.number])
                    self.made += 1
                values = self._store.read(keys[number]).values
                self.leaving_out.note(values)
                yield self._objectives(cell, values)

    def making(
        self, cells: Sequence[Cell]
    ) -> "AbstractContextManager[Generator[Sequence[float]]]":
        """Return `in_order` as a context; no run goes on after its exit."""
        return closing(self.in_order(cells))

    def all(self, cells: Sequence[Cell]) -> Sequence[Sequence[float]]:
        """Make runs; return the value of each objective for each run."""
        return list(self.in_order(cells))

    def _key(self, cell: Cell) -> str:
        """Return the hash of a run, independent of the configuration's name."""
        plain = attrs.evolve(cell.profile, name="", values={})
        return self._fingerprints.of(attrs.evolve(cell, profile=plain))

    def _objectives(self, cell: Cell, values: Mapping[str, Value]) -> Sequence[float]:
        objectives = []
        for index, objective in enumerate(self._tuning.objectives):
            value = values.get(objective.metric)
            if not isinstance(value, int | float) or isinstance(value, bool):
                columns = ", ".join(
                    name
                    for name, value in values.items()
                    if isinstance(value, int | float)
                )
                got = "none" if value is None else repr(value)
                message = (
                    f"expected a column with numbers ({columns}), got "
                    f"{objective.metric!r}, which is {got} in the run {cell}"
                )
                where = f"{self._tuning.file}: objectives[{index}].metric"
                raise ExperimentErrors([Problem(where=where, message=message)])
            objectives.append(float(value))
        return objectives
