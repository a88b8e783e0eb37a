"""How much room a cluster has, and what fits into it."""

from quaymaster._capacity.figures import GroupRoom, NodeRoom, ResourceRoom, Room
from quaymaster._capacity.measuring import measure_room
from quaymaster._capacity.prices import PRICE_ANNOTATION, Prices, read_prices

__all__ = [
    "PRICE_ANNOTATION",
    "GroupRoom",
    "NodeRoom",
    "Prices",
    "ResourceRoom",
    "Room",
    "measure_room",
    "read_prices",
]
