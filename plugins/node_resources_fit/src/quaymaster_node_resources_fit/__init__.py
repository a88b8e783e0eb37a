"""Keep a pod off nodes without room for its requests; rank the others.

Mirrors ``NodeResourcesFit`` (kube-scheduler 1.36.2,
``pkg/scheduler/framework/plugins/noderesources/fit.go``).
"""

from quaymaster_node_resources_fit.args import (
    NodeResourcesFitArgs,
    RequestedToCapacityRatioParam,
    ResourceSpec,
    ScoringStrategy,
    ScoringStrategyType,
    UtilizationShapePoint,
)
from quaymaster_node_resources_fit.fit import NodeResourcesFit

__all__ = [
    "NodeResourcesFit",
    "NodeResourcesFitArgs",
    "RequestedToCapacityRatioParam",
    "ResourceSpec",
    "ScoringStrategy",
    "ScoringStrategyType",
    "UtilizationShapePoint",
]
