"""What tests see of ``quaymaster._api.cel``."""

from quaymaster._api.cel.checker import check
from quaymaster._api.cel.costs import call_cost
from quaymaster._api.cel.device import device_value
from quaymaster._api.cel.dialects import (
    STORED,
    Dialect,
    of_new_selectors,
    of_stored_selectors,
)
from quaymaster._api.cel.environment import device_environment
from quaymaster._api.cel.errors import (
    CelCompilationError,
    CelCostError,
    CelEvaluationError,
)
from quaymaster._api.cel.libraries.regexes import Pattern, prepared
from quaymaster._api.cel.metering import Meter
from quaymaster._api.cel.parser import parse
from quaymaster._api.cel.program import make_program
from quaymaster._api.cel.selector import Selector, compile_selector

__all__ = [
    "STORED",
    "CelCompilationError",
    "CelCostError",
    "CelEvaluationError",
    "Dialect",
    "Meter",
    "Pattern",
    "Selector",
    "call_cost",
    "check",
    "compile_selector",
    "device_environment",
    "device_value",
    "make_program",
    "of_new_selectors",
    "of_stored_selectors",
    "parse",
    "prepared",
]
