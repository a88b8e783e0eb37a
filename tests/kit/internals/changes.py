"""What tests see of ``quaymaster._studies.changes``."""

from quaymaster._studies.changes.selector_text import read_selector

__all__ = ["read_selector"]
