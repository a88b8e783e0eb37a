"""Makes one run of an experiment."""

import os
import platform
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

import attrs
import msgspec

from quaymaster._api.objects import Node, Pod
from quaymaster._base.errors import Problem
from quaymaster._core.config.kinds import declared_kinds
from quaymaster._core.config.load import parse_config
from quaymaster._studies.experiments.driving import drive
from quaymaster._studies.experiments.errors import ExperimentErrors
from quaymaster._studies.experiments.experiment import Cell, Experiment, registry_with
from quaymaster._studies.experiments.inputs import (
    ExperimentInput,
    InputContext,
    Workload,
)
from quaymaster._studies.experiments.metrics import Measured
from quaymaster._studies.experiments.offers import INPUTS, INTERFERENCES, METRICS
from quaymaster._studies.experiments.oversized_pods import oversized_warning
from quaymaster._studies.experiments.random_failures import (
    random_failures,
    with_disruptions,
)
from quaymaster._studies.experiments.restarts_entry import RestartsEntry
from quaymaster._studies.experiments.running_work import RunningWork
from quaymaster._studies.experiments.used_files import UsedFiles
from quaymaster._studies.experiments.watching import (
    FileWatch,
    loaded_files,
    watch_files,
)
from quaymaster._studies.simulation.autoscaler import kinds_of
from quaymaster._studies.simulation.driven import Run
from quaymaster._studies.simulation.run_state import Standing

__all__ = ["RunResult", "run_cell"]

_NOTHING_TRIED: Final = (
    "the scheduler tried no pod, so it placed none: pods that have nodes, and their "
    "workloads, exist from the beginning, and pods of other schedulers are not tried"
)


class RunResult(msgspec.Struct, frozen=True, kw_only=True):
    """The result of one run.

    Attributes:
        values: Column -> value.
        curves: Curve -> the x values, and the numbers.
        seconds: Its duration.
        cpu_seconds: Its processor time.
        host: The machine that made it.
        warnings: What its input contains and the result leaves out.
        waiting: The number of pods that waited for a node at its end.
        used: File -> hash, for the files and modules that it used, relative to the
            folder of the experiment if they are there; an empty hash for a file that
            did not exist. The run is repeated when one of them has changed.
    """

    values: dict[str, bool | int | float | str | None]
    curves: dict[str, tuple[list[float], list[float | None]]]
    seconds: float = 0.0
    cpu_seconds: float = 0.0
    host: str = ""
    warnings: tuple[str, ...] = ()
    waiting: int = 0
    used: dict[str, str] = msgspec.field(default_factory=dict)


def run_cell(experiment: Experiment, cell: Cell, *, verify: int = 0) -> RunResult:
    """Make one run of an experiment, in this process.

    Args:
        experiment: The experiment.
        cell: The run.
        verify: Repeat every Nth decision with the plain algorithm, and stop if it
            differs; 0 for none.

    Raises:
        QuaymasterError: The input is invalid, or a decision differs. Exceptions of
            inputs, metrics and plugins are not converted.
    """
    began, cpu_began = time.perf_counter(), time.process_time()
    with watch_files() as watch:
        result = _made(experiment, cell, watch, verify)
    files: list[str | Path] = [*watch.input_files, *watch.other_files]
    # After the run, since plugins may import modules while it is made.
    files += loaded_files(experiment.folder)
    return msgspec.structs.replace(
        result,
        seconds=time.perf_counter() - began,
        cpu_seconds=time.process_time() - cpu_began,
        host=platform.node(),
        used=UsedFiles(experiment.folder).hashes(files),
    )


