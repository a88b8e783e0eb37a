"""What tests see of ``quaymaster._base.versions``."""

from quaymaster._base.versions.kubernetes import CHANGES, RELEASES
from quaymaster._base.versions.v1_36 import V1_36

__all__ = ["CHANGES", "RELEASES", "V1_36"]
