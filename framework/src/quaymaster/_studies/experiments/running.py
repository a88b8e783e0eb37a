"""Makes one run of an experiment."""

import platform
import time
from collections.abc import Mapping
from typing import Any, Final

import attrs
import msgspec

from quaymaster._core.config.kinds import declared_kinds
from quaymaster._core.config.load import parse_config
from quaymaster._studies.experiments.driving import drive
from quaymaster._studies.experiments.experiment import Cell, Experiment, registry_with
from quaymaster._studies.experiments.inputs import InputContext, Workload
from quaymaster._studies.experiments.metrics import Measured
from quaymaster._studies.experiments.offers import INPUTS, METRICS
from quaymaster._studies.simulation.autoscaler import kinds_of
from quaymaster._studies.simulation.driven import Run

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
    """

    values: dict[str, bool | int | float | str | None]
    curves: dict[str, tuple[list[float], list[float | None]]]
    seconds: float = 0.0
    cpu_seconds: float = 0.0
    host: str = ""
    warnings: tuple[str, ...] = ()


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
        seed=cell.seed
        if experiment.workload_seed is None
        else experiment.workload_seed,
        folder=experiment.folder,
        kinds=declared_kinds(config, registry),
        kubernetes=config.kubernetes,
    )
    workload = INPUTS.build(cell.input.used).make(context)
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
        found = drive(
            run,
            workload,
            metrics,
            departures_first=experiment.departures_first,
            period=experiment.period,
        )
        warnings = _warnings(run, workload)
    return RunResult(
        values=_values(found),
        curves=_curves(found),
        seconds=time.perf_counter() - began,
        cpu_seconds=time.process_time() - cpu_began,
        host=platform.node(),
        warnings=warnings,
    )


def _warnings(run: Run, workload: Workload) -> tuple[str, ...]:
    """Return what the input contains and the result of a run leaves out."""
    warnings = [str(notice) for notice in workload.notices]
    state = run.observe()
    if not state.attempts and not state.pending:
        warnings.append(_NOTHING_TRIED)
    return tuple(warnings)


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
