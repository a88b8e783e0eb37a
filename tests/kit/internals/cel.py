"""What tests see of ``quaymaster._cel``."""

from quaymaster._cel.device import device_value
from quaymaster._cel.errors import (
    CelCompilationError,
    CelEvaluationError,
)
from quaymaster._cel.selector import Selector, compile_selector

__all__ = [
    "CelCompilationError",
    "CelEvaluationError",
    "Selector",
    "compile_selector",
    "device_value",
]
