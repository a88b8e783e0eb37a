"""Which nodes have GPUs.

Mirrors ``utils/gpu/gpu.go``. Upstream's provider names one label of nodes with GPUs;
here the labels of all clouds count.
"""

from typing import Final

from quaymaster._api.objects import Node

__all__ = ["gpu_resource", "has_gpu"]

_NVIDIA: Final = "nvidia.com/gpu"
_RESOURCES: Final = (
    _NVIDIA,
    "habana.ai/gaudi",
    "gpu.intel.com/xe",
    "amd.com/gpu",
    "microsoft.com/directx",
)
_LABELS: Final = (
    "cloud.google.com/gke-accelerator",
    "k8s.amazonaws.com/accelerator",
    "kubernetes.azure.com/accelerator",
    "accelerator",
)


def gpu_resource(node: Node) -> str | None:
    """Return the resource of a node's GPUs; None if it has none.

    A node whose label names GPUs that it does not offer yet has those of NVIDIA.
    """
    allocatable = node.status.allocatable
    for name in _RESOURCES:
        if name in allocatable and allocatable[name].value:
            return name
    return _NVIDIA if any(label in node.labels for label in _LABELS) else None


def has_gpu(node: Node) -> bool:
    """Return whether a node has GPUs, as its amounts or its labels show."""
    return gpu_resource(node) is not None
