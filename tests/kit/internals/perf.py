"""What tests see of ``quaymaster._perf``."""

from quaymaster._perf.clock import PacedClock
from quaymaster._perf.errors import PerfErrors, WorkloadError
from quaymaster._perf.gates import apply_gates, ignored_gates
from quaymaster._perf.gotext import GoTemplate, GoTemplateError
from quaymaster._perf.load import Workload, find_files, load_workloads
from quaymaster._perf.measurement import Distribution, Measurement, Meter
from quaymaster._perf.model import (
    CreateAny,
    CreateNodes,
    CreatePods,
    Operation,
    UpdateAny,
)
from quaymaster._perf.operations import Player
from quaymaster._perf.pattern import make_pattern
from quaymaster._perf.runner import run_workload
from quaymaster._perf.select import select
from quaymaster._perf.world import World

__all__ = [
    "CreateAny",
    "CreateNodes",
    "CreatePods",
    "Distribution",
    "GoTemplate",
    "GoTemplateError",
    "Measurement",
    "Meter",
    "Operation",
    "PacedClock",
    "PerfErrors",
    "Player",
    "UpdateAny",
    "Workload",
    "WorkloadError",
    "World",
    "apply_gates",
    "find_files",
    "ignored_gates",
    "load_workloads",
    "make_pattern",
    "run_workload",
    "select",
]
