"""Records simulations."""

import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final

from quaymaster._api.objects import ApiObject
from quaymaster._clusters.inmemory.limits import MAX_PODS
from quaymaster._core.config.kinds import declared_kinds
from quaymaster._core.config.model import SchedulerConfig
from quaymaster._core.contract.options import SchedulerOptions
from quaymaster._core.registry.registry import PluginRegistry
from quaymaster._studies.recording.clusters import ClusterRecorder
from quaymaster._studies.recording.files import RecordError, RecordWriter
from quaymaster._studies.recording.lines import Line
from quaymaster._studies.simulation.calls import simulate
from quaymaster._studies.simulation.observers import AnyObserver
from quaymaster._studies.simulation.results import ProgressFn, SimulationResult
from quaymaster._studies.simulation.run import Simulation

__all__ = ["RecordObserver", "record_simulation"]

_SOURCE: Final = "a simulation"


def record_simulation(
    objects: Iterable[ApiObject],
    file: str | os.PathLike[str],
    *,
    config: SchedulerConfig | None = None,
    registry: PluginRegistry | None = None,
    seed: int = 0,
    on_progress: ProgressFn | None = None,
    options: SchedulerOptions | None = None,
    max_pods: int = MAX_PODS,
    observers: Iterable[AnyObserver] = (),
) -> SimulationResult:
    """Simulate as `quaymaster.simulation.simulate` does, and write a record.

    Decisions are the same. If the simulation fails, there is no record.

    Args:
        objects: As for `quaymaster.simulation.simulate`.
        file: The record to write; it must not exist. It is compressed if its name ends
            with ``.gz``.
        config: The scheduler's configuration; by default the default profile.
        registry: Where plugins are found by name; by default the installed plugins.
        seed: As for `quaymaster.simulation.simulate`.
        on_progress: As for `quaymaster.simulation.simulate`.
        options: As for `quaymaster.simulation.simulate`.
        max_pods: As for `quaymaster.simulation.simulate`.
        observers: As for `quaymaster.simulation.simulate`.

    Raises:
        RecordError: The file cannot be written, or exists already.
        AdmissionError: As for `quaymaster.simulation.simulate`.
        ProfileError: As for `quaymaster.simulation.simulate`.
        VerificationError: As for `quaymaster.simulation.simulate`.
    """
    return simulate(
        objects,
        config=config,
        registry=registry,
        seed=seed,
        on_progress=on_progress,
        options=options,
        max_pods=max_pods,
        observers=(RecordObserver(file), *observers),
    )


class RecordObserver:
    """Writes the changes of a simulation into a record.

    A `quaymaster.simulation.SimulationObserver`. If an error ends the simulation, the
    file is removed. Trials are left out of the record.

    Args:
        file: The record to write; it must not exist. It is compressed if its name ends
            with ``.gz``.
    """

    def __init__(self, file: str | os.PathLike[str]) -> None:
        self._path = Path(file)

    def begin(self, simulation: Simulation, /) -> None:
        """Begin the record with the objects of the cluster.

        Raises:
            RecordError: The file cannot be written, or exists already.
        """
        if self._path.exists() and self._path.stat().st_size:
            message = "expected a new file: a simulation begins at its own beginning"
            raise RecordError(str(self._path), message)
        self._writer = RecordWriter(self._path)
        write = self._writer.write

        def write_outside_trials(line: Line) -> None:
            if not simulation.is_trial:
                write(line)

        with self._removed_on_error():
            self._recorder = ClusterRecorder(
                simulation.cluster,
                write_outside_trials,
                declared=declared_kinds(simulation.config, simulation.registry),
                source=_SOURCE,
            )

    def end(self, _simulation: Simulation, error: BaseException | None, /) -> None:
        """End the record, or remove it if an error has ended the simulation.

        Raises:
            RecordError: The file cannot be written.
        """
        with self._removed_on_error():
            self._recorder.close()
            self._writer.close()
        if error is not None:
            self._path.unlink(missing_ok=True)

    @contextmanager
    def _removed_on_error(self) -> Iterator[None]:
        try:
            yield
        except BaseException:
            with suppress(RecordError):
                self._writer.close()
            self._path.unlink(missing_ok=True)
            raise
