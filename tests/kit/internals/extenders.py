"""What tests see of ``quaymaster._core.extenders``."""

from quaymaster._core.extenders.chain import Extenders
from quaymaster._core.extenders.node_texts import KnownNode
from quaymaster._core.extenders.wire import WireError

__all__ = ["READS_TO_FORGET", "Extenders", "KnownNode", "WireError"]

READS_TO_FORGET = "quaymaster._core.extenders.node_texts._READS_TO_FORGET"
"""The number of reads after which a text is dropped."""
