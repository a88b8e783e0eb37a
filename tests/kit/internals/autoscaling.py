"""What tests see of autoscalers."""

from quaymaster._core.config.defaults import with_defaults
from quaymaster._studies.autoscaling.cloud import Cloud
from quaymaster._studies.autoscaling.cluster_autoscaler.events import (
    AutoscalerEvent,
)
from quaymaster._studies.autoscaling.cluster_autoscaler.loop import ClusterAutoscaler
from quaymaster._studies.autoscaling.cluster_autoscaler.options import (
    ClusterAutoscalerOptions,
)
from quaymaster._studies.autoscaling.cluster_autoscaler.unremovable import Unremovable
from quaymaster._studies.autoscaling.scaled_groups import ScaledGroup

__all__ = [
    "AutoscalerEvent",
    "Cloud",
    "ClusterAutoscaler",
    "ClusterAutoscalerOptions",
    "ScaledGroup",
    "Unremovable",
    "with_defaults",
]
