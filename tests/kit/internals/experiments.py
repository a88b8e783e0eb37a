"""What tests see of ``quaymaster._experiments``."""

from quaymaster._experiments.tables import results_table

__all__ = ["results_table"]
