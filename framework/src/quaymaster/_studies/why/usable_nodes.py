"""The nodes that a pod could use if they had room and no taints."""

from collections.abc import Iterable
from typing import Final

from quaymaster._api.objects import Node, Pod
from quaymaster._api.objects.pod_requests import pod_request_list
from quaymaster._api.objects.quantity import Quantity
from quaymaster._api.objects.selectors import required_node_affinity
from quaymaster._studies.why.node_facts import is_control_plane

__all__ = ["usable_nodes"]

_NONE: Final = Quantity(0)


def usable_nodes(pod: Pod, nodes: Iterable[Node]) -> list[Node]:
    """Return the nodes with the labels that a pod requires, and enough of everything.

    Nodes of the control plane, and nodes that are too small even when they are empty,
    are left out.
    """
    affinity = required_node_affinity(pod)
    requests = pod_request_list(pod)
    return [
        node
        for node in nodes
        if not is_control_plane(node)
        and affinity.matches(node)
        and all(_offers(node, name, amount) for name, amount in requests.items())
    ]


def _offers(node: Node, resource: str, amount: Quantity) -> bool:
    offered = node.status.allocatable or node.status.capacity
    return amount.nanos <= offered.get(resource, _NONE).nanos
