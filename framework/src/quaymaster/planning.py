"""How much room a cluster has, what fits into it, and how many nodes it takes."""

from quaymaster._capacity.figures import GroupRoom, NodeRoom, ResourceRoom, Room
from quaymaster._capacity.measuring import measure_room
from quaymaster._capacity.prices import PRICE_ANNOTATION, Prices, read_prices
from quaymaster._planning.group_files import read_node_groups
from quaymaster._planning.groups import NodeGroup, NodeGroupError, parse_node_group
from quaymaster._planning.planning import plan
from quaymaster._planning.plans import Plan, PlannedGroup, Utilization
from quaymaster._planning.question import Loss

__all__ = [
    "PRICE_ANNOTATION",
    "GroupRoom",
    "Loss",
    "NodeGroup",
    "NodeGroupError",
    "NodeRoom",
    "Plan",
    "PlannedGroup",
    "Prices",
    "ResourceRoom",
    "Room",
    "Utilization",
    "measure_room",
    "parse_node_group",
    "plan",
    "read_node_groups",
    "read_prices",
]
