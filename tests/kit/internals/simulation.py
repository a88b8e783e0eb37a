"""What tests see of ``quaymaster._studies.simulation``."""

from typing import Final

from quaymaster._studies.simulation.run import _SAMPLES

__all__ = ["JUDGED_AT_FIRST", "MOST_SAMPLES"]

MOST_SAMPLES: Final = _SAMPLES

JUDGED_AT_FIRST = "quaymaster._studies.simulation.sampled_attempts._JUDGED_AT_FIRST"
"""How many nodes are judged before some attempts are left out."""
