"""What tests see of Karpenter."""

from quaymaster._studies.autoscaling.karpenter.bound_pods import BoundPods
from quaymaster._studies.autoscaling.karpenter.cluster import ClusterState
from quaymaster._studies.autoscaling.karpenter.go_sort import sort_slice
from quaymaster._studies.autoscaling.karpenter.instance_types import (
    InstanceType,
    Offering,
    order_by_price,
    worst_launch_price,
)
from quaymaster._studies.autoscaling.karpenter.kwok import (
    KWOK_RESTRICTED_DOMAINS,
    KWOK_WELL_KNOWN_LABELS,
    kwok_offering,
    kwok_type,
)
from quaymaster._studies.autoscaling.karpenter.labels import RESERVATION_ID
from quaymaster._studies.autoscaling.karpenter.machine_states import MachineStates
from quaymaster._studies.autoscaling.karpenter.node_groups import (
    NodeGroups,
    groups_of,
)
from quaymaster._studies.autoscaling.karpenter.objects import (
    NodeClaim,
    NodeOverlay,
    NodePool,
)
from quaymaster._studies.autoscaling.karpenter.options import KarpenterOptions
from quaymaster._studies.autoscaling.karpenter.requirements import (
    Requirement,
    Requirements,
)
from quaymaster._studies.autoscaling.karpenter.solve import scheduler
from quaymaster._studies.autoscaling.karpenter.solve.claims import (
    ProposedClaim,
    as_created,
)
from quaymaster._studies.autoscaling.karpenter.solve.first_fit import FirstFit
from quaymaster._studies.autoscaling.karpenter.solve.pending import pods_to_schedule
from quaymaster._studies.autoscaling.karpenter.solve.scheduler import (
    SolveResult,
    solve,
)
from quaymaster._studies.autoscaling.karpenter.state_node import StateNode
from quaymaster._studies.autoscaling.karpenter.template_hash import template_hash

__all__ = [
    "KWOK_RESTRICTED_DOMAINS",
    "KWOK_WELL_KNOWN_LABELS",
    "RESERVATION_ID",
    "BoundPods",
    "ClusterState",
    "FirstFit",
    "InstanceType",
    "KarpenterOptions",
    "MachineStates",
    "NodeClaim",
    "NodeGroups",
    "NodeOverlay",
    "NodePool",
    "Offering",
    "ProposedClaim",
    "Requirement",
    "Requirements",
    "SolveResult",
    "StateNode",
    "as_created",
    "groups_of",
    "kwok_offering",
    "kwok_type",
    "order_by_price",
    "pods_to_schedule",
    "scheduler",
    "solve",
    "sort_slice",
    "template_hash",
    "worst_launch_price",
]
