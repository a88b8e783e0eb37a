"""What tests see of ``quaymaster._core.contract``."""

from quaymaster._core.contract.results import FilteredRows

__all__ = ["FilteredRows"]
