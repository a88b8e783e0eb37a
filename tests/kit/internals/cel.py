"""What tests see of ``quaymaster._cel``."""

from quaymaster._cel.checker import check
from quaymaster._cel.costs import call_cost
from quaymaster._cel.device import device_value
from quaymaster._cel.environment import DEVICE_ENVIRONMENT
from quaymaster._cel.errors import (
    CelCompilationError,
    CelCostError,
    CelEvaluationError,
)
from quaymaster._cel.metering import Meter
from quaymaster._cel.parser import parse
from quaymaster._cel.program import make_program
from quaymaster._cel.selector import Selector, compile_selector

__all__ = [
    "DEVICE_ENVIRONMENT",
    "CelCompilationError",
    "CelCostError",
    "CelEvaluationError",
    "Meter",
    "Selector",
    "call_cost",
    "check",
    "compile_selector",
    "device_value",
    "make_program",
    "parse",
]
