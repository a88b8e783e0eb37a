"""Simulates, and records what happens."""

import os
from collections.abc import Iterable
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
from quaymaster._studies.simulation.results import ProgressFn, SimulationResult
from quaymaster._studies.simulation.run import Simulation, filled_cluster

__all__ = ["record_simulation"]

_SOURCE: Final = "a simulation"


def record_simulation(
    objects: Iterable[ApiObject],
    file: str | os.PathLike[str],
    *,
    config: SchedulerConfig,
    registry: PluginRegistry,
    seed: int = 0,
    on_progress: ProgressFn | None = None,
    options: SchedulerOptions | None = None,
    max_pods: int = MAX_PODS,
) -> SimulationResult:
    """Do as `quaymaster.simulation.simulate`, and write what happens into a record.

    Decisions are the same. Without an end of the simulation there is no record.

    Args:
        objects: As for `quaymaster.simulation.simulate`.
        file: The record to write; it must not be there. It is compressed if its name
            ends with ``.gz``.
        config: The scheduler's configuration.
        registry: Where plugins are found by name.
        seed: As for `quaymaster.simulation.simulate`.
        on_progress: As for `quaymaster.simulation.simulate`.
        options: As for `quaymaster.simulation.simulate`.
        max_pods: As for `quaymaster.simulation.simulate`.

    Raises:
        RecordError: The file cannot be written, or is there already.
        AdmissionError: As for `quaymaster.simulation.simulate`.
        ProfileError: As for `quaymaster.simulation.simulate`.
        VerificationError: As for `quaymaster.simulation.simulate`.
    """
    path = Path(file)
    if path.exists() and path.stat().st_size:
        message = "expected a new file: a simulation begins anew, and goes on nowhere"
        raise RecordError(str(path), message)
    cluster = filled_cluster(
        list(objects), seed, max_pods, kubernetes=config.kubernetes
    )
    with Simulation(
        cluster, config=config, registry=registry, seed=seed, options=options
    ) as run:
        try:
            with RecordWriter(path) as writer:
                recorder = ClusterRecorder(
                    cluster,
                    writer.write,
                    declared=declared_kinds(config, registry),
                    source=_SOURCE,
                )
                run.settle(on_progress)
                recorder.close()
        except BaseException:
            path.unlink(missing_ok=True)
            raise
        return run.result()
