"""What tests see of ``quaymaster._studies.experiments``."""

from quaymaster._studies.experiments.swf_input import SwfInput
from quaymaster._studies.experiments.tables import results_table

__all__ = ["SwfInput", "results_table"]
