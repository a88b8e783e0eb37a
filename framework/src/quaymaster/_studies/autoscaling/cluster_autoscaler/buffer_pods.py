"""The virtual pods of CapacityBuffers.

They are pending pods for the autoscaler alone: they hold room on nodes, and groups grow
for them. The scheduler does not see them, so real pods take their room. Mirrors
``processors/capacitybuffer/pod_list_processor.go``.
"""

from collections.abc import Sequence
from typing import Final

from msgspec.structs import replace

from quaymaster._api.objects import Pod, PodTemplateSpec
from quaymaster._clusters.inmemory.controllers.pods import owner_reference
from quaymaster._studies.autoscaling.cluster_autoscaler.buffer_objects import (
    CapacityBuffer,
)
from quaymaster._studies.autoscaling.cluster_autoscaler.pod_template_objects import (
    pod_of,
)

__all__ = ["buffer_pods", "is_buffer_pod"]

_TYPE: Final = "podType"
_OF_BUFFER: Final = "capacityBufferFakePod"
_SAFE: Final = "cluster-autoscaler.kubernetes.io/safe-to-evict"


def buffer_pods(
    buffer: CapacityBuffer, template: PodTemplateSpec, count: int
) -> Sequence[Pod]:
    """Return the virtual pods of a buffer; a removal of their node never waits."""
    pod = pod_of(template, buffer.namespace, "")
    metadata = replace(
        pod.metadata,
        annotations={**pod.annotations, _TYPE: _OF_BUFFER, _SAFE: "true"},
        owner_references=(*pod.metadata.owner_references, owner_reference(buffer)),
    )
    return [
        replace(
            pod,
            metadata=replace(
                metadata,
                name=f"capacity-buffer-{buffer.name}-{number}",
                uid=f"{buffer.uid}-{number}",
            ),
        )
        for number in range(1, count + 1)
    ]


def is_buffer_pod(pod: Pod) -> bool:
    """Return whether a pod is a virtual one of a buffer."""
    return pod.annotations.get(_TYPE) == _OF_BUFFER
