"""What tests see of ``quaymaster._core.contract``."""

from quaymaster._core.contract.plugin_metrics import MetricKind
from quaymaster._core.contract.results import FilteredRows
from quaymaster._core.contract.trace import TraceCallback

__all__ = ["FilteredRows", "MetricKind", "TraceCallback"]
