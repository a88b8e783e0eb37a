"""What tests see of ``quaymaster._versions``."""

from quaymaster._versions.v1_36 import V1_36

__all__ = ["V1_36"]
