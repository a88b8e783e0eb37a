"""How much room a cluster has, how many nodes it takes, and what changes do to it."""

from quaymaster._capacity.calls import CapacityResult, capacity
from quaymaster._capacity.figures import (
    GroupRoom,
    Headroom,
    NodeRoom,
    ResourceRoom,
    Room,
    TypicalPod,
)
from quaymaster._capacity.headroom import find_headroom
from quaymaster._capacity.measuring import measure_room
from quaymaster._capacity.pod_text import PodTextError, pod_of_text
from quaymaster._capacity.prices import PRICE_ANNOTATION, Prices, read_prices
from quaymaster._changes.change import (
    ChangeError,
    ClusterChange,
    Effect,
    Evicted,
    RefusedEviction,
)
from quaymaster._changes.cordoning import Cordon, Uncordon
from quaymaster._changes.draining import Drain
from quaymaster._changes.node_changes import (
    AddNodes,
    FailNodes,
    FailureMode,
    FailZone,
    RemoveNodes,
    ReturnNodes,
)
from quaymaster._changes.object_changes import Apply, Create, Delete, Patch
from quaymaster._changes.scheduler_changes import Repack, UseConfig
from quaymaster._changes.target import Target
from quaymaster._changes.workload_changes import Scale, SetImage
from quaymaster._planning.group_files import read_node_groups
from quaymaster._planning.groups import NodeGroup, NodeGroupError, parse_node_group
from quaymaster._planning.moves import Move
from quaymaster._planning.planning import plan
from quaymaster._planning.plans import Plan, PlannedGroup, Utilization
from quaymaster._planning.question import Loss
from quaymaster._planning.what_if import what_if
from quaymaster._planning.what_if_results import (
    ClusterState,
    WhatIfResult,
    WhatIfStep,
)

__all__ = [
    "PRICE_ANNOTATION",
    "AddNodes",
    "Apply",
    "CapacityResult",
    "ChangeError",
    "ClusterChange",
    "ClusterState",
    "Cordon",
    "Create",
    "Delete",
    "Drain",
    "Effect",
    "Evicted",
    "FailNodes",
    "FailZone",
    "FailureMode",
    "GroupRoom",
    "Headroom",
    "Loss",
    "Move",
    "NodeGroup",
    "NodeGroupError",
    "NodeRoom",
    "Patch",
    "Plan",
    "PlannedGroup",
    "PodTextError",
    "Prices",
    "RefusedEviction",
    "RemoveNodes",
    "Repack",
    "ResourceRoom",
    "ReturnNodes",
    "Room",
    "Scale",
    "SetImage",
    "Target",
    "TypicalPod",
    "Uncordon",
    "UseConfig",
    "Utilization",
    "WhatIfResult",
    "WhatIfStep",
    "capacity",
    "find_headroom",
    "measure_room",
    "parse_node_group",
    "plan",
    "pod_of_text",
    "read_node_groups",
    "read_prices",
    "what_if",
]
