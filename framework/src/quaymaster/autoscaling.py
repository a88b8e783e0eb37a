"""Autoscalers in virtual time: the cluster autoscaler, and a port for others.

A package offers an autoscaler by the entry point ``quaymaster.autoscalers``: the name
is the ``kind`` of its file, and the object is a function that gets the content of the
file and its name, and returns an `AutoscalerFactory`.
"""

from quaymaster._studies.autoscaling.cloud import Cloud, Instance
from quaymaster._studies.autoscaling.cluster_autoscaler.controller import (
    ClusterAutoscalerController,
    ClusterAutoscalerSetup,
)
from quaymaster._studies.autoscaling.cluster_autoscaler.events import AutoscalerEvent
from quaymaster._studies.autoscaling.cluster_autoscaler.flags import (
    FlagError,
    read_flags,
)
from quaymaster._studies.autoscaling.cluster_autoscaler.options import (
    ClusterAutoscalerOptions,
)
from quaymaster._studies.autoscaling.consolidation import (
    Consolidation,
    MovedPod,
    StayingNode,
    consolidate,
)
from quaymaster._studies.autoscaling.errors import AutoscalerError
from quaymaster._studies.autoscaling.explaining_nodes import (
    ExplainedNode,
    explain_node,
)
from quaymaster._studies.autoscaling.files import read_autoscaler
from quaymaster._studies.autoscaling.group_settings import GroupSettings
from quaymaster._studies.autoscaling.scaled_groups import ScaledGroup
from quaymaster._studies.autoscaling.trial_cluster import Fork, TrialCluster
from quaymaster._studies.simulation.autoscaler import (
    AutoscaledNode,
    Autoscaler,
    AutoscalerContext,
    AutoscalerFactory,
    GivesNotices,
    NodeOffer,
    OffersNodes,
)
from quaymaster._studies.simulation.scaling import (
    ExplainsScaling,
    GroupVerdict,
    NodeFact,
    NodeGroupFate,
    NodeScaling,
    PodFate,
    PodOfNode,
    PodScaling,
    ReasonSince,
)

__all__ = [
    "AutoscaledNode",
    "Autoscaler",
    "AutoscalerContext",
    "AutoscalerError",
    "AutoscalerEvent",
    "AutoscalerFactory",
    "Cloud",
    "ClusterAutoscalerController",
    "ClusterAutoscalerOptions",
    "ClusterAutoscalerSetup",
    "Consolidation",
    "ExplainedNode",
    "ExplainsScaling",
    "FlagError",
    "Fork",
    "GivesNotices",
    "GroupSettings",
    "GroupVerdict",
    "Instance",
    "MovedPod",
    "NodeFact",
    "NodeGroupFate",
    "NodeOffer",
    "NodeScaling",
    "OffersNodes",
    "PodFate",
    "PodOfNode",
    "PodScaling",
    "ReasonSince",
    "ScaledGroup",
    "StayingNode",
    "TrialCluster",
    "consolidate",
    "explain_node",
    "read_autoscaler",
    "read_flags",
]
