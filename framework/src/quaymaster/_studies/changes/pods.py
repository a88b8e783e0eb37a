"""Finds the owner of a pod, and whether it creates the pod again."""

from typing import Final

from quaymaster._api.objects import KINDS, Pod
from quaymaster._clusters.inmemory.cluster import InMemoryCluster
from quaymaster._core.contract.cluster import NotFoundError

__all__ = ["is_made_anew", "is_of_daemon_set", "is_of_node", "pods_on"]

_MIRROR: Final = "kubernetes.io/config.mirror"


def pods_on(cluster: InMemoryCluster, node: str) -> list[Pod]:
    """Return the pods that are bound to a node, by their keys."""
    pods = [pod for pod in cluster.list(Pod).items if pod.node_name == node]
    return sorted(pods, key=lambda pod: pod.key)


def is_of_daemon_set(pod: Pod) -> bool:
    """Whether a DaemonSet created a pod; it may be missing in the cluster."""
    controller = pod.metadata.controller
    return controller is not None and controller.kind == "DaemonSet"


def is_of_node(pod: Pod) -> bool:
    """Whether a pod is the mirror of a static pod, which a kubelet runs from a file."""
    controller = pod.metadata.controller
    of_node = controller is not None and controller.kind == "Node"
    return of_node or _MIRROR in pod.annotations


def is_made_anew(pod: Pod, cluster: InMemoryCluster) -> bool:
    """Whether a controller in the cluster creates the pod again after its deletion."""
    controller = pod.metadata.controller
    kind = None if controller is None else KINDS.get(controller.kind)
    if controller is None or kind is None:
        return False
    try:
        owner = cluster.get(kind, f"{pod.namespace}/{controller.name}")
    except NotFoundError:
        return False
    return controller.uid in ("", owner.uid)
