"""What tests see of ``quaymaster._extenders``."""

from quaymaster._extenders.chain import Extenders
from quaymaster._extenders.node_texts import KnownNode
from quaymaster._extenders.wire import WireError

__all__ = ["READS_TO_FORGET", "Extenders", "KnownNode", "WireError"]

READS_TO_FORGET = "quaymaster._extenders.node_texts._READS_TO_FORGET"
"""After how many reads a text is forgotten."""
