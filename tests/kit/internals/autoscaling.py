"""What tests see of autoscalers."""

from quaymaster._core.config.defaults import with_defaults
from quaymaster._core.state.node_info import NodeInfo
from quaymaster._studies.autoscaling.cloud import Cloud
from quaymaster._studies.autoscaling.cluster_autoscaler.balancing import balanced
from quaymaster._studies.autoscaling.cluster_autoscaler.budgets import RemainingBudgets
from quaymaster._studies.autoscaling.cluster_autoscaler.capacity import (
    Capacity,
    amounts_of,
)
from quaymaster._studies.autoscaling.cluster_autoscaler.deletion_batches import cropped
from quaymaster._studies.autoscaling.cluster_autoscaler.drainability import (
    Drainability,
)
from quaymaster._studies.autoscaling.cluster_autoscaler.equivalence import (
    PodEquivalenceGroup,
    equivalence_groups,
)
from quaymaster._studies.autoscaling.cluster_autoscaler.estimator import (
    estimate,
    in_order,
)
from quaymaster._studies.autoscaling.cluster_autoscaler.events import (
    AutoscalerEvent,
)
from quaymaster._studies.autoscaling.cluster_autoscaler.expanders import (
    EXPANDERS,
    Expander,
    Expansion,
)
from quaymaster._studies.autoscaling.cluster_autoscaler.expected_nodes import (
    ExpectedNodes,
)
from quaymaster._studies.autoscaling.cluster_autoscaler.flags import read_flags
from quaymaster._studies.autoscaling.cluster_autoscaler.group_states import GroupStates
from quaymaster._studies.autoscaling.cluster_autoscaler.hints import HintedPlacing
from quaymaster._studies.autoscaling.cluster_autoscaler.loop import ClusterAutoscaler
from quaymaster._studies.autoscaling.cluster_autoscaler.options import (
    ClusterAutoscalerOptions,
)
from quaymaster._studies.autoscaling.cluster_autoscaler.pending import (
    differ_by_attempt,
    has_become_unschedulable,
)
from quaymaster._studies.autoscaling.cluster_autoscaler.pod_kinds import is_expendable
from quaymaster._studies.autoscaling.cluster_autoscaler.price_expander import (
    PodPrices,
    PriceExpander,
)
from quaymaster._studies.autoscaling.cluster_autoscaler.removal import (
    Removable,
    RemovalTrial,
)
from quaymaster._studies.autoscaling.cluster_autoscaler.removal_candidates import (
    RemovalCandidates,
)
from quaymaster._studies.autoscaling.cluster_autoscaler.scale_up import (
    ScaleUp,
    ScaleUpOutcome,
    ScaleUpPlanner,
)
from quaymaster._studies.autoscaling.cluster_autoscaler.seen_cluster import (
    SeenCluster,
    SeenNode,
    SeenPod,
)
from quaymaster._studies.autoscaling.cluster_autoscaler.similarity import are_similar
from quaymaster._studies.autoscaling.cluster_autoscaler.standing_trial import (
    StandingTrial,
)
from quaymaster._studies.autoscaling.cluster_autoscaler.templates import Template
from quaymaster._studies.autoscaling.cluster_autoscaler.unremovable import (
    Unremovable,
    UnremovableNodes,
    UnremovableReason,
)
from quaymaster._studies.autoscaling.cluster_autoscaler.utilization import (
    utilization_of,
)
from quaymaster._studies.autoscaling.cluster_autoscaler.waiting_places import (
    WaitingPlaces,
)
from quaymaster._studies.autoscaling.scaled_groups import ScaledGroup
from quaymaster._studies.autoscaling.trial_cluster import TrialCluster

__all__ = [
    "EXPANDERS",
    "AutoscalerEvent",
    "Capacity",
    "Cloud",
    "ClusterAutoscaler",
    "ClusterAutoscalerOptions",
    "Drainability",
    "Expander",
    "Expansion",
    "ExpectedNodes",
    "GroupStates",
    "HintedPlacing",
    "NodeInfo",
    "PodEquivalenceGroup",
    "PodPrices",
    "PriceExpander",
    "RemainingBudgets",
    "Removable",
    "RemovalCandidates",
    "RemovalTrial",
    "ScaleUp",
    "ScaleUpOutcome",
    "ScaleUpPlanner",
    "ScaledGroup",
    "SeenCluster",
    "SeenNode",
    "SeenPod",
    "StandingTrial",
    "Template",
    "TrialCluster",
    "Unremovable",
    "UnremovableNodes",
    "UnremovableReason",
    "WaitingPlaces",
    "amounts_of",
    "are_similar",
    "balanced",
    "cropped",
    "differ_by_attempt",
    "equivalence_groups",
    "estimate",
    "has_become_unschedulable",
    "in_order",
    "is_expendable",
    "read_flags",
    "utilization_of",
    "with_defaults",
]
