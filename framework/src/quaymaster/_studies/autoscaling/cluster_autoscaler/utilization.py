"""How much of a node its pods request.

Mirrors ``simulator/utilization/info.go``.
"""

from collections.abc import Iterable
from typing import Final

import attrs

from quaymaster._api.objects import Pod
from quaymaster._api.objects.resources import pod_requests
from quaymaster._core.state.node_info import NodeInfo
from quaymaster._studies.autoscaling.cluster_autoscaler.gpus import gpu_resource
from quaymaster._studies.autoscaling.cluster_autoscaler.options import (
    ClusterAutoscalerOptions,
)
from quaymaster._studies.autoscaling.cluster_autoscaler.pod_kinds import (
    is_daemon_pod,
    is_long_terminating,
    is_mirror_pod,
)

__all__ = ["Utilization", "utilization_of"]

_MILLI: Final = 1000


@attrs.frozen
class Utilization:
    """The requested parts of a node's allocatable amounts.

    Attributes:
        cpu: The part of its CPU; 0 for a node with GPUs.
        memory: The part of its memory; 0 for a node with GPUs.
        gpu: The part of its GPUs; None for a node without.
        gpu_resource: The resource of its GPUs; empty for a node without.
    """

    cpu: float
    memory: float
    gpu: float | None = None
    gpu_resource: str = ""

    @property
    def highest(self) -> float:
        """The part that is compared with the threshold: of GPUs, or the larger one."""
        return max(self.cpu, self.memory) if self.gpu is None else self.gpu

    @property
    def resource(self) -> str:
        """The resource of that part."""
        if self.gpu is not None:
            return self.gpu_resource
        return "cpu" if self.cpu > self.memory else "memory"

    def threshold(self, options: ClusterAutoscalerOptions) -> float:
        """Return the highest part of an unneeded node."""
        if self.gpu is not None:
            return options.scale_down_gpu_utilization_threshold
        return options.scale_down_utilization_threshold


def utilization_of(
    info: NodeInfo, options: ClusterAutoscalerOptions, now: float
) -> Utilization | None:
    """Return the utilisation of a node; None if it offers no CPU or memory.

    Only GPUs count if it has some; as upstream, none are requested until it offers
    them.
    """
    allocatable = info.node.status.allocatable
    gpu = gpu_resource(info.node)
    if gpu is not None:
        there = allocatable[gpu].milli_value if gpu in allocatable else 0
        part = _part(info.pods.values(), gpu, there, options, now) if there else 0.0
        return Utilization(0.0, 0.0, part, gpu)
    parts = []
    for name in ("cpu", "memory"):
        amount = allocatable[name].milli_value if name in allocatable else 0
        if not amount:
            return None
        parts.append(_part(info.pods.values(), name, amount, options, now))
    cpu, memory = parts
    return Utilization(cpu, memory)


def _part(
    pods: Iterable[Pod],
    resource: str,
    allocatable: int,
    options: ClusterAutoscalerOptions,
    now: float,
) -> float:
    requested = left_out = 0
    for pod in pods:
        amount = pod_requests(pod).get(resource)
        if resource != "cpu":
            amount *= _MILLI
        if _is_left_out(pod, options):
            left_out += amount
        elif not is_long_terminating(pod, now):
            requested += amount
    return requested / (allocatable - left_out)


def _is_left_out(pod: Pod, options: ClusterAutoscalerOptions) -> bool:
    return (options.ignore_daemonsets_utilization and is_daemon_pod(pod)) or (
        options.ignore_mirror_pods_utilization and is_mirror_pod(pod)
    )
