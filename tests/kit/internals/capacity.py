"""What tests see of CapacityBuffers and ProvisioningRequests."""

from quaymaster._studies.autoscaling.cluster_autoscaler.buffer_objects import (
    CapacityBuffer,
)
from quaymaster._studies.autoscaling.cluster_autoscaler.buffer_sizes import (
    BufferSizeError,
    buffer_size,
)
from quaymaster._studies.autoscaling.cluster_autoscaler.pod_template_objects import (
    PodTemplate,
)
from quaymaster._studies.autoscaling.cluster_autoscaler.request_objects import (
    ProvisioningRequest,
)

__all__ = [
    "BufferSizeError",
    "CapacityBuffer",
    "PodTemplate",
    "ProvisioningRequest",
    "buffer_size",
]
