"""What tests see of ``quaymaster._base.versions``."""

from quaymaster._base.versions.kubernetes import CHANGES, RELEASES

__all__ = ["CHANGES", "RELEASES"]
