"""What tests see of ``quaymaster._studies.perf``."""

from quaymaster._studies.perf.clock import PacedClock
from quaymaster._studies.perf.errors import PerfErrors, WorkloadError
from quaymaster._studies.perf.gates import apply_gates, gated, ignored_gates
from quaymaster._studies.perf.gotext.errors import GoTemplateError
from quaymaster._studies.perf.gotext.template import GoTemplate
from quaymaster._studies.perf.left_out import why_left_out
from quaymaster._studies.perf.load import Workload, find_files, load_workloads
from quaymaster._studies.perf.measurement import Distribution, Measurement, Meter
from quaymaster._studies.perf.model import (
    CreateAny,
    CreateNodes,
    CreatePodGroups,
    CreatePods,
    Operation,
    UpdateAny,
)
from quaymaster._studies.perf.operations import Player
from quaymaster._studies.perf.pattern import make_pattern
from quaymaster._studies.perf.runner import run_workload
from quaymaster._studies.perf.select import select
from quaymaster._studies.perf.world import World

__all__ = [
    "CreateAny",
    "CreateNodes",
    "CreatePodGroups",
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
    "gated",
    "ignored_gates",
    "load_workloads",
    "make_pattern",
    "run_workload",
    "select",
    "why_left_out",
]
