"""Schedule the pods of a group together, or none of them."""

from quaymaster_coscheduling.args import CoschedulingArgs
from quaymaster_coscheduling.plugin import Coscheduling
from quaymaster_coscheduling.pod_group import (
    POD_GROUP_LABEL,
    PodGroup,
    PodGroupPhase,
    PodGroupSpec,
    PodGroupStatus,
)

__all__ = [
    "POD_GROUP_LABEL",
    "Coscheduling",
    "CoschedulingArgs",
    "PodGroup",
    "PodGroupPhase",
    "PodGroupSpec",
    "PodGroupStatus",
]
