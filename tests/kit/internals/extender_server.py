"""What tests see of ``quaymaster._surfaces.extender_server``."""

from quaymaster._surfaces.extender_server.bodies import (
    Bodies,
    BodiesFullError,
    Body,
    Piece,
)
from quaymaster._surfaces.extender_server.http_server import (
    ExtenderServer,
    ServerOptions,
)
from quaymaster._surfaces.extender_server.messages import NodesRequest, RequestReader
from quaymaster._surfaces.extender_server.node_lists import NodeLists, ReadNodes
from quaymaster._surfaces.extender_server.receiving import Receiver
from quaymaster._surfaces.extender_server.service import ExtenderService, UnknownNodes
from quaymaster._surfaces.extender_server.stored_nodes import StoredNodes

__all__ = [
    "WINDOW",
    "Bodies",
    "BodiesFullError",
    "Body",
    "ExtenderServer",
    "ExtenderService",
    "NodeLists",
    "NodesRequest",
    "Piece",
    "ReadNodes",
    "Receiver",
    "RequestReader",
    "ServerOptions",
    "StoredNodes",
    "UnknownNodes",
]

WINDOW = "quaymaster._surfaces.extender_server.receiving._WINDOW"
"""The number of bytes of one read."""
