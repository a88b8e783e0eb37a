"""What tests see of ``quaymaster._studies.changes``."""

from quaymaster._studies.changes.selector_text import read_selector
from quaymaster._studies.changes.unplaced import without_placements

__all__ = ["read_selector", "without_placements"]
