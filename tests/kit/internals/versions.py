"""What tests see of ``quaymaster._versions``."""

from quaymaster._versions.kubernetes import CHANGES
from quaymaster._versions.v1_36 import V1_36

__all__ = ["CHANGES", "V1_36"]
