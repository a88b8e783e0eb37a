"""Experiments: inputs x profiles x parameters x seeds, measured, kept, and tuned by."""

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
from quaymaster._tuning.judging import Contender, HeldOutDifference, Judged
from quaymaster._tuning.load import load_tuning
from quaymaster._tuning.schema import tuning_schema
from quaymaster._tuning.trials import Trial, TrialOutcome
from quaymaster._tuning.tuned import TuneProgressFn, TuneResult, tune
from quaymaster._tuning.tuning import Objective, Tuning

__all__ = [
    "Arrival",
    "Cell",
    "Contender",
    "Curve",
    "Experiment",
    "ExperimentErrors",
    "ExperimentInput",
    "FailedRun",
    "HeldOutDifference",
    "InputContext",
    "Judged",
    "Measured",
    "Metric",
    "Objective",
    "Part",
    "RunResult",
    "SweepProgress",
    "SweepProgressFn",
    "SweepResult",
    "Trial",
    "TrialOutcome",
    "TuneProgressFn",
    "TuneResult",
    "Tuning",
    "Used",
    "Workload",
    "experiment_schema",
    "load_experiment",
    "load_tuning",
    "parse_experiment",
    "run_cell",
    "sweep",
    "tune",
    "tuning_schema",
]
