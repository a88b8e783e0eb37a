"""What tests see of ``quaymaster._extenders``."""

from quaymaster._extenders import node_texts
from quaymaster._extenders.chain import Extenders
from quaymaster._extenders.node_texts import KnownNode
from quaymaster._extenders.wire import WireError

__all__ = ["Extenders", "KnownNode", "WireError", "node_texts"]
