"""What tests see of ``quaymaster._comparing``."""

from quaymaster._comparing.differences import first_difference, moved
from quaymaster._comparing.estimates import estimate

__all__ = ["estimate", "first_difference", "moved"]
