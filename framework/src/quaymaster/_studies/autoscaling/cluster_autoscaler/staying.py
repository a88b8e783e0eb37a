"""Why nodes stay, in words."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Final

from quaymaster._api.objects import Node
from quaymaster._base.errors import counted
from quaymaster._studies.autoscaling.cloud import Cloud
from quaymaster._studies.autoscaling.cluster_autoscaler.drainability import (
    BlockingPod,
    BlockingReason,
)
from quaymaster._studies.autoscaling.cluster_autoscaler.options import (
    ClusterAutoscalerOptions,
)
from quaymaster._studies.autoscaling.cluster_autoscaler.scale_down import (
    ScaleDownPlanner,
)
from quaymaster._studies.autoscaling.cluster_autoscaler.unremovable import (
    Unremovable,
    UnremovableReason,
)

__all__ = ["PODS", "reasons_to_stay"]

PODS: Final = {
    BlockingReason.CONTROLLER_NOT_FOUND: "its controller does not exist",
    BlockingReason.MIN_REPLICAS_REACHED: "its controller has too few replicas",
    BlockingReason.NOT_REPLICATED: "no controller would create it again",
    BlockingReason.LOCAL_STORAGE_REQUESTED: "it has local storage",
    BlockingReason.NOT_SAFE_TO_EVICT_ANNOTATION: (
        "the annotation cluster-autoscaler.kubernetes.io/safe-to-evict is false"
    ),
    BlockingReason.UNMOVABLE_KUBE_SYSTEM_POD: (
        "it is in kube-system, without a disruption budget, and younger than an hour"
    ),
    BlockingReason.NOT_ENOUGH_PDB: "a disruption budget allows no eviction",
}
"""Why pods block the removal of their nodes, in words."""
_NODES: Final = {
    UnremovableReason.SCALE_DOWN_DISABLED_ANNOTATION: (
        "the annotation cluster-autoscaler.kubernetes.io/scale-down-disabled is true"
    ),
    UnremovableReason.SCALE_DOWN_UNREADY_DISABLED: "it is not ready",
    UnremovableReason.NOT_UNNEEDED_LONG_ENOUGH: "it has not been unneeded long enough",
    UnremovableReason.NOT_UNREADY_LONG_ENOUGH: "it has not been unready long enough",
    UnremovableReason.NODE_GROUP_MIN_SIZE_REACHED: (
        "its group has its smallest size without the nodes that are being removed"
    ),
    UnremovableReason.MINIMAL_RESOURCE_LIMIT_EXCEEDED: (
        "the cluster would have too few cores or too little memory"
    ),
    UnremovableReason.CURRENTLY_BEING_DELETED: "it is being deleted",
    UnremovableReason.NO_PLACE_TO_MOVE_PODS: "its pods fit on no other nodes",
    UnremovableReason.BLOCKED_BY_ON_COMPLETION_POD: "it waits for the end of a pod",
    UnremovableReason.ATOMIC_SCALE_DOWN_FAILED: (
        "its group goes as a whole, and other nodes of it stay"
    ),
}


def reasons_to_stay(
    nodes: Iterable[Node],
    down: ScaleDownPlanner,
    reasons: Mapping[str, Unremovable],
    cloud: Cloud,
    options: ClusterAutoscalerOptions,
) -> Iterator[tuple[str, str]]:
    """Yield nodes and why they stay.

    Args:
        nodes: The nodes of the cluster.
        down: What the last loop found.
        reasons: The last known reason of each node.
        cloud: The groups.
        options: The options of the autoscaler.
    """
    for node in nodes:
        group = cloud.group_of(node.name)
        if group is None:
            yield node.name, "it is in no group of the autoscaler"
        elif cloud.sizes[group.name] <= group.min_size:
            nodes_of = counted(group.min_size, "node")
            yield node.name, f"{group.name} has its smallest size, {nodes_of}"
        elif group.name in down.resting:
            yield node.name, f"nodes were added to or removed from {group.name} lately"
        elif node.name in reasons:
            yield node.name, _text(node.name, reasons[node.name], down, options)
        elif not options.scale_down_enabled:
            yield node.name, "--scale-down-enabled=false: no node is removed"
        elif node.name in down.unneeded:
            yield node.name, "it is not needed, but nodes were added or removed lately"
        else:
            yield node.name, "the autoscaler has not looked at it"


def _text(
    name: str,
    unremovable: Unremovable,
    down: ScaleDownPlanner,
    options: ClusterAutoscalerOptions,
) -> str:
    if unremovable.blocking is not None:
        return _of_pod(unremovable.blocking)
    utilization = down.utilization.get(name)
    if unremovable.reason is UnremovableReason.NOT_UNDERUTILIZED and utilization:
        return (
            f"pods request {utilization.highest:.0%} of its {utilization.resource}, "
            f"more than {utilization.threshold(options):.0%}"
        )
    return _NODES.get(unremovable.reason, unremovable.reason.value)


def _of_pod(blocking: BlockingPod) -> str:
    return f"pod {blocking.pod.key} blocks: {PODS[blocking.reason]}"
