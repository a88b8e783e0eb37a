"""Experiments: all runs of inputs, profiles, parameters and seeds, and tuning."""

from quaymaster._studies.experiments.errors import ExperimentErrors, InterferenceError
from quaymaster._studies.experiments.experiment import Cell, Experiment, Part
from quaymaster._studies.experiments.inputs import (
    Arrival,
    Disruption,
    ExperimentInput,
    InputContext,
    Workload,
)
from quaymaster._studies.experiments.interference import Interference
from quaymaster._studies.experiments.load import load_experiment, parse_experiment
from quaymaster._studies.experiments.metrics import (
    Column,
    Curve,
    Measured,
    Metric,
)
from quaymaster._studies.experiments.offers import Used
from quaymaster._studies.experiments.repeating import RunCheck, check_first_run
from quaymaster._studies.experiments.running import RunResult, run_cell
from quaymaster._studies.experiments.schema import experiment_schema
from quaymaster._studies.experiments.sweeping import (
    FailedRun,
    SweepProgress,
    SweepProgressFn,
    SweepResult,
    sweep,
)
from quaymaster._studies.experiments.swf import SwfError, SwfJob, SwfTrace, read_swf
from quaymaster._studies.tuning.judging import Contender, HeldOutDifference, Judged
from quaymaster._studies.tuning.load import load_tuning
from quaymaster._studies.tuning.schema import tuning_schema
from quaymaster._studies.tuning.trials import Trial, TrialOutcome
from quaymaster._studies.tuning.tuned import TuneProgressFn, TuneResult, tune
from quaymaster._studies.tuning.tuning import Objective, Tuning

__all__ = [
    "Arrival",
    "Cell",
    "Column",
    "Contender",
    "Curve",
    "Disruption",
    "Experiment",
    "ExperimentErrors",
    "ExperimentInput",
    "FailedRun",
    "HeldOutDifference",
    "InputContext",
    "Interference",
    "InterferenceError",
    "Judged",
    "Measured",
    "Metric",
    "Objective",
    "Part",
    "RunCheck",
    "RunResult",
    "SweepProgress",
    "SweepProgressFn",
    "SweepResult",
    "SwfError",
    "SwfJob",
    "SwfTrace",
    "Trial",
    "TrialOutcome",
    "TuneProgressFn",
    "TuneResult",
    "Tuning",
    "Used",
    "Workload",
    "check_first_run",
    "experiment_schema",
    "load_experiment",
    "load_tuning",
    "parse_experiment",
    "read_swf",
    "run_cell",
    "sweep",
    "tune",
    "tuning_schema",
]