def _made(
    experiment: Experiment, cell: Cell, watch: FileWatch, verify: int
) -> RunResult:
    """Make a run whose files are watched."""
    scaler = cell.profile.autoscaler
    make_autoscaler = None if scaler is None else scaler.factory()
    registry = registry_with(experiment.plugins).with_kinds(kinds_of(make_autoscaler))
    config = parse_config(
        cell.profile.config,
        registry,
        source=cell.profile.name,
        kubernetes=experiment.kubernetes,
    )
    assert cell.input.used is not None
    context = InputContext(
        # With a seed of the workload, all runs place the same pods, and differ in the
        # draws of the scheduler alone.
        seed=cell.seed
        if experiment.workload_seed is None
        else experiment.workload_seed,
        folder=experiment.folder,
        kinds=declared_kinds(config, registry),
        kubernetes=config.kubernetes,
    )
    source = INPUTS.build(cell.input.used)
    with watch.input_reads():
        workload = source.make(context)
    # An input may read files only when the next arrival is due.
    workload = attrs.evolve(workload, arrivals=watch.arrivals(workload.arrivals))
    # Already here, so that a long run does not fail at its end.
    _check_reads(experiment, cell, source, watch)
    metrics = {name: METRICS.build(used) for name, used in experiment.metrics.items()}
    with Run(
        workload.objects,
        config=config,
        registry=registry,
        seed=cell.seed,
        autoscaler=make_autoscaler,
        options=attrs.evolve(
            experiment.options, verify=verify or experiment.options.verify
        ),
    ) as run:
        _follow_work(experiment, run)
        found = drive(
            run,
            _with_failures(experiment, workload, run, context.seed),
            metrics,
            departures_first=experiment.departures_first,
            period=experiment.period,
        )
        state = run.observe()
        warnings = _warnings(state, workload)
        # With an autoscaler, a larger node may still come.
        if state.pending and make_autoscaler is None:
            warnings = (*warnings, *_oversized(run))
    # Once more, since arrivals may be made one by one.
    _check_reads(experiment, cell, source, watch)
    return RunResult(
        values=_values(found),
        curves=_curves(found),
        warnings=warnings,
        waiting=state.pending,
    )


def _follow_work(experiment: Experiment, run: Run) -> None:
    """Follow the work of pods, if it may be lost in part or slowed down."""
    used, restarts = experiment.interference, experiment.restarts
    if used is not None or restarts != RestartsEntry():
        interference = None if used is None else INTERFERENCES.build(used)
        RunningWork(run.cluster, restarts, interference)


def _with_failures(
    experiment: Experiment, workload: Workload, run: Run, seed: int
) -> Workload:
    """Return a workload with the random failures of an experiment."""
    if not experiment.node_failures:
        return workload
    nodes = run.cluster.list(Node).items
    failures = random_failures(experiment.node_failures, nodes, seed)
    arrivals = with_disruptions(workload.arrivals, failures)
    return attrs.evolve(workload, arrivals=arrivals)


def _check_reads(
    experiment: Experiment, cell: Cell, source: ExperimentInput, watch: FileWatch
) -> None:
    """Check that an input has read only the files that its `reads` returns.

    Raises:
        ExperimentErrors: It has read another file.
    """
    if not watch.input_files:
        return
    reads = [
        Path(os.path.normpath(path.absolute()))
        for path in source.reads(experiment.folder)
    ]
    for file in sorted(watch.input_files):
        path = Path(file)
        if path.is_file() and not any(path.is_relative_to(part) for part in reads):
            message = (
                f"make read {file}, which reads does not return: a change of this file "
                "would not repeat the run"
            )
            where, place = experiment.file, f"input {cell.input.name}"
            raise ExperimentErrors([Problem(where=where, path=place, message=message)])


def _warnings(state: Standing, workload: Workload) -> tuple[str, ...]:
    """Return what the input contains and the result of a run leaves out."""
    warnings = [str(notice) for notice in workload.notices]
    if not state.attempts and not state.pending:
        warnings.append(_NOTHING_TRIED)
    return tuple(warnings)


def _oversized(run: Run) -> Iterator[str]:
    """Return the warning about pods that are larger than every node, if any."""
    pods = run.cluster.list(Pod).items
    waiting = (pod for pod in pods if not (pod.node_name or pod.is_finished))
    warning = oversized_warning(waiting, run.cluster.list(Node).items)
    if warning is not None:
        yield warning


def _values(
    values: Mapping[str, Measured],
) -> dict[str, bool | int | float | str | None]:
    return {
        _joined(metric, name): _plain(value)
        for metric, measured in values.items()
        for name, value in measured.values.items()
    }


def _curves(
    results: Mapping[str, Measured],
) -> dict[str, tuple[list[float], list[float | None]]]:
    return {
        _joined(metric, curve.name): (
            [float(x) for x in curve.x],
            [None if y is None else float(y) for y in curve.y],
        )
        for metric, measured in results.items()
        for curve in measured.curves
    }


def _joined(metric: str, name: str) -> str:
    return f"{metric}.{name}" if name else metric


def _plain(value: Any) -> Any:  # noqa: ANN401 - numpy's scalars count as Python's
    return value.item() if hasattr(value, "item") else value
