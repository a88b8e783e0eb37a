"""What tests see of ``quaymaster._core.contract``."""

from quaymaster._core.contract.results import FilteredRows
from quaymaster._core.contract.trace import TraceCallback

__all__ = ["FilteredRows", "TraceCallback"]
