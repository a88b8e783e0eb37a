"""What tests see of ``quaymaster._contract``."""

from quaymaster._contract.results import FilteredRows

__all__ = ["FilteredRows"]
