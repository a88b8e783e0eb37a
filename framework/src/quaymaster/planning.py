"""Capacity of a cluster, plans for new nodes, and the effect of changes."""

from quaymaster._studies.capacity.calls import CapacityResult, capacity
from quaymaster._studies.capacity.figures import (
    GroupRoom,
    Headroom,
    NodeRoom,
    ResourceRoom,
    Room,
    TypicalPod,
)
from quaymaster._studies.capacity.headroom import find_headroom
from quaymaster._studies.capacity.measuring import RoomObserver, measure_room
from quaymaster._studies.capacity.node_status import ClosedNode
from quaymaster._studies.capacity.pod_text import PodTextError, pod_of_text
from quaymaster._studies.capacity.prices import PRICE_ANNOTATION, Prices, read_prices
from quaymaster._studies.changes.change import (
    ChangeError,
    ClusterChange,
    Effect,
    Evicted,
    RefusedEviction,
)
from quaymaster._studies.changes.cordoning import Cordon, Uncordon
from quaymaster._studies.changes.draining import Drain
from quaymaster._studies.changes.node_changes import (
    AddNodes,
    FailNodes,
    FailureMode,
    FailZone,
    RemoveNodes,
    ReturnNodes,
)
from quaymaster._studies.changes.object_changes import Apply, Create, Delete, Patch
from quaymaster._studies.changes.rotation import RotateNodes
from quaymaster._studies.changes.scheduler_changes import Repack, UseConfig
from quaymaster._studies.changes.target import Target
from quaymaster._studies.changes.workload_changes import Scale, SetImage
from quaymaster._studies.planning.costs import Costs, CostShare
from quaymaster._studies.planning.group_files import read_node_groups
from quaymaster._studies.planning.groups import (
    NodeGroup,
    NodeGroupError,
    parse_node_group,
)
from quaymaster._studies.planning.losses import Loss
from quaymaster._studies.planning.moves import Move
from quaymaster._studies.planning.planning import plan
from quaymaster._studies.planning.plans import (
    Lack,
    Plan,
    PlannedGroup,
    PlannedRound,
    UnplacedKind,
    Utilization,
)
from quaymaster._studies.planning.scaled import ScaledPlan
from quaymaster._studies.planning.what_if import what_if
from quaymaster._studies.planning.what_if_results import (
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
    "ClosedNode",
    "ClusterChange",
    "ClusterState",
    "Cordon",
    "CostShare",
    "Costs",
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
    "Lack",
    "Loss",
    "Move",
    "NodeGroup",
    "NodeGroupError",
    "NodeRoom",
    "Patch",
    "Plan",
    "PlannedGroup",
    "PlannedRound",
    "PodTextError",
    "Prices",
    "RefusedEviction",
    "RemoveNodes",
    "Repack",
    "ResourceRoom",
    "ReturnNodes",
    "Room",
    "RoomObserver",
    "RotateNodes",
    "Scale",
    "ScaledPlan",
    "SetImage",
    "Target",
    "TypicalPod",
    "Uncordon",
    "UnplacedKind",
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
