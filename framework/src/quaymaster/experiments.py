"""Experiments: inputs x profiles x parameters x seeds, measured, kept and compared."""

from quaymaster._experiments.errors import ExperimentErrors
from quaymaster._experiments.experiment import Cell, Experiment, Part
from quaymaster._experiments.inputs import (
    Arrival,
    ExperimentInput,
    InputContext,
    Workload,
)
from quaymaster._experiments.load import load_experiment, parse_experiment
from quaymaster._experiments.metrics import Curve, Measured, Metric
from quaymaster._experiments.offers import Used
from quaymaster._experiments.running import RunResult, run_cell
from quaymaster._experiments.schema import experiment_schema
from quaymaster._experiments.sweeping import (
    FailedRun,
    SweepProgress,
    SweepProgressFn,
    SweepResult,
    sweep,
)

__all__ = [
    "Arrival",
    "Cell",
    "Curve",
    "Experiment",
    "ExperimentErrors",
    "ExperimentInput",
    "FailedRun",
    "InputContext",
    "Measured",
    "Metric",
    "Part",
    "RunResult",
    "SweepProgress",
    "SweepProgressFn",
    "SweepResult",
    "Used",
    "Workload",
    "experiment_schema",
    "load_experiment",
    "parse_experiment",
    "run_cell",
    "sweep",
]
