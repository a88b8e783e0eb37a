"""What tests see of ``quaymaster._studies.comparing``."""

from quaymaster._studies.comparing.differences import first_difference, moved
from quaymaster._studies.comparing.estimates import estimate

__all__ = ["estimate", "first_difference", "moved"]
